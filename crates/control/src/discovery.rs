//! Measurements of a participant: when it was opened, and when its entities were matched.

use results::Interface;
use serde::{Deserialize, Serialize};

/// Participant measurements. All times are of the common clock, in ns.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParticipantReport {
    /// Common start from which times of matching count: that of the late participant, if there is one.
    pub begin_ns: u64,
    /// Time before the participant was created.
    pub opening_ns: u64,
    /// Time after the participant was created.
    pub participant_ns: u64,
    /// Time after all entities were created.
    pub entities_ns: u64,
    /// State of each writer when all of its matches were complete.
    pub writers: Vec<EntityMatch>,
    /// State of each reader when all of its matches were complete.
    pub readers: Vec<EntityMatch>,
    /// Number of entities whose matches changed afterwards.
    pub changed_later: u32,
    /// Time at which the agent found all of its entities matched.
    pub found_matched_ns: u64,
    /// Memory of the process before the participant was created (Pss), in bytes. Absent if the kernel does not report it.
    pub memory_before_bytes: Option<u64>,
    /// Memory of the process when all participants were matched (Pss), in bytes.
    pub memory_matched_bytes: Option<u64>,
    /// Counters of the interface just before the start. Absent if the kernel does not report them.
    pub before: Option<InterfaceReading>,
    /// Traffic of the interface while the process waited for the start: of other programs, if no participant was open yet. Absent
    /// if the kernel does not report it.
    pub ahead: Option<TrafficAhead>,
    /// Counters of the interface when this agent found all of its entities matched.
    pub after: Option<InterfaceReading>,
}

/// Counters of a network interface at some time. They include all programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterfaceReading {
    /// Time after the counters were read, in ns.
    pub at_ns: u64,
    /// Counters since the start of the interface.
    pub counters: Interface,
}

/// Traffic of a network interface before a start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficAhead {
    /// Duration in ns.
    pub elapsed_ns: u64,
    /// Number of packets that the interface sent in this time.
    pub tx_packets: u64,
}

/// Matches of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntityMatch {
    /// Number of matched peers.
    pub matched: u32,
    /// Time of the last change of this number, recorded by the driver when it changed. Absent if the driver does not
    /// know the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_ns: Option<u64>,
}
