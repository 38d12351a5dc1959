//! Samples in flight around a ring.

use std::ops::RangeInclusive;

use crate::{
    factors::{Factors, table::Factor, topology::Topology, value::Value, values::FactorValues},
    syntax::{
        one_or_many::OneOrMany,
        spanned_error::{PlanError, SpannedError},
    },
};

/// Maximum number of samples in flight. Each of them may have a buffer in every node.
pub const MAX_IN_FLIGHT: u32 = 1000;
/// Valid number of samples in flight.
const RANGE: RangeInclusive<u32> = 1..=MAX_IN_FLIGHT;

/// Rejects numbers out of range, and several samples in flight where only one can be.
pub(crate) fn check(_: &Factor, values: &OneOrMany<Value>, all: &FactorValues) -> Result<(), SpannedError> {
    let topologies: OneOrMany<Topology> = all.all("topology");
    for in_flight in values.typed::<u32>().0.iter().filter(|in_flight| *in_flight.get() != 1) {
        let number = *in_flight.get();
        let refused =
            |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(in_flight.span()));
        if !RANGE.contains(&number) {
            return refused(
                format!("`in_flight = {number}` is out of range"),
                "use 1 to 1000 samples in flight",
            );
        }
        if all.has_stream() {
            let words = "`in_flight` is about rings, and only the workload `latency` has them".to_owned();
            return refused(words, "use `ddsmark latency --topology ring-2 --in-flight N`");
        }
        let mut others = topologies.values().filter(|topology| !matches!(topology, Topology::Ring { .. }));
        let other = others.next().copied().or((topologies.0.is_empty()).then_some(Topology::PAIR));
        if let Some(other) = other {
            let words = format!("`topology = \"{other}\"` has one sample in flight, not {number}");
            return refused(words, "use rings only: `ring-2` has the traffic of a pair, with two hops");
        }
        if all.contains("all_readers_echo", &true.into()) {
            let words = "a ring has no readers that echo to node 1".to_owned();
            return refused(words, "remove `all_readers_echo` or `in_flight`");
        }
    }
    Ok(())
}

impl Factors {
    /// Returns whether several samples are in flight around a ring.
    #[must_use]
    pub const fn is_pipelined(&self) -> bool {
        self.in_flight.is_some()
    }
}
