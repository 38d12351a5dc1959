//! Conversion between the QoS of an experiment and the struct of the driver ABI.

use std::ffi::{CString, c_char};

use driver_abi as abi;
use experiment::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
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

/// Value of a policy that is one field of the driver ABI.
trait AbiValue: Sized {
    type Raw;

    fn to_raw(self) -> Self::Raw;

    /// Returns `None` for a value that the contract does not define.
    fn from_raw(raw: Self::Raw) -> Option<Self>;
}

impl AbiValue for i32 {
    type Raw = Self;

    fn to_raw(self) -> Self {
        self
    }

    fn from_raw(raw: Self) -> Option<Self> {
        Some(raw)
    }
}

impl AbiValue for bool {
    type Raw = u32;

    fn to_raw(self) -> u32 {
        self.into()
    }

    fn from_raw(raw: u32) -> Option<Self> {
        Some(raw != 0)
    }
}

impl AbiValue for QosDuration {
    type Raw = u64;

    fn to_raw(self) -> u64 {
        self.raw()
    }

    fn from_raw(raw: u64) -> Option<Self> {
        Some(Self::from_raw(raw))
    }
}

macro_rules! kinds {
    ($($kind:ty = $table:ident),* $(,)?) => {
        $(impl AbiValue for $kind {
            type Raw = i32;

            fn to_raw(self) -> i32 {
                $table.iter().find(|(_, known)| *known == self).map_or(0, |(number, _)| *number)
            }

            fn from_raw(raw: i32) -> Option<Self> {
                $table.iter().find(|(known, _)| *known == raw).map(|(_, kind)| *kind)
            }
        })*
    };
}

kinds! {
    Reliability = RELIABILITIES,
    History = HISTORIES,
    Durability = DURABILITIES,
    Liveliness = LIVELINESSES,
    Ownership = OWNERSHIPS,
    DestinationOrder = ORDERS,
    Scope = SCOPES,
}

/// Returns the bit of a policy in the field `present`. The order of policies is that of the contract.
const fn bit(policy: Policy) -> u64 {
    1 << (policy as u32)
}

macro_rules! fields {
    ($(
        $(#[$doc:meta])* $file_doc:literal $key:ident: $in_file:ty => $field:ident: $type:ty,
        policy $policy:ident, ends $ends:ident, default $scope:ident($default:expr)
        $(, abi $abi:ident)? $(, range $range:ident)? $(, agree $agree:path)?;
    )*) => {
        /// Sets `present` and the fields of present policies, except lists, texts and PRESENTATION. A field that is not
        /// requested has the default of DDS 1.4 if its policy is present.
        fn set_fields(qos: &Qos, raw: &mut abi::Qos) {
            $(if qos.$field.is_some() {
                raw.present |= bit(Policy::$policy);
            })*
            $($(if raw.present & bit(Policy::$policy) != 0 {
                let value: $type = qos.$field.unwrap_or($default);
                raw.$abi = value.to_raw();
            })?)*
        }

        /// Reads the fields of present policies, except lists, texts and PRESENTATION.
        fn read_fields(raw: &abi::Qos) -> Qos {
            let mut qos = Qos::default();
            $($(if raw.present & bit(Policy::$policy) != 0 {
                qos.$field = <$type as AbiValue>::from_raw(raw.$abi);
            })?)*
            qos
        }
    };
}

experiment::policy_table!(fields);

/// Converts to the driver ABI. Absent policies are not present in the struct. If only some fields of a policy are
/// given, the others have the defaults of DDS 1.4.
pub fn to_raw(qos: &Qos) -> RawQos {
    let mut raw = empty();
    set_fields(qos, &mut raw);
    if let Some(presentation) = qos.presentation {
        raw.presentation_scope = presentation.scope.to_raw();
        raw.coherent_access = presentation.coherent_access.into();
        raw.ordered_access = presentation.ordered_access.into();
    }
    let data =
        [&qos.user_data, &qos.topic_data, &qos.group_data].map(|data| data.clone().map(String::into_bytes));
    if let Some(bytes) = &data[0] {
        (raw.user_data, raw.user_data_size) = (bytes.as_ptr(), bytes.len() as u32);
    }
    if let Some(bytes) = &data[1] {
        (raw.topic_data, raw.topic_data_size) = (bytes.as_ptr(), bytes.len() as u32);
    }
    if let Some(bytes) = &data[2] {
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
        raw.partitions = pointers.as_ptr();
        raw.partition_count = pointers.len() as u32;
    }
    RawQos { raw, _names: names, _pointers: pointers, _data: data }
}

/// Converts from the driver ABI. `writes` is true for a writer: only a writer has `max_blocking_ns`.
///
/// # Safety
/// `raw` was filled by a driver, and its entity is still open.
pub unsafe fn from_raw(raw: &abi::Qos, writes: bool) -> Qos {
    let mut qos = read_fields(raw);
    let present = |policy| raw.present & bit(policy) != 0;
    // Fields without effect.
    if !writes || qos.reliability != Some(Reliability::Reliable) {
        qos.max_blocking_ns = None;
    }
    if qos.history != Some(History::KeepLast) {
        qos.history_depth = None;
    }
    if qos.service_history != Some(History::KeepLast) {
        qos.service_history_depth = None;
    }
    if present(Policy::Partition) {
        // SAFETY: the caller guarantees the fields that the driver filled in.
        let names = unsafe { slice(raw.partitions, raw.partition_count) };
        // SAFETY: as above.
        qos.partitions = Some(names.iter().filter_map(|&name| unsafe { text_of(name) }).collect());
    }
    if present(Policy::Presentation) {
        qos.presentation = Scope::from_raw(raw.presentation_scope).map(|scope| Presentation {
            scope,
            coherent_access: raw.coherent_access != 0,
            ordered_access: raw.ordered_access != 0,
        });
    }
    let text = |data: *const u8, size: u32| {
        // SAFETY: the caller guarantees the fields that the driver filled in.
        Some(String::from_utf8_lossy(unsafe { slice(data, size) }).into_owned())
    };
    if present(Policy::UserData) {
        qos.user_data = text(raw.user_data, raw.user_data_size);
    }
    if present(Policy::TopicData) {
        qos.topic_data = text(raw.topic_data, raw.topic_data_size);
    }
    if present(Policy::GroupData) {
        qos.group_data = text(raw.group_data, raw.group_data_size);
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
    fn policies_survive_conversion_in_both_directions() {
        let raw = to_raw(&everything());
        // SAFETY: the storage of `raw` lives until the end of the test.
        assert_eq!(unsafe { from_raw(&raw.raw, true) }, everything());
    }

    #[test]
    fn reader_qos_has_no_maximum_blocking_time() {
        let raw = to_raw(&everything());
        // SAFETY: as above.
        let found = unsafe { from_raw(&raw.raw, false) };
        assert_eq!(found, Qos { max_blocking_ns: None, ..everything() });
    }

    #[test]
    fn unset_policies_are_not_present() {
        assert_eq!(to_raw(&Qos::default()).raw.present, 0);
    }

    #[test]
    fn policies_have_the_numbers_of_the_contract() {
        for (policy, number) in [
            (Policy::Reliability, abi::POLICY_RELIABILITY),
            (Policy::ResourceLimits, abi::POLICY_RESOURCE_LIMITS),
            (Policy::DurabilityService, abi::POLICY_DURABILITY_SERVICE),
            (Policy::Lifespan, abi::POLICY_LIFESPAN),
            (Policy::OwnershipStrength, abi::POLICY_OWNERSHIP_STRENGTH),
            (Policy::Partition, abi::POLICY_PARTITION),
            (Policy::Presentation, abi::POLICY_PRESENTATION),
            (Policy::TransportPriority, abi::POLICY_TRANSPORT_PRIORITY),
            (Policy::ReaderDataLifecycle, abi::POLICY_READER_DATA_LIFECYCLE),
            (Policy::UserData, abi::POLICY_USER_DATA),
            (Policy::TopicData, abi::POLICY_TOPIC_DATA),
            (Policy::GroupData, abi::POLICY_GROUP_DATA),
            (Policy::EntityFactory, abi::POLICY_ENTITY_FACTORY),
        ] {
            assert_eq!(bit(policy), 1 << number, "{policy}");
        }
    }

    #[test]
    fn fields_of_a_present_policy_have_standard_defaults() {
        let requested = Qos { history: Some(History::KeepLast), max_instances: Some(3), ..Qos::default() };
        let raw = to_raw(&requested).raw;
        assert_eq!(raw.present, bit(Policy::History) | bit(Policy::ResourceLimits));
        assert_eq!((raw.history_depth, raw.max_samples, raw.max_instances), (1, abi::UNLIMITED, 3));
        let raw = to_raw(&Qos { history_depth: Some(4), ..Qos::default() }).raw;
        assert_eq!((raw.history, raw.history_depth), (abi::KEEP_LAST, 4));
    }
}
