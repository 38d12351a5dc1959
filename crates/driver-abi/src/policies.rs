//! QoS policies of DDS 1.4, requested or effective, and their conversion from and to [`abi::Qos`](crate::Qos).

mod raw;
mod table;
mod values;

pub use raw::{RawQos, empty};
pub use values::{
    DestinationOrder, Durability, History, Infinite, Liveliness, Ownership, Presentation, QosDuration,
    Reliability, Scope,
};

use self::raw::{AbiValue, RawMemory};
use crate::words::words;

words! {
    /// Policies of DDS 1.4 section 2.2.3, in the order of the driver contract.
    #[derive(Hash)]
    Policy: u32 {
        Reliability = POLICY_RELIABILITY, "reliability";
        History = POLICY_HISTORY, "history";
        ResourceLimits = POLICY_RESOURCE_LIMITS, "resource_limits";
        Durability = POLICY_DURABILITY, "durability";
        DurabilityService = POLICY_DURABILITY_SERVICE, "durability_service";
        Deadline = POLICY_DEADLINE, "deadline";
        LatencyBudget = POLICY_LATENCY_BUDGET, "latency_budget";
        Lifespan = POLICY_LIFESPAN, "lifespan";
        Liveliness = POLICY_LIVELINESS, "liveliness";
        Ownership = POLICY_OWNERSHIP, "ownership";
        OwnershipStrength = POLICY_OWNERSHIP_STRENGTH, "ownership_strength";
        Partition = POLICY_PARTITION, "partition";
        Presentation = POLICY_PRESENTATION, "presentation";
        DestinationOrder = POLICY_DESTINATION_ORDER, "destination_order";
        TimeBasedFilter = POLICY_TIME_BASED_FILTER, "time_based_filter";
        TransportPriority = POLICY_TRANSPORT_PRIORITY, "transport_priority";
        WriterDataLifecycle = POLICY_WRITER_DATA_LIFECYCLE, "writer_data_lifecycle";
        ReaderDataLifecycle = POLICY_READER_DATA_LIFECYCLE, "reader_data_lifecycle";
        UserData = POLICY_USER_DATA, "user_data";
        TopicData = POLICY_TOPIC_DATA, "topic_data";
        GroupData = POLICY_GROUP_DATA, "group_data";
        EntityFactory = POLICY_ENTITY_FACTORY, "entity_factory";
    }
}

const _: () = {
    assert!(Policy::ALL.len() == crate::POLICY_COUNT);
    let mut number = 0;
    while number < Policy::ALL.len() {
        assert!(Policy::ALL[number] as usize == number, "the list is in the order of the contract");
        number += 1;
    }
};

impl Policy {
    /// Returns the bit in the field `present`.
    const fn bit(self) -> u64 {
        1 << self as u64
    }
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
        policy $policy:ident, ends $ends:ident, default $scope:ident($default:expr), abi($($abi:ident),+)
        $(, range $range:ident)? $(, agree $agree:path)?;
    )*) => {
        /// QoS of a writer or reader. A policy is absent if it was not requested, or could not be read back. Limits
        /// of -1 are unlimited.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct Qos {
            $(
                $(#[$doc])*
                #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
                pub $field: Option<$type>,
            )*
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

            /// Returns whether a field of a policy is present.
            #[must_use]
            pub fn has(&self, policy: Policy) -> bool {
                false $(|| (policy == Policy::$policy && self.$field.is_some()))*
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

            /// Sets `present` and the fields of present policies. A field that is not requested has the default of
            /// DDS 1.4 if its policy is present.
            fn set_fields(&self, raw: &mut crate::Qos, memory: &mut RawMemory) {
                $(if self.has(Policy::$policy) {
                    raw.present |= Policy::$policy.bit();
                    let value: $type = self.$field.clone().unwrap_or($default);
                    ($(raw.$abi),+) = value.to_raw(memory);
                })*
            }

            /// Copies the fields of present policies, and returns the first one whose value the contract does not
            /// define.
            ///
            /// # Safety
            /// The arrays and texts of `raw` are valid for their counts, or NULL.
            unsafe fn read_fields(raw: &crate::Qos) -> (Self, Option<String>) {
                let (mut qos, mut invalid) = (Self::default(), None);
                $(if raw.present & Policy::$policy.bit() != 0 {
                    let value = ($(raw.$abi),+);
                    // SAFETY: the caller guarantees it.
                    qos.$field = unsafe { <$type as AbiValue>::from_raw(value) };
                    if qos.$field.is_none() && invalid.is_none() {
                        invalid = Some(format!("invalid value {value:?} of `{}`", stringify!($key)));
                    }
                })*
                (qos, invalid)
            }
        }
    };
}

crate::policy_table!(qos);

impl Qos {
    /// Returns the depth if HISTORY is KEEP_LAST.
    #[must_use]
    pub fn keep_last(&self) -> Option<usize> {
        let depth = usize::try_from(self.history_depth.unwrap_or(1)).unwrap_or(1).max(1);
        (self.history == Some(History::KeepLast)).then_some(depth)
    }
}
