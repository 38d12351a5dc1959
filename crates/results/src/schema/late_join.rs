//! Late join of a reader in a result: what it got, and what its joining cost the other readers.

use serde::{Deserialize, Serialize};

use crate::schema::counted::DeliveryCounts;

/// Late join of a run: its last reader was opened while the writers wrote. It has joined when it and all writers are
/// matched. The other values of the run are those of the other readers.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LateJoinRecord {
    /// Endpoint that joined late, by id.
    pub reader: String,
    /// Time from the start of the measurement until it began to open its participant, in ns.
    pub begin_ns: u64,
    /// Time from there until its entities were open, in ns.
    pub opened_ns: u64,
    /// Time from there until it had joined, in ns: the last of the matches of the reader and of all writers, each by the
    /// event of its own middleware.
    pub joined_ns: u64,
    /// Time from there until its first sample arrived, in ns. Absent if none arrived.
    pub first_sample_ns: Option<u64>,
    /// Time from there until the last sample arrived that was written before the reader had joined, in ns. Absent if it
    /// received none of these.
    pub caught_up_ns: Option<u64>,
    /// Samples of each writer and flow at the late reader.
    pub flows: Vec<LateFlow>,
    /// Flows of the other readers around the join.
    pub others: Vec<JoinCost>,
}

/// Samples of one flow at a late reader. Of the samples that the writer's middleware accepted in the measurement, `before`
/// were written before the reader had joined, and `counted.sent` since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LateFlow {
    /// Name of its stream.
    pub name: String,
    /// Endpoint that wrote the samples, by id.
    pub writer: String,
    /// Number of samples of the measurement written before the reader had joined. They are no losses.
    pub before: u64,
    /// Number of these that the reader received nevertheless: kept for late readers, or written while it joined.
    pub before_delivered: u64,
    /// Number of samples of the warm-up that it received.
    pub warm_up_delivered: u64,
    /// Counts of the samples written since the reader had joined. `corrupt` and the order are those of all samples.
    pub counted: DeliveryCounts,
}

impl LateFlow {
    /// Returns the number of samples written before the reader had joined that it missed.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.before.saturating_sub(self.before_delivered)
    }
}

/// Flow of another reader around a late join. Periods: before the join, from its begin for a third of the measurement, and
/// after that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinCost {
    /// Name of its stream.
    pub name: String,
    /// Endpoint that wrote the samples, by id.
    pub writer: String,
    /// Endpoint that received them, by id.
    pub reader: String,
    /// Longest time between two samples in each period, in ns. It belongs to the period in which it ends.
    pub longest_gap_ns: [u64; 3],
    /// Delivered rate in each period, in samples/s.
    pub delivered_sps: [f64; 3],
    /// 99 % quantile of the service times in each period, in ns, of the windows that lie in it. Absent without service
    /// times, or if a period has no window of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_p99_ns: Option<[f64; 3]>,
}
