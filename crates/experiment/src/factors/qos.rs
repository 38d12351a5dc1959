//! QoS policies of DDS 1.4, requested or effective.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::syntax::named::named;

/// Policies of DDS 1.4 section 2.2.3, in the order of the driver contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the standard's")]
pub enum Policy {
    Reliability,
    History,
    ResourceLimits,
    Durability,
    DurabilityService,
    Deadline,
    LatencyBudget,
    Lifespan,
    Liveliness,
    Ownership,
    OwnershipStrength,
    Partition,
    Presentation,
    DestinationOrder,
    TimeBasedFilter,
    TransportPriority,
    WriterDataLifecycle,
    ReaderDataLifecycle,
    UserData,
    TopicData,
    GroupData,
    EntityFactory,
}

named!(Policy {
    Reliability = "reliability",
    History = "history",
    ResourceLimits = "resource_limits",
    Durability = "durability",
    DurabilityService = "durability_service",
    Deadline = "deadline",
    LatencyBudget = "latency_budget",
    Lifespan = "lifespan",
    Liveliness = "liveliness",
    Ownership = "ownership",
    OwnershipStrength = "ownership_strength",
    Partition = "partition",
    Presentation = "presentation",
    DestinationOrder = "destination_order",
    TimeBasedFilter = "time_based_filter",
    TransportPriority = "transport_priority",
    WriterDataLifecycle = "writer_data_lifecycle",
    ReaderDataLifecycle = "reader_data_lifecycle",
    UserData = "user_data",
    TopicData = "topic_data",
    GroupData = "group_data",
    EntityFactory = "entity_factory",
});

/// Duration of a policy in ns, or infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QosDuration {
    /// Nanoseconds.
    Ns(u64),
    /// Infinite.
    Infinite(Infinite),
}

/// The word `infinite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Infinite {
    /// Infinite.
    Infinite,
}

impl QosDuration {
    /// Infinite duration.
    pub const INFINITE: Self = Self::Infinite(Infinite::Infinite);

    /// Converts from the driver contract, in which `u64::MAX` is infinite.
    #[must_use]
    pub const fn from_raw(ns: u64) -> Self {
        if ns == u64::MAX { Self::Infinite(Infinite::Infinite) } else { Self::Ns(ns) }
    }

    /// Converts to the driver contract, in which `u64::MAX` is infinite.
    #[must_use]
    pub const fn raw(self) -> u64 {
        match self {
            Self::Ns(ns) => ns,
            Self::Infinite(_) => u64::MAX,
        }
    }
}

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[allow(missing_docs, reason = "the names are the standard's")]
        pub enum $name { $($variant),* }
        named!($name { $($variant = $word),* });
    };
}

kinds!(/// RELIABILITY kind.
    Reliability { BestEffort = "best_effort", Reliable = "reliable" });
kinds!(/// HISTORY kind.
    History { KeepLast = "keep_last", KeepAll = "keep_all" });
kinds!(/// DURABILITY kind.
Durability {
    Volatile = "volatile",
    TransientLocal = "transient_local",
    Transient = "transient",
    Persistent = "persistent",
});
kinds!(/// LIVELINESS kind.
Liveliness {
    Automatic = "automatic",
    ManualByParticipant = "manual_by_participant",
    ManualByTopic = "manual_by_topic",
});
kinds!(/// OWNERSHIP kind.
    Ownership { Shared = "shared", Exclusive = "exclusive" });
kinds!(/// DESTINATION_ORDER kind.
    DestinationOrder { ByReceptionTimestamp = "by_reception_timestamp", BySourceTimestamp = "by_source_timestamp" });
kinds!(/// PRESENTATION access scope.
    Scope { Instance = "instance", Topic = "topic", Group = "group" });

/// PRESENTATION policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Presentation {
    /// Access scope.
    pub scope: Scope,
    /// Whether access is coherent.
    pub coherent_access: bool,
    /// Whether access is ordered.
    pub ordered_access: bool,
}

macro_rules! qos {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// QoS of a writer or reader. A policy is absent if it was not requested, or could not be read back. Limits
        /// of -1 are unlimited.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Qos {
            $($(#[$doc])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
        }

        impl Qos {
            /// Returns the fields whose effective value differs from the requested one:
            /// `(name, requested, effective)`. The effective value is `unknown` if it could not be read back.
            #[must_use]
            pub fn differences(&self, in_force: &Self) -> Vec<(&'static str, String, String)> {
                let mut rows = Vec::new();
                $(if let Some(asked) = &self.$field
                    && in_force.$field.as_ref() != Some(asked)
                {
                    let found = in_force.$field.as_ref().map_or_else(|| "unknown".to_owned(), |v| format!("{v:?}"));
                    rows.push((stringify!($field), format!("{asked:?}"), found));
                })*
                rows
            }
        }
    };
}

qos! {
    /// RELIABILITY kind.
    reliability: Reliability,
    /// RELIABILITY: maximum time that a write may block.
    max_blocking_ns: QosDuration,
    /// HISTORY kind.
    history: History,
    /// HISTORY depth, with keep-last.
    history_depth: i32,
    /// RESOURCE_LIMITS: maximum number of samples.
    max_samples: i32,
    /// RESOURCE_LIMITS: maximum number of instances.
    max_instances: i32,
    /// RESOURCE_LIMITS: maximum number of samples per instance.
    max_samples_per_instance: i32,
    /// DURABILITY kind.
    durability: Durability,
    /// DURABILITY_SERVICE: delay before an instance that was disposed of is removed.
    service_cleanup_ns: QosDuration,
    /// DURABILITY_SERVICE: HISTORY kind of the samples for late joiners.
    service_history: History,
    /// DURABILITY_SERVICE: HISTORY depth, with keep-last.
    service_history_depth: i32,
    /// DURABILITY_SERVICE: maximum number of samples.
    service_max_samples: i32,
    /// DURABILITY_SERVICE: maximum number of instances.
    service_max_instances: i32,
    /// DURABILITY_SERVICE: maximum number of samples per instance.
    service_max_samples_per_instance: i32,
    /// DEADLINE period.
    deadline_ns: QosDuration,
    /// LATENCY_BUDGET duration.
    latency_budget_ns: QosDuration,
    /// LIFESPAN duration.
    lifespan_ns: QosDuration,
    /// LIVELINESS kind.
    liveliness: Liveliness,
    /// LIVELINESS lease duration.
    liveliness_lease_ns: QosDuration,
    /// OWNERSHIP kind.
    ownership: Ownership,
    /// OWNERSHIP_STRENGTH value.
    ownership_strength: i32,
    /// PARTITION names.
    partitions: Vec<String>,
    /// PRESENTATION policy.
    presentation: Presentation,
    /// DESTINATION_ORDER kind.
    destination_order: DestinationOrder,
    /// TIME_BASED_FILTER: minimum separation of samples.
    minimum_separation_ns: QosDuration,
    /// TRANSPORT_PRIORITY value.
    transport_priority: i32,
    /// WRITER_DATA_LIFECYCLE: whether instances that are unregistered are also disposed of.
    autodispose_unregistered: bool,
    /// READER_DATA_LIFECYCLE: delay before the samples of an instance without writers are removed.
    autopurge_nowriter_ns: QosDuration,
    /// READER_DATA_LIFECYCLE: delay before the samples of an instance that was disposed of are removed.
    autopurge_disposed_ns: QosDuration,
    /// USER_DATA as text.
    user_data: String,
    /// TOPIC_DATA as text.
    topic_data: String,
    /// GROUP_DATA as text.
    group_data: String,
    /// ENTITY_FACTORY: whether entities are enabled when they are created.
    autoenable_created: bool,
}

/// Maximum queue of a writer or reader in bytes, and the limits of its number of samples, if the file requests none.
const QUEUE_BYTES: u64 = 64 << 20;
const QUEUE_SAMPLES: std::ops::RangeInclusive<u64> = 64..=10_000;

/// Returns the limit of samples that is requested if the file requests none, for samples of this size. It has room
/// for the requested history depth and samples per instance.
pub(crate) fn default_max_samples(size: u64, depth: Option<i32>, per_instance: Option<i32>) -> i32 {
    let samples = (QUEUE_BYTES / size.max(1)).clamp(*QUEUE_SAMPLES.start(), *QUEUE_SAMPLES.end());
    let samples = i32::try_from(samples).expect("at most 10,000");
    samples.max(depth.unwrap_or(0)).max(per_instance.unwrap_or(0))
}

impl Qos {
    /// Returns whether the same policies were requested for samples of these two sizes. Default limits of samples
    /// depend on the size.
    pub(crate) fn same_request(&self, size: u64, other: &Self, other_size: u64) -> bool {
        let is_default = |qos: &Self, size| {
            let limit = default_max_samples(size, qos.history_depth, qos.max_samples_per_instance);
            qos.max_samples == Some(limit)
        };
        let without_limit = |qos: &Self| Self { max_samples: None, ..qos.clone() };
        self == other
            || (is_default(self, size)
                && is_default(other, other_size)
                && without_limit(self) == without_limit(other))
    }

    /// Returns the defaults of DDS 1.4 section 2.2.3 that writers and readers have in common. RELIABILITY is
    /// absent, because its defaults differ; HISTORY is absent too.
    #[must_use]
    pub const fn standard_defaults() -> Self {
        const INFINITE: Option<QosDuration> = Some(QosDuration::INFINITE);
        const ZERO: Option<QosDuration> = Some(QosDuration::Ns(0));
        Self {
            reliability: None,
            max_blocking_ns: None,
            history: None,
            history_depth: None,
            max_samples: Some(-1),
            max_instances: Some(-1),
            max_samples_per_instance: Some(-1),
            durability: Some(Durability::Volatile),
            deadline_ns: INFINITE,
            latency_budget_ns: ZERO,
            lifespan_ns: INFINITE,
            liveliness: Some(Liveliness::Automatic),
            liveliness_lease_ns: INFINITE,
            ownership: Some(Ownership::Shared),
            ownership_strength: Some(0),
            partitions: Some(Vec::new()),
            presentation: Some(Presentation {
                scope: Scope::Instance,
                coherent_access: false,
                ordered_access: false,
            }),
            destination_order: Some(DestinationOrder::ByReceptionTimestamp),
            minimum_separation_ns: ZERO,
            transport_priority: Some(0),
            autodispose_unregistered: Some(true),
            autopurge_nowriter_ns: INFINITE,
            autopurge_disposed_ns: INFINITE,
            service_cleanup_ns: ZERO,
            service_history: Some(History::KeepLast),
            service_history_depth: Some(1),
            service_max_samples: Some(-1),
            service_max_instances: Some(-1),
            service_max_samples_per_instance: Some(-1),
            user_data: Some(String::new()),
            topic_data: Some(String::new()),
            group_data: Some(String::new()),
            autoenable_created: Some(true),
        }
    }

    /// Returns the policies of a writer, by DDS 1.4 section 2.2.3.
    #[must_use]
    pub fn of_writers(self) -> Self {
        Self { minimum_separation_ns: None, autopurge_nowriter_ns: None, autopurge_disposed_ns: None, ..self }
    }

    /// Returns the policies of a reader, by DDS 1.4 section 2.2.3, without `max_blocking_ns`.
    #[must_use]
    pub fn of_readers(self) -> Self {
        Self {
            max_blocking_ns: None,
            service_cleanup_ns: None,
            service_history: None,
            service_history_depth: None,
            service_max_samples: None,
            service_max_instances: None,
            service_max_samples_per_instance: None,
            lifespan_ns: None,
            ownership_strength: None,
            transport_priority: None,
            autodispose_unregistered: None,
            ..self
        }
    }
}
