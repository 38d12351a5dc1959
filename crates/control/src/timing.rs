//! Times that runner, agents and simulations share.

/// Silence after the last sample, in ns, after which a reader assumes that no other sample follows. Echoes that are
/// missing after such a silence are lost.
pub const QUIET_NS: u64 = 200_000_000;
/// Duration of the idle measurement after the drain, in ns.
pub const IDLE_NS: u64 = 50_000_000;

/// Minimum delay of a schedule in ns. It gives both agents time to receive their requests, one after the other.
const LEAD_NS: u64 = 250_000_000;
/// Multiple of the time that both agents took to answer the warm-up request, which takes the same path: on a busy
/// host they need a longer delay. One request samples how long threads wait for a core; the next one may wait several
/// times as long.
const LEAD_ANSWERS: u64 = 4;
/// Maximum delay of a schedule in ns. A host that needs more has no core to keep a schedule, and the run fails with an
/// error about that.
const MAX_LEAD_NS: u64 = 1_000_000_000;

/// Minimum multiple of the median RTT without an echo after which a ping is lost.
const MEDIANS_UNTIL_LOST: u64 = 100;

/// Returns the delay in ns between the measure request and the start of a schedule, given the time that the agents
/// took to answer the warm-up request.
#[must_use]
pub fn lead_ns(answered_ns: u64) -> u64 {
    answered_ns.saturating_mul(LEAD_ANSWERS).clamp(LEAD_NS, MAX_LEAD_NS)
}

/// Returns the time in ns after which a ping without an echo is lost, given its minimum and the median RTT of the warm-up; 0 if
/// there is none.
#[must_use]
pub fn ping_timeout_ns(least_ns: u64, median_ns: u64) -> u64 {
    median_ns.saturating_mul(MEDIANS_UNTIL_LOST).max(least_ns)
}

/// Returns the number of windows of each recorder of a flow. Histograms are large, so several flows share the memory
/// of one.
#[must_use]
pub fn windows_of_flow(windows: u32, flows: usize) -> u32 {
    windows.div_ceil(u32::try_from(flows.max(1)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_agents_delay_the_schedule_up_to_a_limit() {
        assert_eq!([0, 1_000_000, 60_000_000].map(lead_ns), [LEAD_NS; 3]);
        assert_eq!(lead_ns(100_000_000), 400_000_000);
        assert_eq!([400_000_000, u64::MAX].map(lead_ns), [MAX_LEAD_NS; 2]);
    }

    #[test]
    fn ping_timeout_follows_the_median_above_a_minimum() {
        let timeouts = [0, 2_000_000, 3_000_000].map(|median| ping_timeout_ns(200_000_000, median));
        assert_eq!(timeouts, [200_000_000, 200_000_000, 300_000_000]);
        assert_eq!(ping_timeout_ns(0, u64::MAX), u64::MAX);
    }

    #[test]
    fn flows_share_the_windows_of_a_run() {
        assert_eq!([0, 1, 3, 100].map(|flows| windows_of_flow(20, flows)), [20, 20, 7, 1]);
    }
}
