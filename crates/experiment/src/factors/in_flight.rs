//! Samples in flight around a ring.

use std::ops::RangeInclusive;

use crate::{
    factors::{
        Factors,
        table::{Factor, out_of_range},
        topology::Topology,
        value::Value,
        values::FactorValues,
    },
    syntax::spanned_error::{PlanError, fault},
};

/// Maximum number of samples in flight. Each of them may have a buffer in every node.
pub const MAX_IN_FLIGHT: u32 = 1000;
/// Valid number of samples in flight.
const RANGE: RangeInclusive<u32> = 1..=MAX_IN_FLIGHT;

/// Rejects numbers out of range, and several samples in flight where only one can be.
pub(crate) fn check(row: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let number: u32 = value.to();
    if number == 1 {
        return None;
    }
    if !RANGE.contains(&number) {
        return out_of_range(row, number, "use 1 to 1000 samples in flight");
    }
    if all.has_stream() {
        let words = "`in_flight` is about rings, and only the workload `latency` has them";
        return fault(words, "use `ddsmark latency --topology ring-2 --in-flight N`");
    }
    let topologies = all.all::<Topology>("topology");
    if let Some(other) = topologies.values().find(|topology| !matches!(topology, Topology::Ring { .. })) {
        let words = format!("`topology = \"{other}\"` has one sample in flight, not {number}");
        return fault(words, "use rings only: `ring-2` has the traffic of a pair, with two hops");
    }
    if all.contains("all_readers_echo", &true.into()) {
        let words = "a ring has no readers that echo to node 1";
        return fault(words, "remove `all_readers_echo` or `in_flight`");
    }
    None
}

impl Factors {
    /// Returns whether several samples are in flight around a ring.
    #[must_use]
    pub const fn is_pipelined(&self) -> bool {
        self.in_flight.is_some()
    }
}
