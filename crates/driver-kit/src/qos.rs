//! QoS of one entity. `None` means not requested, or not readable.
mod report;
mod values;

use driver_abi as abi;

#[cfg(feature = "testing")]
pub(crate) use self::report::empty;
pub use self::values::{
    AccessScope, DestinationOrder, Durability, DurabilityService, History, Liveliness, LivelinessKind,
    Ownership, Presentation, ReaderDataLifecycle, Reliability, ResourceLimits,
};
pub(crate) use self::{report::QosReport, values::values};
use crate::{
    c_data::{bytes_of, strings_of},
    error::{Error, Result},
};

/// The list of policies: names, numbers in the driver ABI, fields and their types.
macro_rules! policies {
    ($($(#[$meta:meta])* $policy:ident $number:ident $text:literal $field:ident: $type:ty,)*) => {
        /// Policy of DDS 1.4.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "named by DDS")]
        pub enum Policy { $($policy = abi::$number as isize,)* }

        impl Policy {
            /// All policies in the order of the driver ABI.
            pub const ALL: [Self; abi::POLICY_COUNT] = [$(Self::$policy,)*];

            /// Returns the name for messages.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$policy => $text,)* }
            }

            pub(crate) const fn bit(self) -> u64 {
                1 << self as u64
            }
        }

        /// Policies of one entity; `None` means not requested, or not readable.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Qos {
            $($(#[$meta])* pub $field: Option<$type>,)*
            /// Maximum blocking time of a write in ns, part of `reliability`. `None` if unknown.
            pub max_blocking_ns: Option<u64>,
        }

        impl Qos {
            /// Returns whether `policy` is present.
            pub fn has(&self, policy: Policy) -> bool {
                match policy { $(Policy::$policy => self.$field.is_some(),)* }
            }

            /// Returns whether both have the same value of `policy`.
            pub fn agrees(&self, other: &Self, policy: Policy) -> bool {
                match policy { $(Policy::$policy => self.$field == other.$field,)* }
            }
        }
    };
}

policies! {
    /// RELIABILITY; see also `max_blocking_ns`.
    Reliability POLICY_RELIABILITY "reliability" reliability: Reliability,
    /// HISTORY.
    History POLICY_HISTORY "history" history: History,
    /// RESOURCE_LIMITS.
    ResourceLimits POLICY_RESOURCE_LIMITS "resource_limits" resource_limits: ResourceLimits,
    /// DURABILITY.
    Durability POLICY_DURABILITY "durability" durability: Durability,
    /// DURABILITY_SERVICE.
    DurabilityService POLICY_DURABILITY_SERVICE "durability_service" durability_service: DurabilityService,
    /// DEADLINE.
    Deadline POLICY_DEADLINE "deadline" deadline_ns: u64,
    /// LATENCY_BUDGET.
    LatencyBudget POLICY_LATENCY_BUDGET "latency_budget" latency_budget_ns: u64,
    /// LIFESPAN.
    Lifespan POLICY_LIFESPAN "lifespan" lifespan_ns: u64,
    /// LIVELINESS.
    Liveliness POLICY_LIVELINESS "liveliness" liveliness: Liveliness,
    /// OWNERSHIP.
    Ownership POLICY_OWNERSHIP "ownership" ownership: Ownership,
    /// OWNERSHIP_STRENGTH.
    OwnershipStrength POLICY_OWNERSHIP_STRENGTH "ownership_strength" ownership_strength: i32,
    /// PARTITION.
    Partition POLICY_PARTITION "partition" partitions: Vec<String>,
    /// PRESENTATION.
    Presentation POLICY_PRESENTATION "presentation" presentation: Presentation,
    /// DESTINATION_ORDER.
    DestinationOrder POLICY_DESTINATION_ORDER "destination_order" destination_order: DestinationOrder,
    /// TIME_BASED_FILTER.
    TimeBasedFilter POLICY_TIME_BASED_FILTER "time_based_filter" minimum_separation_ns: u64,
    /// TRANSPORT_PRIORITY.
    TransportPriority POLICY_TRANSPORT_PRIORITY "transport_priority" transport_priority: i32,
    /// WRITER_DATA_LIFECYCLE.
    WriterDataLifecycle POLICY_WRITER_DATA_LIFECYCLE "writer_data_lifecycle" autodispose_unregistered: bool,
    /// READER_DATA_LIFECYCLE.
    ReaderDataLifecycle POLICY_READER_DATA_LIFECYCLE "reader_data_lifecycle"
        reader_data_lifecycle: ReaderDataLifecycle,
    /// USER_DATA.
    UserData POLICY_USER_DATA "user_data" user_data: Vec<u8>,
    /// TOPIC_DATA.
    TopicData POLICY_TOPIC_DATA "topic_data" topic_data: Vec<u8>,
    /// GROUP_DATA.
    GroupData POLICY_GROUP_DATA "group_data" group_data: Vec<u8>,
    /// ENTITY_FACTORY.
    EntityFactory POLICY_ENTITY_FACTORY "entity_factory" autoenable_created: bool,
}

const _: () = {
    let mut index = 0;
    while index < Policy::ALL.len() {
        assert!(Policy::ALL[index] as usize == index, "the list is in the order of the contract");
        index += 1;
    }
};

impl Qos {
    /// Copies the QoS that the host requests.
    ///
    /// # Safety
    /// The arrays and strings of `raw` are valid for their counts, or NULL.
    pub(crate) unsafe fn from_abi(raw: &abi::Qos) -> Result<Self> {
        if raw.present >> abi::POLICY_COUNT != 0 {
            return Err(Error::unsupported(format!(
                "unknown policy in `present`: {:#x}",
                raw.present >> abi::POLICY_COUNT << abi::POLICY_COUNT
            ))
            .hint("build the driver with the driver-kit of this ddsmark"));
        }
        let when = |policy: Policy| raw.present & policy.bit() != 0;
        let mut qos = Self::default();
        if when(Policy::Reliability) {
            qos.reliability = Some(Reliability::from_abi(raw.reliability)?);
            qos.max_blocking_ns = Some(raw.max_blocking_ns);
        }
        if when(Policy::History) {
            qos.history = Some(History::from_abi(raw.history, raw.history_depth)?);
        }
        if when(Policy::ResourceLimits) {
            qos.resource_limits = Some(ResourceLimits {
                max_samples: raw.max_samples,
                max_instances: raw.max_instances,
                max_samples_per_instance: raw.max_samples_per_instance,
            });
        }
        if when(Policy::Durability) {
            qos.durability = Some(Durability::from_abi(raw.durability)?);
        }
        if when(Policy::DurabilityService) {
            qos.durability_service = Some(DurabilityService {
                cleanup_ns: raw.service_cleanup_ns,
                history: History::from_abi(raw.service_history, raw.service_history_depth)?,
                limits: ResourceLimits {
                    max_samples: raw.service_max_samples,
                    max_instances: raw.service_max_instances,
                    max_samples_per_instance: raw.service_max_samples_per_instance,
                },
            });
        }
        qos.deadline_ns = when(Policy::Deadline).then_some(raw.deadline_ns);
        qos.latency_budget_ns = when(Policy::LatencyBudget).then_some(raw.latency_budget_ns);
        qos.lifespan_ns = when(Policy::Lifespan).then_some(raw.lifespan_ns);
        if when(Policy::Liveliness) {
            let kind = LivelinessKind::from_abi(raw.liveliness)?;
            qos.liveliness = Some(Liveliness { kind, lease_ns: raw.liveliness_lease_ns });
        }
        if when(Policy::Ownership) {
            qos.ownership = Some(Ownership::from_abi(raw.ownership)?);
        }
        qos.ownership_strength = when(Policy::OwnershipStrength).then_some(raw.ownership_strength);
        if when(Policy::Presentation) {
            qos.presentation = Some(Presentation {
                scope: AccessScope::from_abi(raw.presentation_scope)?,
                coherent: flag(raw.coherent_access, "coherent_access")?,
                ordered: flag(raw.ordered_access, "ordered_access")?,
            });
        }
        if when(Policy::DestinationOrder) {
            qos.destination_order = Some(DestinationOrder::from_abi(raw.destination_order)?);
        }
        qos.minimum_separation_ns = when(Policy::TimeBasedFilter).then_some(raw.minimum_separation_ns);
        qos.transport_priority = when(Policy::TransportPriority).then_some(raw.transport_priority);
        if when(Policy::WriterDataLifecycle) {
            qos.autodispose_unregistered =
                Some(flag(raw.autodispose_unregistered, "autodispose_unregistered")?);
        }
        if when(Policy::ReaderDataLifecycle) {
            qos.reader_data_lifecycle = Some(ReaderDataLifecycle {
                autopurge_nowriter_ns: raw.autopurge_nowriter_ns,
                autopurge_disposed_ns: raw.autopurge_disposed_ns,
            });
        }
        if when(Policy::EntityFactory) {
            qos.autoenable_created = Some(flag(raw.autoenable_created, "autoenable_created")?);
        }
        if when(Policy::Partition) {
            // SAFETY: the caller guarantees it.
            let names = unsafe { strings_of(raw.partitions, raw.partition_count, "partitions") }?;
            qos.partitions = Some(names.into_iter().map(str::to_owned).collect());
        }
        if when(Policy::UserData) {
            // SAFETY: the caller guarantees it.
            qos.user_data =
                Some(unsafe { bytes_of(raw.user_data, raw.user_data_size, "user_data") }?.to_vec());
        }
        if when(Policy::TopicData) {
            // SAFETY: the caller guarantees it.
            qos.topic_data =
                Some(unsafe { bytes_of(raw.topic_data, raw.topic_data_size, "topic_data") }?.to_vec());
        }
        if when(Policy::GroupData) {
            // SAFETY: the caller guarantees it.
            qos.group_data =
                Some(unsafe { bytes_of(raw.group_data, raw.group_data_size, "group_data") }?.to_vec());
        }
        Ok(qos)
    }
}

fn flag(value: u32, what: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::bad_argument(format!("invalid value {value} of `{what}`")).hint("use 0 or 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> Qos {
        let limits =
            ResourceLimits { max_samples: 1, max_instances: abi::UNLIMITED, max_samples_per_instance: 3 };
        Qos {
            reliability: Some(Reliability::Reliable),
            max_blocking_ns: Some(4),
            history: Some(History::KeepLast(5)),
            resource_limits: Some(limits),
            durability: Some(Durability::Transient),
            durability_service: Some(DurabilityService { cleanup_ns: 6, history: History::KeepAll, limits }),
            deadline_ns: Some(abi::DURATION_INFINITE),
            latency_budget_ns: Some(7),
            lifespan_ns: Some(8),
            liveliness: Some(Liveliness { kind: LivelinessKind::ByTopic, lease_ns: 9 }),
            ownership: Some(Ownership::Exclusive),
            ownership_strength: Some(-10),
            partitions: Some(vec!["a".into(), String::new(), "b*".into()]),
            presentation: Some(Presentation { scope: AccessScope::Group, coherent: true, ordered: false }),
            destination_order: Some(DestinationOrder::BySource),
            minimum_separation_ns: Some(11),
            transport_priority: Some(-12),
            autodispose_unregistered: Some(true),
            reader_data_lifecycle: Some(ReaderDataLifecycle {
                autopurge_nowriter_ns: 13,
                autopurge_disposed_ns: 14,
            }),
            user_data: Some(vec![0, 1]),
            topic_data: Some(vec![]),
            group_data: Some(vec![2]),
            autoenable_created: Some(false),
        }
    }

    fn there_and_back(qos: Qos) -> Result<Qos> {
        let report = QosReport::new(qos)?;
        // SAFETY: `report` outlives the call.
        unsafe { Qos::from_abi(&report.to_abi()) }
    }

    #[test]
    fn everything_survives_the_boundary() {
        assert_eq!(there_and_back(everything()), Ok(everything()));
        assert_eq!(there_and_back(Qos::default()), Ok(Qos::default()));
        for policy in Policy::ALL {
            assert!(everything().has(policy), "{policy:?}");
            assert!(!everything().agrees(&Qos::default(), policy), "{policy:?}");
        }
    }

    #[test]
    fn values_that_do_not_exist_are_named() {
        let broken = |change: fn(&mut abi::Qos)| {
            let report = QosReport::new(everything()).expect("fine");
            let mut raw = report.to_abi();
            change(&mut raw);
            // SAFETY: `report` outlives the call, and no change above lengthens an array.
            unsafe { Qos::from_abi(&raw) }.expect_err("refused").to_string()
        };
        assert_eq!(
            broken(|q| q.reliability = 2),
            "unknown value 2 of Reliability; hint: use a constant of driver.h"
        );
        assert_eq!(
            broken(|q| q.history_depth = 0),
            "invalid value 0 of `history_depth`; hint: use at least 1"
        );
        assert_eq!(
            broken(|q| q.history = -1),
            "unknown value -1 of History; hint: use a constant of driver.h"
        );
        assert_eq!(
            broken(|q| q.coherent_access = 7),
            "invalid value 7 of `coherent_access`; hint: use 0 or 1"
        );
        assert_eq!(
            broken(|q| q.partitions = std::ptr::null()),
            "`partitions` is NULL, but its count is 3; hint: pass the array, or a count of 0"
        );
        assert_eq!(
            broken(|q| q.present |= 1 << 40),
            "unknown policy in `present`: 0x10000000000; hint: build the driver with the driver-kit of this ddsmark"
        );
    }
}
