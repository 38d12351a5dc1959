//! The values that policies have.
use driver_abi as abi;

use crate::error::{Error, Result};

/// A closed set of values of the contract.
macro_rules! values {
    ($(#[$meta:meta])* $name:ident: $number:ty { $($(#[$variant_meta:meta])* $variant:ident = $value:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_meta])* $variant,)* }

        impl $name {
            /// The number that crosses the boundary.
            pub const fn to_abi(self) -> $number {
                match self { $(Self::$variant => abi::$value,)* }
            }

            /// The value that a number of the contract stands for.
            pub fn from_abi(value: $number) -> Result<Self> {
                match value {
                    $(abi::$value => Ok(Self::$variant),)*
                    _ => Err(Error::bad_argument(format!(
                        concat!("there is no value {} of ", stringify!($name)), value))),
                }
            }
        }
    };
}
pub(crate) use values;

values! {
    /// RELIABILITY.
    Reliability: i32 {
        /// What is lost is lost.
        BestEffort = BEST_EFFORT,
        /// What is lost is sent again.
        Reliable = RELIABLE,
    }
}
values! {
    /// DURABILITY.
    Durability: i32 {
        /// Late readers get nothing old.
        Volatile = VOLATILE,
        /// Kept as long as the writer lives.
        TransientLocal = TRANSIENT_LOCAL,
        /// Kept by a service in memory.
        Transient = TRANSIENT,
        /// Kept by a service on disk.
        Persistent = PERSISTENT,
    }
}
values! {
    /// LIVELINESS.
    LivelinessKind: i32 {
        /// The middleware asserts it.
        Automatic = LIVELINESS_AUTOMATIC,
        /// The application, for a participant.
        ByParticipant = LIVELINESS_BY_PARTICIPANT,
        /// The application, for each writer.
        ByTopic = LIVELINESS_BY_TOPIC,
    }
}
values! {
    /// OWNERSHIP.
    Ownership: i32 {
        /// All writers of an instance are heard.
        Shared = OWNERSHIP_SHARED,
        /// Only the strongest.
        Exclusive = OWNERSHIP_EXCLUSIVE,
    }
}
values! {
    /// The access scope of PRESENTATION.
    AccessScope: i32 {
        /// One instance.
        Instance = SCOPE_INSTANCE,
        /// One topic.
        Topic = SCOPE_TOPIC,
        /// All of a publisher.
        Group = SCOPE_GROUP,
    }
}
values! {
    /// DESTINATION_ORDER.
    DestinationOrder: i32 {
        /// As received.
        ByReception = ORDER_BY_RECEPTION,
        /// As sent.
        BySource = ORDER_BY_SOURCE,
    }
}

/// HISTORY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The last so many samples of an instance, at least 1.
    KeepLast(i32),
    /// All, within the resource limits.
    KeepAll,
}

impl History {
    pub(super) fn from_abi(kind: i32, depth: i32) -> Result<Self> {
        match (kind, depth) {
            (abi::KEEP_LAST, 1..) => Ok(Self::KeepLast(depth)),
            (abi::KEEP_LAST, _) => {
                Err(Error::bad_argument(format!("a history depth of {depth}; it is at least 1")))
            }
            (abi::KEEP_ALL, _) => Ok(Self::KeepAll),
            _ => Err(Error::bad_argument(format!("there is no history kind {kind}"))),
        }
    }

    pub(super) fn to_abi(self) -> (i32, i32) {
        match self {
            Self::KeepLast(depth) => (abi::KEEP_LAST, depth),
            Self::KeepAll => (abi::KEEP_ALL, 0),
        }
    }
}

/// RESOURCE_LIMITS; each may be `driver_abi::UNLIMITED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by DDS")]
pub struct ResourceLimits {
    pub max_samples: i32,
    pub max_instances: i32,
    pub max_samples_per_instance: i32,
}

/// DURABILITY_SERVICE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by DDS")]
pub struct DurabilityService {
    pub cleanup_ns: u64,
    pub history: History,
    pub limits: ResourceLimits,
}

/// LIVELINESS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by DDS")]
pub struct Liveliness {
    pub kind: LivelinessKind,
    pub lease_ns: u64,
}

/// PRESENTATION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by DDS")]
pub struct Presentation {
    pub scope: AccessScope,
    pub coherent: bool,
    pub ordered: bool,
}

/// READER_DATA_LIFECYCLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by DDS")]
pub struct ReaderDataLifecycle {
    pub autopurge_nowriter_ns: u64,
    pub autopurge_disposed_ns: u64,
}
