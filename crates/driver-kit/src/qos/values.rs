//! Values of policies.
use driver_abi as abi;

use crate::error::{Error, Result};

/// Defines an enumeration of the driver ABI.
macro_rules! values {
    ($(#[$meta:meta])* $name:ident: $number:ty { $($(#[$variant_meta:meta])* $variant:ident = $value:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_meta])* $variant,)* }

        impl $name {
            /// Returns the number in the driver ABI.
            pub const fn to_abi(self) -> $number {
                match self { $(Self::$variant => abi::$value,)* }
            }

            /// Returns the value of a number in the driver ABI.
            pub fn from_abi(value: $number) -> Result<Self> {
                match value {
                    $(abi::$value => Ok(Self::$variant),)*
                    _ => Err(Error::bad_argument(format!(
                        concat!("unknown value {} of ", stringify!($name)), value))
                        .hint("use a constant of driver.h")),
                }
            }
        }
    };
}
pub(crate) use values;

values! {
    /// RELIABILITY.
    Reliability: i32 {
        /// Lost samples are not repeated.
        BestEffort = BEST_EFFORT,
        /// Lost samples are repeated.
        Reliable = RELIABLE,
    }
}
values! {
    /// DURABILITY.
    Durability: i32 {
        /// Late readers get no old samples.
        Volatile = VOLATILE,
        /// Kept during the lifetime of the writer.
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
        /// Asserted by the middleware.
        Automatic = LIVELINESS_AUTOMATIC,
        /// Asserted by the application, per participant.
        ByParticipant = LIVELINESS_BY_PARTICIPANT,
        /// Asserted by the application, per writer.
        ByTopic = LIVELINESS_BY_TOPIC,
    }
}
values! {
    /// OWNERSHIP.
    Ownership: i32 {
        /// Samples of all writers of an instance are delivered.
        Shared = OWNERSHIP_SHARED,
        /// Only samples of the strongest writer are delivered.
        Exclusive = OWNERSHIP_EXCLUSIVE,
    }
}
values! {
    /// Access scope of PRESENTATION.
    AccessScope: i32 {
        /// One instance.
        Instance = SCOPE_INSTANCE,
        /// One topic.
        Topic = SCOPE_TOPIC,
        /// All topics of a publisher.
        Group = SCOPE_GROUP,
    }
}
values! {
    /// DESTINATION_ORDER.
    DestinationOrder: i32 {
        /// By reception timestamp.
        ByReception = ORDER_BY_RECEPTION,
        /// By source timestamp.
        BySource = ORDER_BY_SOURCE,
    }
}

/// HISTORY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The last N samples of an instance, at least 1.
    KeepLast(i32),
    /// All samples within the resource limits.
    KeepAll,
}

impl History {
    pub(super) fn from_abi(kind: i32, depth: i32) -> Result<Self> {
        match (kind, depth) {
            (abi::KEEP_LAST, 1..) => Ok(Self::KeepLast(depth)),
            (abi::KEEP_LAST, _) => {
                Err(Error::bad_argument(format!("invalid value {depth} of `history_depth`"))
                    .hint("use at least 1"))
            }
            (abi::KEEP_ALL, _) => Ok(Self::KeepAll),
            _ => Err(Error::bad_argument(format!("unknown value {kind} of History"))
                .hint("use a constant of driver.h")),
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
