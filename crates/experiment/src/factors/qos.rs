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

impl Presentation {
    /// Default of the standard.
    pub const UNORDERED: Self =
        Self { scope: Scope::Instance, coherent_access: false, ordered_access: false };
}

/// The default of a policy that writers and readers have in common, if there is one.
macro_rules! common_default {
    (common $value:expr) => {
        Some($value)
    };
    (per_end $value:expr) => {
        None
    };
}

/// A value if writers have the policy.
macro_rules! of_writer {
    (reader $value:expr) => {
        None
    };
    ($ends:ident $value:expr) => {
        $value
    };
}

/// A value if readers have the policy.
macro_rules! of_reader {
    (writer $value:expr) => {
        None
    };
    ($ends:ident $value:expr) => {
        $value
    };
}

macro_rules! qos {
    ($(
        $(#[$doc:meta])* $file_doc:literal $key:ident: $in_file:ty => $field:ident: $type:ty,
        policy $policy:ident, ends $ends:ident, default $scope:ident($default:expr)
        $(, abi $abi:ident)? $(, range $range:ident)? $(, agree $agree:path)?;
    )*) => {
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
            pub fn differences(&self, effective: &Self) -> Vec<(&'static str, String, String)> {
                let mut rows = Vec::new();
                $(if let Some(requested) = &self.$field
                    && effective.$field.as_ref() != Some(requested)
                {
                    let found = effective.$field.as_ref().map_or_else(|| "unknown".to_owned(), |v| format!("{v:?}"));
                    rows.push((stringify!($field), format!("{requested:?}"), found));
                })*
                rows
            }

            /// Returns the policy of a field.
            #[must_use]
            pub fn policy_of(field: &str) -> Option<Policy> {
                match field {
                    $(stringify!($field) => Some(Policy::$policy),)*
                    _ => None,
                }
            }

            /// Returns the defaults of DDS 1.4 section 2.2.3 that writers and readers have in common. RELIABILITY
            /// and HISTORY are absent.
            #[must_use]
            pub const fn standard_defaults() -> Self {
                Self { $($field: common_default!($scope $default),)* }
            }

            /// Returns the policies of a writer, by DDS 1.4 section 2.2.3.
            #[must_use]
            pub fn of_writers(self) -> Self {
                Self { $($field: of_writer!($ends self.$field),)* }
            }

            /// Returns the policies of a reader, by DDS 1.4 section 2.2.3, without `max_blocking_ns`.
            #[must_use]
            pub fn of_readers(self) -> Self {
                Self { $($field: of_reader!($ends self.$field),)* }
            }
        }
    };
}

crate::policy_table!(qos);

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
}
