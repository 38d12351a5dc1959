//! Profiles that an experiment names without defining them: presets, and profiles of XML files.

use std::collections::BTreeMap;

use experiment::{
    DestinationOrder, Durability, History, InputFile, Liveliness, Ownership, PlanError, Policy, Presentation,
    Qos, QosDuration, QosProfile, Reliability, Scope, profile_file, qos_profile,
};
use proptest::prelude::*;

use crate::{SMALL, ids, plan, planned_with, rejected, source, support::description};

/// Returns the small file with these values of `profile`.
fn profiles(values: &str) -> String {
    format!("{SMALL}profile = {values}\n")
}

#[test]
fn preset_is_a_profile_without_a_table() {
    let values = r#"["default", "ros2:sensor_data", "ros2:system_default"]"#;
    let plan = plan(&profiles(values), &["factors.size=64"]);
    let names = ["default", "ros2-sensor-data", "ros2-system-default"];
    assert_eq!(ids(&plan), names.map(|name| format!("dds/udp4/latency/64/{name}")));
    let sensor = &plan.cells[1].factors;
    assert_eq!(sensor.profile.as_deref(), Some("ros2:sensor_data"));
    let qos = &sensor.qos;
    assert_eq!(
        (qos.reliability, qos.history, qos.history_depth, qos.durability),
        (Some(Reliability::BestEffort), Some(History::KeepLast), Some(5), Some(Durability::Volatile))
    );
    assert_eq!(sensor.qos_of_ends, None);
    let ends = plan.cells[2].factors.qos_of_ends.as_ref().expect("the defaults differ");
    assert_eq!(ends.writer.reliability, Some(Reliability::Reliable));
    assert_eq!(ends.reader.reliability, Some(Reliability::BestEffort));
    assert_eq!(plan.cells[0].factors.qos.history, Some(History::KeepAll), "`default` is unchanged");
}

#[test]
fn preset_can_be_the_baseline_and_given_by_a_flag() {
    let sets = [
        "factors.size=64",
        "factors.profile=ros2:default,ros2:sensor_data",
        "design.baseline.profile=ros2:default",
    ];
    assert_eq!(plan(SMALL, &sets).design.baseline, ["dds/udp4/latency/64/ros2-default"]);
}

#[test]
fn profile_of_a_file_is_inherited_and_the_rest_is_noted() {
    let plan = plan(&profiles(r#""robot.xml#Robots::Arm""#), &["factors.size=64"]);
    assert_eq!(ids(&plan), ["dds/udp4/latency/64/Arm"]);
    let ends = plan.cells[0].factors.qos_of_ends.as_ref().expect("the endpoints differ");
    let (writer, reader) = (&ends.writer, &ends.reader);
    assert_eq!(
        (writer.reliability, writer.history, writer.history_depth),
        (Some(Reliability::Reliable), Some(History::KeepLast), Some(9))
    );
    assert_eq!(
        (writer.max_samples, writer.max_blocking_ns),
        (Some(100), Some(QosDuration::Ns(2_000_000_005)))
    );
    assert_eq!((reader.history, reader.history_depth), (Some(History::KeepAll), None));
    assert_eq!(reader.reliability, Some(Reliability::Reliable), "inherited");
    assert_eq!(
        plan.notes,
        [
            "profile `robot.xml#Robots::Arm` is from there/robot.xml (SHA-256 hash of robot.xml); not applied: \
          `max_blocking_ns` of readers, datareader_qos/reliability/acknowledgment_kind, datawriter_qos of the topics `cam*`, \
          datawriter_qos/protocol/push_on_write, participant_qos"
        ]
    );
}

#[test]
fn policies_that_a_file_leaves_out_are_the_defaults_of_dds() {
    let values = r#"["robot.xml#Robots::Camera", "robot.xml#Robots::Plain"]"#;
    let plan = plan(&profiles(values), &["factors.size=64"]);
    let [camera, plain] = &plan.cells[..] else { panic!("two cells") };
    let ends = camera.factors.qos_of_ends.as_ref().expect("only the writer has a depth of 7");
    assert_eq!((ends.writer.history_depth, ends.reader.history_depth), (Some(7), Some(1)));
    assert_eq!(ends.writer.reliability, Some(Reliability::BestEffort));
    let ends = plain.factors.qos_of_ends.as_ref().expect("the defaults of DDS");
    assert_eq!(
        (ends.writer.reliability, ends.reader.reliability, ends.reader.history),
        (Some(Reliability::Reliable), Some(Reliability::BestEffort), Some(History::KeepLast))
    );
}

#[test]
fn all_policies_of_the_standard_are_read() {
    let drivers = BTreeMap::from([("dds".to_owned(), description("dds", &[], Policy::ALL))]);
    let text = source(&profiles(r#""robot.xml#Robots::Everything""#), &["factors.size=64"]);
    let plan = planned_with(&text, &drivers).unwrap_or_else(|error| panic!("{error:#?}"));
    let ends = plan.cells[0].factors.qos_of_ends.clone().expect("the endpoints differ");
    let ns = |ns| Some(QosDuration::Ns(ns));
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let presentation = Presentation { scope: Scope::Topic, coherent_access: false, ordered_access: true };
    let writer = Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: ns(1_000_000_000),
        history: Some(History::KeepAll),
        max_samples: Some(-1),
        max_instances: Some(3),
        durability: Some(Durability::TransientLocal),
        service_cleanup_ns: ns(1_000_000_000),
        service_history: Some(History::KeepLast),
        service_history_depth: Some(4),
        service_max_samples: Some(8),
        service_max_instances: Some(2),
        service_max_samples_per_instance: Some(4),
        deadline_ns: ns(100_000_000),
        latency_budget_ns: ns(1_000),
        lifespan_ns: Some(QosDuration::INFINITE),
        liveliness: Some(Liveliness::ManualByTopic),
        liveliness_lease_ns: ns(3_000_000_000),
        ownership: Some(Ownership::Exclusive),
        ownership_strength: Some(11),
        partitions: names(&["left", "right*"]),
        presentation: Some(presentation),
        destination_order: Some(DestinationOrder::BySourceTimestamp),
        transport_priority: Some(-5),
        autodispose_unregistered: Some(false),
        ..Qos::default()
    };
    assert_eq!(ends.writer, writer);
    let reader = &ends.reader;
    assert_eq!(reader.minimum_separation_ns, ns(1_000_000));
    let purges = (reader.autopurge_nowriter_ns, reader.autopurge_disposed_ns);
    assert_eq!(purges, (ns(5_000_000_000), ns(6_000_000_000)));
    assert_eq!(reader.partitions, names(&["left", "middle"]));
    assert!(!plan.notes[0].contains("not applied"), "{:?}", plan.notes);
}

#[test]
fn invalid_profile_is_rejected_with_its_place() {
    let of_file = |profile: &str| format!("robot.xml#{profile}");
    for (profile, error, hint) in [
        ("ros2:sensors".to_owned(), "profile `ros2:sensors` not found", "available: ros2:sensor_data, "),
        ("none.xml#A::B".to_owned(), "QoS file `none.xml`: the file was not read", "name a file that exists"),
        ("not.xml#L::P".to_owned(), "QoS file `not.xml`: 3:1: ", "write well-formed XML"),
        (
            of_file("Robots"),
            "QoS file `robot.xml`: `Robots` is not a name of a library and a profile",
            "`FILE#",
        ),
        (
            of_file("Robots::Leg"),
            "QoS file `robot.xml`: profile `Robots::Leg` not found",
            "available: Robots::Arm, ",
        ),
        (
            of_file("Wrong::Word"),
            "QoS file `robot.xml`: 80:22: `RELIABLE` is not a value of `kind`",
            "available: BEST_EFFORT_RELIABILITY_QOS, RELIABLE_RELIABILITY_QOS",
        ),
        (
            of_file("Wrong::Number"),
            "QoS file `robot.xml`: 83:57: `many` of `depth` is not a whole number",
            "`LENGTH_UNLIMITED`",
        ),
        (
            of_file("Wrong::Duration"),
            "QoS file `robot.xml`: 84:68: `1.5` of `period` is not a duration",
            "`<sec>`",
        ),
        (of_file("Wrong::Circle"), "QoS file `robot.xml`: 85:5: its base is itself", "remove a `base_name`"),
        (
            of_file("Wrong::Builtin"),
            "QoS file `robot.xml`: 87:5: built-in profile `BuiltinQosLibExp::Generic.StrictRelible` is unknown",
            "did you mean `BuiltinQosLib::Generic.StrictReliable`? copy its policies",
        ),
        (of_file("Wrong::Range"), "`history_depth = 0` is out of range", "use 1 or more"),
    ] {
        let found = rejected(&profiles(&format!("{profile:?}")), &[]);
        assert!(found.0.starts_with(&format!("f.toml:7:11: {error}")), "{profile}: {}", found.0);
        assert_eq!(found.1, format!("{profile:?}"), "the name is marked");
        assert!(found.2.contains(hint), "{profile}: {}", found.2);
    }
}

#[test]
fn policy_of_a_file_that_the_driver_lacks_is_rejected_at_the_profile() {
    let (error, marked, _) = rejected(&profiles(r#""robot.xml#Robots::Everything""#), &[]);
    assert!(error.contains("does not support policy durability_service"), "{error}");
    assert_eq!(marked, r#""robot.xml#Robots::Everything""#);
}

#[test]
fn files_are_those_of_profiles_that_the_experiment_does_not_define() {
    let values = r##"["a.xml#L::P", "b#c.xml#L::P", "own#x"]"##;
    let text = profiles(values) + "[profiles.\"own#x\"]\n";
    let file = source(&text, &[]).read().expect("an experiment");
    let names: Vec<String> = file.qos_files().map(|file| file.get().clone()).collect();
    assert_eq!(names, ["a.xml", "b#c.xml"]);
    assert_eq!(profile_file("default"), None);
}

fn read(text: &str, profile: &str) -> Result<Option<QosProfile>, PlanError> {
    let mut file = InputFile::new("f.xml".to_owned(), text.to_owned(), String::new());
    file.variables = BTreeMap::from([("V".to_owned(), "<BuiltinQosLib::Pattern.Status&".to_owned())]);
    let files = BTreeMap::from([("f.xml".to_owned(), file)]);
    qos_profile(&format!("f.xml#{profile}"), &files, &(0..0))
}

#[test]
fn many_bases_end_with_an_error() {
    let base = |n: u32| format!("<element>P{}</element>", n + 1).repeat(2);
    let profile =
        |n: u32| format!("<qos_profile name='P{n}'><base_name>{}</base_name></qos_profile>", base(n));
    let all: String = (0..30).map(profile).collect();
    let text = format!("<dds><qos_library name='L'>{all}<qos_profile name='P30'/></qos_library></dds>");
    let error = read(&text, "L::P0").expect_err("2^30 bases").to_string();
    assert!(error.contains("more than 1000 bases"), "{error}");
}

/// Pieces of XML that are near to a profile.
const NEAR: &str = "(</?(dds|qos_profile name='P' base_name='(P|BuiltinQosLib::Pattern.Event|\\$\\(V\\))'|datawriter_qos|history|depth|kind|sec)/?>|1|\\$\\(V\\)|x){0,14}";

proptest! {
    #[test]
    fn any_text_is_read_or_rejected(text in "\\PC{0,80}", near in NEAR) {
        let wrapped = format!("<dds><qos_library name='L'><qos_profile name='P'>{near}</qos_profile></qos_library></dds>");
        for text in [text, near, wrapped] {
            if let Err(error) = read(&text, "L::P") {
                prop_assert!(!error.hint().is_empty() && error.to_string().starts_with("QoS file `f.xml`: "));
            }
        }
    }

    #[test]
    fn values_of_a_file_are_those_of_the_profile(
        depth in 1..i32::MAX,
        sec in 0..1_000_000_u32,
        nanosec in 0..1_000_000_000_u32,
    ) {
        let text = format!(
            "<dds><qos_library name='L'><qos_profile name='P'><datareader_qos><history><depth>{depth}</depth></history>\
             <deadline><period><sec>{sec}</sec><nanosec>{nanosec}</nanosec></period></deadline></datareader_qos>\
             </qos_profile></qos_library></dds>"
        );
        let policies = read(&text, "L::P").expect("a profile").expect("a file").policies;
        let reader = serde_json::to_value(&policies).expect("policies are JSON")["reader"].clone();
        prop_assert_eq!(&reader["history_depth"], depth);
        let deadline = humantime::parse_duration(reader["deadline"].as_str().expect("a duration"));
        let ns = u128::from(sec) * 1_000_000_000 + u128::from(nanosec);
        prop_assert_eq!(deadline.expect("a duration").as_nanos(), ns);
    }
}
