//! Values of policies.

use crate::words::words;

words! {
    /// RELIABILITY kind.
    Reliability: i32 { BestEffort = BEST_EFFORT, "best_effort"; Reliable = RELIABLE, "reliable"; }
}
words! {
    /// HISTORY kind.
    History: i32 { KeepLast = KEEP_LAST, "keep_last"; KeepAll = KEEP_ALL, "keep_all"; }
}
words! {
    /// DURABILITY kind.
    Durability: i32 {
        Volatile = VOLATILE, "volatile";
        TransientLocal = TRANSIENT_LOCAL, "transient_local";
        Transient = TRANSIENT, "transient";
        Persistent = PERSISTENT, "persistent";
    }
}
words! {
    /// LIVELINESS kind.
    Liveliness: i32 {
        Automatic = LIVELINESS_AUTOMATIC, "automatic";
        ManualByParticipant = LIVELINESS_BY_PARTICIPANT, "manual_by_participant";
        ManualByTopic = LIVELINESS_BY_TOPIC, "manual_by_topic";
    }
}
words! {
    /// OWNERSHIP kind.
    Ownership: i32 { Shared = OWNERSHIP_SHARED, "shared"; Exclusive = OWNERSHIP_EXCLUSIVE, "exclusive"; }
}
words! {
    /// DESTINATION_ORDER kind.
    DestinationOrder: i32 {
        ByReceptionTimestamp = ORDER_BY_RECEPTION, "by_reception_timestamp";
        BySourceTimestamp = ORDER_BY_SOURCE, "by_source_timestamp";
    }
}
words! {
    /// PRESENTATION access scope.
    Scope: i32 { Instance = SCOPE_INSTANCE, "instance"; Topic = SCOPE_TOPIC, "topic"; Group = SCOPE_GROUP, "group"; }
}

/// Duration of a policy in ns, or infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QosDuration {
    /// Nanoseconds.
    Ns(u64),
    /// Infinite.
    Infinite(Infinite),
}

/// The word `infinite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Infinite {
    /// Infinite.
    Infinite,
}

impl QosDuration {
    /// Infinite duration.
    pub const INFINITE: Self = Self::Infinite(Infinite::Infinite);

    /// Converts from the driver contract.
    #[must_use]
    pub const fn from_raw(ns: u64) -> Self {
        if ns == crate::DURATION_INFINITE { Self::INFINITE } else { Self::Ns(ns) }
    }

    /// Converts to the driver contract.
    #[must_use]
    pub const fn raw(self) -> u64 {
        match self {
            Self::Ns(ns) => ns,
            Self::Infinite(_) => crate::DURATION_INFINITE,
        }
    }
}

/// PRESENTATION policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
