//! How long after its order a plan begins.

/// A plan begins so long after it is ordered, and no sooner: meanwhile both ends learn of it, one after the other.
const LEAD_NS: u64 = 250_000_000;
/// On a host that is busy both need longer: so many times what they took, in all, to answer the order to warm up, which goes the
/// same way. One order is one look at how long threads wait for a core; the next one may wait several times as long.
const LEAD_ANSWERS: u64 = 4;
/// No plan begins later. Who needs longer has no core to keep a plan on, and the run fails with words about that.
const MAX_LEAD_NS: u64 = 1_000_000_000;

/// How long after its order a plan begins, where the agents took so long to answer another one.
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
