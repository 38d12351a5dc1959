//! Conversion of policies from and to the driver ABI.

use driver_abi::{
    self as abi, UNLIMITED,
    policies::{
        DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
        Reliability, Scope, empty,
    },
};

fn everything() -> Qos {
    Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(QosDuration::Ns(7)),
        history: Some(History::KeepLast),
        history_depth: Some(5),
        max_samples: Some(10),
        max_instances: Some(UNLIMITED),
        max_samples_per_instance: Some(3),
        durability: Some(Durability::TransientLocal),
        deadline_ns: Some(QosDuration::INFINITE),
        latency_budget_ns: Some(QosDuration::Ns(11)),
        lifespan_ns: Some(QosDuration::Ns(12)),
        liveliness: Some(Liveliness::ManualByTopic),
        liveliness_lease_ns: Some(QosDuration::Ns(13)),
        ownership: Some(Ownership::Exclusive),
        ownership_strength: Some(-9),
        partitions: Some(vec!["a".into(), String::new(), "b*".into()]),
        presentation: Some(Presentation {
            scope: Scope::Topic,
            coherent_access: false,
            ordered_access: true,
        }),
        destination_order: Some(DestinationOrder::BySourceTimestamp),
        minimum_separation_ns: Some(QosDuration::Ns(14)),
        transport_priority: Some(-2),
        autodispose_unregistered: Some(false),
        autopurge_nowriter_ns: Some(QosDuration::Ns(15)),
        autopurge_disposed_ns: Some(QosDuration::Ns(16)),
        service_cleanup_ns: Some(QosDuration::Ns(17)),
        service_history: Some(History::KeepAll),
        service_history_depth: Some(18),
        service_max_samples: Some(19),
        service_max_instances: Some(20),
        service_max_samples_per_instance: Some(-1),
        user_data: Some("é".into()),
        topic_data: Some("topic".into()),
        group_data: Some(String::new()),
        autoenable_created: Some(true),
    }
}

fn there_and_back(qos: &Qos, change: impl FnOnce(&mut abi::Qos)) -> (Qos, Option<String>) {
    let report = qos.to_raw();
    let mut raw = *report.get();
    change(&mut raw);
    // SAFETY: `report` is alive, and no change lengthens an array.
    unsafe { Qos::from_raw(&raw) }
}

#[test]
fn policies_survive_conversion_in_both_directions() {
    for qos in [everything(), Qos::default()] {
        assert_eq!(there_and_back(&qos, |_| {}), (qos, None));
    }
    assert_eq!(Qos::default().to_raw().get().present, 0);
    assert!(Policy::ALL.iter().all(|policy| everything().has(*policy)));
    assert_eq!(empty().struct_size as usize, size_of::<abi::Qos>());
}

#[test]
fn fields_of_a_present_policy_have_standard_defaults() {
    let requested = Qos { history: Some(History::KeepLast), max_instances: Some(3), ..Qos::default() };
    let raw = requested.to_raw();
    let raw = raw.get();
    assert_eq!(raw.present, 1 << abi::POLICY_HISTORY | 1 << abi::POLICY_RESOURCE_LIMITS);
    assert_eq!((raw.history_depth, raw.max_samples, raw.max_instances), (1, UNLIMITED, 3));
    let raw = Qos { history_depth: Some(4), ..Qos::default() }.to_raw();
    assert_eq!((raw.get().history, raw.get().history_depth), (abi::KEEP_LAST, 4));
}

#[test]
fn values_that_the_contract_does_not_define_are_absent_and_named() {
    type Change = fn(&mut abi::Qos);
    let cases: [(Change, Qos, &str); 4] = [
        (|raw| raw.history = -1, Qos { history: None, ..everything() }, "invalid value -1 of `history`"),
        (
            |raw| raw.coherent_access = 7,
            Qos { presentation: None, ..everything() },
            "invalid value (1, 7, 1) of `presentation`",
        ),
        (
            |raw| raw.partitions = std::ptr::null(),
            Qos { partitions: None, ..everything() },
            "invalid value (0x0, 3) of `partitions`",
        ),
        (
            |raw| (raw.autoenable_created, raw.reliability) = (2, 2),
            Qos { autoenable_created: None, reliability: None, ..everything() },
            "invalid value 2 of `reliability`",
        ),
    ];
    for (change, qos, text) in cases {
        assert_eq!(there_and_back(&everything(), change), (qos, Some(text.to_owned())));
    }
}

#[test]
fn numbers_are_those_of_the_contract() {
    assert_eq!(Scope::from_number(abi::SCOPE_GROUP), Some(Scope::Group));
    assert_eq!(
        (Liveliness::ManualByTopic.number(), Liveliness::from_number(9)),
        (abi::LIVELINESS_BY_TOPIC, None)
    );
    assert_eq!(everything().keep_last(), Some(5));
    assert_eq!(Qos { history_depth: None, ..everything() }.keep_last(), Some(1));
    assert_eq!(Qos { history: Some(History::KeepAll), ..everything() }.keep_last(), None);
}
