//! Discovery in a result: how long participants took to find each other, and what it cost.

use serde::{Deserialize, Serialize};

use crate::schema::endpoints::Interface;

/// Discovery of a run. Times are from the common start; with a late participant, from its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscoveryRecord {
    /// Time until all entities were matched with all of their peers, in ns: the maximum over the entities, each by the
    /// last event of its own middleware. Absent if a driver does not report these times.
    pub all_matched_ns: Option<u64>,
    /// Entity that was matched last: `ENDPOINT ENTITY`.
    pub slowest: Option<String>,
    /// Median over the entities of their times, in ns. Absent as `all_matched_ns`.
    pub median_matched_ns: Option<u64>,
    /// Maximum error of the match times in ns, between hosts with different clocks. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::schema::is_zero")]
    pub clock_error_ns: u64,
    /// Traffic of the interface from at most 5 ms before the start until 20 ms after the last match, of all programs. On
    /// a loopback interface each packet is received as often as it is sent; packets to several receivers by multicast
    /// count once. Of several hosts: the sum over their interfaces, each until 20 ms after the last match of its own entities; a
    /// packet that one host sends to another is sent once. Absent if it is unknown.
    pub until_matched: Option<Interface>,
    /// Traffic of the interface while all participants were matched and idle, of all programs. Of several hosts: the sum.
    pub idle: Option<Interface>,
    /// Packets per second that the interfaces sent before the first participant was opened: those of other programs, which
    /// `until_matched` and `idle` include. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_packets_per_s: Option<f64>,
    /// Duration of the idle phase in ns.
    pub idle_ns: u64,
    /// CPU time of all participants in the idle phase, in ns.
    pub idle_cpu_ns: u64,
    /// Memory that the processes grew by, divided by the number of participants in them, in bytes (Pss): with several
    /// participants per process, what they share counts once for all of them. Absent if the kernel does not report it.
    pub memory_per_participant_bytes: Option<u64>,
    /// Number of entities whose matches changed after all were matched.
    pub changed_later: u32,
    /// Participants, in the order of the endpoints.
    pub participants: Vec<ParticipantRecord>,
}

impl DiscoveryRecord {
    /// Returns the packets per second that the interface sent in the idle phase; `None` if they are unknown.
    #[must_use]
    pub fn idle_packets_per_s(&self) -> Option<f64> {
        let idle = self.idle.as_ref().filter(|_| self.idle_ns > 0)?;
        Some(idle.tx_packets as f64 * 1e9 / self.idle_ns as f64)
    }

    /// Returns the share of a core that one participant used in the idle phase, as a mean, in percent.
    #[must_use]
    pub fn idle_cpu_pct(&self) -> Option<f64> {
        let cores = self.idle_ns as f64 * self.participants.len() as f64;
        (cores > 0.0).then(|| 100.0 * self.idle_cpu_ns as f64 / cores)
    }
}

/// Discovery of one participant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParticipantRecord {
    /// Endpoint, by id.
    pub id: String,
    /// Delay of its start after the common one, in ns. Negative for a participant that was open before the late one.
    pub start_lag_ns: i64,
    /// Time to create the participant, in ns.
    pub participant_ns: u64,
    /// Time to create all writers and readers, in ns.
    pub entities_ns: u64,
    /// Time until its last entity was matched, in ns. Absent if the driver does not report it.
    pub matched_ns: Option<u64>,
    /// Memory of its process before the participant was created, in bytes (Pss). With several participants per process, all
    /// of them take the same readings.
    pub memory_before_bytes: Option<u64>,
    /// Memory of its process when all participants were matched, in bytes (Pss).
    pub memory_matched_bytes: Option<u64>,
    /// Entities, writers first.
    pub entities: Vec<EntityRecord>,
}

/// Matches of one entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntityRecord {
    /// Name: `writer`, `writer-2`, `reader` and so on.
    pub name: String,
    /// Number of matched peers, its own participant included.
    pub peers: u32,
    /// Time until the last of them was matched, in ns. Absent if the driver does not report it.
    pub matched_ns: Option<u64>,
}
