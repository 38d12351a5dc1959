//! Delay between the measure request and the start of a schedule.

/// Minimum delay in ns. It gives both agents time to receive their requests, one after the other.
const LEAD_NS: u64 = 250_000_000;
/// Multiple of the time that both agents took to answer the warm-up request, which takes the same path: on a busy
/// host they need a longer delay. One request samples how long threads wait for a core; the next one may wait several
/// times as long.
const LEAD_ANSWERS: u64 = 4;
/// Maximum delay in ns. A host that needs more has no core to keep a schedule, and the run fails with an error about
/// that.
const MAX_LEAD_NS: u64 = 1_000_000_000;

/// Returns the delay in ns between request and start, given the time that the agents took to answer the warm-up
/// request.
pub(crate) fn lead_ns(answered_ns: u64) -> u64 {
    answered_ns.saturating_mul(LEAD_ANSWERS).clamp(LEAD_NS, MAX_LEAD_NS)
}

#[cfg(test)]
mod tests {
    use super::{LEAD_NS, MAX_LEAD_NS, lead_ns};

    #[test]
    fn a_plan_begins_later_where_agents_are_slow_to_answer_and_never_much_later() {
        assert_eq!([0, 1_000_000, 60_000_000].map(lead_ns), [LEAD_NS; 3]);
        assert_eq!(lead_ns(100_000_000), 400_000_000);
        assert_eq!([400_000_000, u64::MAX].map(lead_ns), [MAX_LEAD_NS; 2]);
    }
}
