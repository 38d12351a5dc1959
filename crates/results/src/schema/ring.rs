//! Ring of a run: its hops, and the time per hop.

use serde::{Deserialize, Serialize};

/// Ring of a run. A sample takes all hops, in this order, back to the first node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ring {
    /// Mean time per hop in ns: mean RTT divided by the number of nodes. It includes the time that a node takes from the
    /// arrival of a sample to its write. Null if no sample returned.
    pub per_hop_mean_ns: Option<f64>,
    /// Median RTT divided by the number of nodes, in ns. Null if the median RTT is.
    pub per_hop_p50_ns: Option<f64>,
    /// Number of samples in flight.
    pub in_flight: u32,
    /// Mean number of samples in flight: the part of their RTTs within `elapsed_ns`, divided by this time (Little's law).
    /// Lost samples do not count.
    pub mean_in_flight: f64,
    /// Time per sample and hop in ns: `elapsed_ns` divided by `returned_in_time` and by the number of nodes. Null if no
    /// sample returned in this time.
    pub per_sample_hop_ns: Option<f64>,
    /// Rate of the samples that returned, in samples/s: `returned_in_time` divided by `elapsed_ns`.
    pub returned_sps: f64,
    /// Time from the first write to the end of the measurement, in ns.
    pub elapsed_ns: u64,
    /// Number of samples that returned within this time.
    pub returned_in_time: u64,
    /// Hops, from that of the first node on. The one-way times of hop N are `hop_N` in the latencies of the run, from
    /// the start of a node's write to the arrival at the next node, for the samples that returned in time.
    pub hops: Vec<Hop>,
}

/// Hop of a ring: the samples that one node sent to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hop {
    /// Endpoint that wrote the samples, by id.
    pub writer: String,
    /// Endpoint that received them, by id.
    pub reader: String,
    /// Number of distinct samples accepted at the writing node.
    pub sent: u64,
    /// Number of distinct samples delivered at the receiving node, late ones included.
    pub delivered: u64,
    /// Number of samples lost on this hop: `sent` minus `delivered`.
    pub lost: u64,
    /// Number of duplicates at the receiving node.
    pub duplicate: u64,
    /// Number of samples that arrived after one that was sent later on this hop.
    pub out_of_order: u64,
    /// Number of write calls of the writing node that timed out or were rejected.
    pub held_writes: u64,
    /// Number of delivered samples that the receiving node did not pass on, because its write was rejected or timed
    /// out. 0 for the last hop.
    pub stopped: u64,
}

impl Hop {
    /// Returns the names of both nodes: `node-1 to node-2`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} to {}", self.writer, self.reader)
    }
}

/// Returns the kind of the one-way times of a hop, by its index from 0.
#[must_use]
pub fn kind_of_hop(index: usize) -> String {
    format!("hop_{}", index + 1)
}
