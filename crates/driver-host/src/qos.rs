//! Conversion between the QoS of an experiment and the struct of the driver ABI.

use std::ffi::{CString, c_char};

use driver_abi as abi;
use experiment::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Presentation, Qos, QosDuration,
    Reliability, Scope,
};

use crate::describe::{slice, text_of};

/// QoS struct of the driver ABI, with the storage that it points to.
pub struct RawQos {
    pub raw: abi::Qos,
    _names: Vec<CString>,
    _pointers: Vec<*const c_char>,
    _data: [Option<Vec<u8>>; 3],
}

/// Returns a struct without any policy.
pub fn empty() -> abi::Qos {
    // SAFETY: all fields are integers or pointers, for which zero is valid.
    let mut raw: abi::Qos = unsafe { std::mem::zeroed() };
    raw.struct_size = size_of::<abi::Qos>() as u32;
    raw
}

const RELIABILITIES: [(i32, Reliability); 2] =
    [(abi::BEST_EFFORT, Reliability::BestEffort), (abi::RELIABLE, Reliability::Reliable)];
const HISTORIES: [(i32, History); 2] =
    [(abi::KEEP_LAST, History::KeepLast), (abi::KEEP_ALL, History::KeepAll)];
const DURABILITIES: [(i32, Durability); 4] = [
    (abi::VOLATILE, Durability::Volatile),
    (abi::TRANSIENT_LOCAL, Durability::TransientLocal),
    (abi::TRANSIENT, Durability::Transient),
    (abi::PERSISTENT, Durability::Persistent),
];
const LIVELINESSES: [(i32, Liveliness); 3] = [
    (abi::LIVELINESS_AUTOMATIC, Liveliness::Automatic),
    (abi::LIVELINESS_BY_PARTICIPANT, Liveliness::ManualByParticipant),
    (abi::LIVELINESS_BY_TOPIC, Liveliness::ManualByTopic),
];
const OWNERSHIPS: [(i32, Ownership); 2] =
    [(abi::OWNERSHIP_SHARED, Ownership::Shared), (abi::OWNERSHIP_EXCLUSIVE, Ownership::Exclusive)];
const ORDERS: [(i32, DestinationOrder); 2] = [
    (abi::ORDER_BY_RECEPTION, DestinationOrder::ByReceptionTimestamp),
    (abi::ORDER_BY_SOURCE, DestinationOrder::BySourceTimestamp),
];
const SCOPES: [(i32, Scope); 3] = [
    (abi::SCOPE_INSTANCE, Scope::Instance),
    (abi::SCOPE_TOPIC, Scope::Topic),
    (abi::SCOPE_GROUP, Scope::Group),
];

fn number<T: PartialEq + Copy>(table: &[(i32, T)], word: T) -> i32 {
    table.iter().find(|(_, known)| *known == word).map_or(0, |(number, _)| *number)
}

fn word<T: Copy>(table: &[(i32, T)], number: i32) -> Option<T> {
    table.iter().find(|(known, _)| *known == number).map(|(_, word)| *word)
}

/// Converts to the driver ABI. Absent policies are not present in the struct. If only some fields of a policy are
/// given, the others have the defaults of DDS 1.4.
pub fn to_raw(qos: &Qos) -> RawQos {
    let mut raw = empty();
    let mut present = 0_u64;
    let mut policy = |number: u32| present |= 1 << number;
    if qos.reliability.is_some() || qos.max_blocking_ns.is_some() {
        policy(abi::POLICY_RELIABILITY);
        raw.reliability = qos.reliability.map_or(abi::BEST_EFFORT, |kind| number(&RELIABILITIES, kind));
        raw.max_blocking_ns = qos.max_blocking_ns.map_or(100_000_000, QosDuration::raw);
    }
    if qos.history.is_some() || qos.history_depth.is_some() {
        policy(abi::POLICY_HISTORY);
        raw.history = qos.history.map_or(abi::KEEP_LAST, |kind| number(&HISTORIES, kind));
        raw.history_depth = qos.history_depth.unwrap_or(1);
    }
    if qos.max_samples.is_some() || qos.max_instances.is_some() || qos.max_samples_per_instance.is_some() {
        policy(abi::POLICY_RESOURCE_LIMITS);
        raw.max_samples = qos.max_samples.unwrap_or(abi::UNLIMITED);
        raw.max_instances = qos.max_instances.unwrap_or(abi::UNLIMITED);
        raw.max_samples_per_instance = qos.max_samples_per_instance.unwrap_or(abi::UNLIMITED);
    }
    if let Some(kind) = qos.durability {
        policy(abi::POLICY_DURABILITY);
        raw.durability = number(&DURABILITIES, kind);
    }
    durability_service(qos, &mut raw, &mut policy);
    if let Some(period) = qos.deadline_ns {
        policy(abi::POLICY_DEADLINE);
        raw.deadline_ns = period.raw();
    }
    if let Some(budget) = qos.latency_budget_ns {
        policy(abi::POLICY_LATENCY_BUDGET);
        raw.latency_budget_ns = budget.raw();
    }
    if let Some(span) = qos.lifespan_ns {
        policy(abi::POLICY_LIFESPAN);
        raw.lifespan_ns = span.raw();
    }
    if qos.liveliness.is_some() || qos.liveliness_lease_ns.is_some() {
        policy(abi::POLICY_LIVELINESS);
        raw.liveliness = qos.liveliness.map_or(abi::LIVELINESS_AUTOMATIC, |kind| number(&LIVELINESSES, kind));
        raw.liveliness_lease_ns = qos.liveliness_lease_ns.map_or(abi::DURATION_INFINITE, QosDuration::raw);
    }
    if let Some(kind) = qos.ownership {
        policy(abi::POLICY_OWNERSHIP);
        raw.ownership = number(&OWNERSHIPS, kind);
    }
    if let Some(strength) = qos.ownership_strength {
        policy(abi::POLICY_OWNERSHIP_STRENGTH);
        raw.ownership_strength = strength;
    }
    if let Some(presentation) = qos.presentation {
        policy(abi::POLICY_PRESENTATION);
        raw.presentation_scope = number(&SCOPES, presentation.scope);
        raw.coherent_access = presentation.coherent_access.into();
        raw.ordered_access = presentation.ordered_access.into();
    }
    if let Some(kind) = qos.destination_order {
        policy(abi::POLICY_DESTINATION_ORDER);
        raw.destination_order = number(&ORDERS, kind);
    }
    if let Some(separation) = qos.minimum_separation_ns {
        policy(abi::POLICY_TIME_BASED_FILTER);
        raw.minimum_separation_ns = separation.raw();
    }
    if let Some(priority) = qos.transport_priority {
        policy(abi::POLICY_TRANSPORT_PRIORITY);
        raw.transport_priority = priority;
    }
    if let Some(autodispose) = qos.autodispose_unregistered {
        policy(abi::POLICY_WRITER_DATA_LIFECYCLE);
        raw.autodispose_unregistered = autodispose.into();
    }
    if qos.autopurge_nowriter_ns.is_some() || qos.autopurge_disposed_ns.is_some() {
        policy(abi::POLICY_READER_DATA_LIFECYCLE);
        raw.autopurge_nowriter_ns =
            qos.autopurge_nowriter_ns.map_or(abi::DURATION_INFINITE, QosDuration::raw);
        raw.autopurge_disposed_ns =
            qos.autopurge_disposed_ns.map_or(abi::DURATION_INFINITE, QosDuration::raw);
    }
    if let Some(enables) = qos.autoenable_created {
        policy(abi::POLICY_ENTITY_FACTORY);
        raw.autoenable_created = enables.into();
    }
    let data =
        [&qos.user_data, &qos.topic_data, &qos.group_data].map(|data| data.clone().map(String::into_bytes));
    if let Some(bytes) = &data[0] {
        policy(abi::POLICY_USER_DATA);
        (raw.user_data, raw.user_data_size) = (bytes.as_ptr(), bytes.len() as u32);
    }
    if let Some(bytes) = &data[1] {
        policy(abi::POLICY_TOPIC_DATA);
        (raw.topic_data, raw.topic_data_size) = (bytes.as_ptr(), bytes.len() as u32);
    }
    if let Some(bytes) = &data[2] {
        policy(abi::POLICY_GROUP_DATA);
        (raw.group_data, raw.group_data_size) = (bytes.as_ptr(), bytes.len() as u32);
    }
    let names: Vec<CString> = qos
        .partitions
        .iter()
        .flatten()
        .map(|name| CString::new(name.replace('\0', "")).expect("no NUL is left"))
        .collect();
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    if qos.partitions.is_some() {
        policy(abi::POLICY_PARTITION);
        raw.partitions = pointers.as_ptr();
        raw.partition_count = pointers.len() as u32;
    }
    raw.present = present;
    RawQos { raw, _names: names, _pointers: pointers, _data: data }
}

/// Converts DURABILITY_SERVICE.
fn durability_service(qos: &Qos, raw: &mut abi::Qos, policy: &mut impl FnMut(u32)) {
    let limits = [qos.service_max_samples, qos.service_max_instances, qos.service_max_samples_per_instance];
    let is_asked = qos.service_cleanup_ns.is_some()
        || qos.service_history.is_some()
        || qos.service_history_depth.is_some()
        || limits.iter().any(Option::is_some);
    if is_asked {
        policy(abi::POLICY_DURABILITY_SERVICE);
        raw.service_cleanup_ns = qos.service_cleanup_ns.map_or(0, QosDuration::raw);
        raw.service_history = qos.service_history.map_or(abi::KEEP_LAST, |kind| number(&HISTORIES, kind));
        raw.service_history_depth = qos.service_history_depth.unwrap_or(1);
        [raw.service_max_samples, raw.service_max_instances, raw.service_max_samples_per_instance] =
            limits.map(|limit| limit.unwrap_or(abi::UNLIMITED));
    }
}

/// Converts from the driver ABI. `writes` is true for a writer: only a writer has `max_blocking_ns`.
///
/// # Safety
/// `raw` was filled by a driver, and its entity is still open.
pub unsafe fn from_raw(raw: &abi::Qos, writes: bool) -> Qos {
    let mut qos = Qos::default();
    let present = |policy: u32| raw.present & (1 << policy) != 0;
    let duration = |ns: u64| Some(QosDuration::from_raw(ns));
    if present(abi::POLICY_RELIABILITY) {
        qos.reliability = word(&RELIABILITIES, raw.reliability);
        if writes && qos.reliability == Some(Reliability::Reliable) {
            qos.max_blocking_ns = duration(raw.max_blocking_ns);
        }
    }
    if present(abi::POLICY_HISTORY) {
        qos.history = word(&HISTORIES, raw.history);
        if qos.history == Some(History::KeepLast) {
            qos.history_depth = Some(raw.history_depth);
        }
    }
    if present(abi::POLICY_RESOURCE_LIMITS) {
        qos.max_samples = Some(raw.max_samples);
        qos.max_instances = Some(raw.max_instances);
        qos.max_samples_per_instance = Some(raw.max_samples_per_instance);
    }
    if present(abi::POLICY_DURABILITY) {
        qos.durability = word(&DURABILITIES, raw.durability);
    }
    if present(abi::POLICY_DURABILITY_SERVICE) {
        qos.service_cleanup_ns = duration(raw.service_cleanup_ns);
        qos.service_history = word(&HISTORIES, raw.service_history);
        if qos.service_history == Some(History::KeepLast) {
            qos.service_history_depth = Some(raw.service_history_depth);
        }
        qos.service_max_samples = Some(raw.service_max_samples);
        qos.service_max_instances = Some(raw.service_max_instances);
        qos.service_max_samples_per_instance = Some(raw.service_max_samples_per_instance);
    }
    if present(abi::POLICY_DEADLINE) {
        qos.deadline_ns = duration(raw.deadline_ns);
    }
    if present(abi::POLICY_LATENCY_BUDGET) {
        qos.latency_budget_ns = duration(raw.latency_budget_ns);
    }
    if present(abi::POLICY_LIFESPAN) {
        qos.lifespan_ns = duration(raw.lifespan_ns);
    }
    if present(abi::POLICY_LIVELINESS) {
        qos.liveliness = word(&LIVELINESSES, raw.liveliness);
        qos.liveliness_lease_ns = duration(raw.liveliness_lease_ns);
    }
    if present(abi::POLICY_OWNERSHIP) {
        qos.ownership = word(&OWNERSHIPS, raw.ownership);
    }
    if present(abi::POLICY_OWNERSHIP_STRENGTH) {
        qos.ownership_strength = Some(raw.ownership_strength);
    }
    if present(abi::POLICY_PARTITION) {
        // SAFETY: the caller guarantees the fields that the driver filled in.
        let names = unsafe { slice(raw.partitions, raw.partition_count) };
        // SAFETY: as above.
        qos.partitions = Some(names.iter().filter_map(|&name| unsafe { text_of(name) }).collect());
    }
    if present(abi::POLICY_PRESENTATION) {
        qos.presentation = word(&SCOPES, raw.presentation_scope).map(|scope| Presentation {
            scope,
            coherent_access: raw.coherent_access != 0,
            ordered_access: raw.ordered_access != 0,
        });
    }
    if present(abi::POLICY_DESTINATION_ORDER) {
        qos.destination_order = word(&ORDERS, raw.destination_order);
    }
    if present(abi::POLICY_TIME_BASED_FILTER) {
        qos.minimum_separation_ns = duration(raw.minimum_separation_ns);
    }
    if present(abi::POLICY_TRANSPORT_PRIORITY) {
        qos.transport_priority = Some(raw.transport_priority);
    }
    if present(abi::POLICY_WRITER_DATA_LIFECYCLE) {
        qos.autodispose_unregistered = Some(raw.autodispose_unregistered != 0);
    }
    if present(abi::POLICY_READER_DATA_LIFECYCLE) {
        qos.autopurge_nowriter_ns = duration(raw.autopurge_nowriter_ns);
        qos.autopurge_disposed_ns = duration(raw.autopurge_disposed_ns);
    }
    let text = |data: *const u8, size: u32| {
        // SAFETY: the caller guarantees the fields that the driver filled in.
        Some(String::from_utf8_lossy(unsafe { slice(data, size) }).into_owned())
    };
    if present(abi::POLICY_USER_DATA) {
        qos.user_data = text(raw.user_data, raw.user_data_size);
    }
    if present(abi::POLICY_TOPIC_DATA) {
        qos.topic_data = text(raw.topic_data, raw.topic_data_size);
    }
    if present(abi::POLICY_GROUP_DATA) {
        qos.group_data = text(raw.group_data, raw.group_data_size);
    }
    if present(abi::POLICY_ENTITY_FACTORY) {
        qos.autoenable_created = Some(raw.autoenable_created != 0);
    }
    qos
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> Qos {
        Qos {
            reliability: Some(Reliability::Reliable),
            max_blocking_ns: Some(QosDuration::Ns(7)),
            history: Some(History::KeepLast),
            history_depth: Some(5),
            max_samples: Some(10),
            max_instances: Some(-1),
            max_samples_per_instance: Some(3),
            durability: Some(Durability::TransientLocal),
            deadline_ns: Some(QosDuration::from_raw(u64::MAX)),
            latency_budget_ns: Some(QosDuration::Ns(11)),
            lifespan_ns: Some(QosDuration::Ns(12)),
            liveliness: Some(Liveliness::ManualByTopic),
            liveliness_lease_ns: Some(QosDuration::Ns(13)),
            ownership: Some(Ownership::Exclusive),
            ownership_strength: Some(9),
            partitions: Some(vec!["a".into(), "b*".into()]),
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
            service_history: Some(History::KeepLast),
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

    #[test]
    fn every_policy_survives_the_way_there_and_back() {
        let raw = to_raw(&everything());
        // SAFETY: the storage of `raw` lives until the end of the test.
        assert_eq!(unsafe { from_raw(&raw.raw, true) }, everything());
    }

    #[test]
    fn a_reader_has_no_limit_to_how_long_a_write_may_block() {
        let raw = to_raw(&everything());
        // SAFETY: as above.
        let found = unsafe { from_raw(&raw.raw, false) };
        assert_eq!(found, Qos { max_blocking_ns: None, ..everything() });
    }

    #[test]
    fn what_is_not_asked_for_is_not_present() {
        assert_eq!(to_raw(&Qos::default()).raw.present, 0);
    }
}
