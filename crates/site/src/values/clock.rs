//! Time: an agent's clock on the clock of the reference process, and the clocks of this process.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use control::MonotonicClock;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Agent's clock on the clock of the reference process, the runner:
/// `reference = monotonic + offset_ns + slope * (monotonic - t0_ns)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Offset at `t0_ns` in ns.
    pub offset_ns: i64,
    /// Drift: ns of the reference per ns of the agent's clock, minus 1.
    pub slope: f64,
    /// Time of the agent's clock at which the offset is valid, in ns.
    pub t0_ns: u64,
    /// Maximum error of a converted time in ns.
    pub error_ns: u64,
}

impl Timeline {
    /// Timeline of an agent that reads the same clock as the reference process.
    pub const IDENTITY: Self = Self { offset_ns: 0, slope: 0.0, t0_ns: 0, error_ns: 0 };

    /// Returns the timeline that follows from the identities of the clocks: the identity if both are known to be the
    /// same clock; `None`, unknown, otherwise.
    #[must_use]
    pub fn between(reference: &MonotonicClock, agents: &MonotonicClock) -> Option<Self> {
        reference.is_same(agents).then_some(Self::IDENTITY)
    }
}

/// Returns the time of this process's monotonic clock, which timestamps samples, in ns.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the time of the wall clock: ns since the Unix epoch.
#[must_use]
pub fn unix_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(boot_id: Option<&str>, time_namespace: Option<&str>) -> MonotonicClock {
        MonotonicClock {
            boot_id: boot_id.map(ToOwned::to_owned),
            time_namespace: time_namespace.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn processes_of_one_host_and_time_namespace_read_one_clock() {
        let own = MonotonicClock::of_this_process();
        assert!(own.boot_id.as_ref().is_some_and(|id| id.len() == 36), "{own:?}");
        assert_eq!(Timeline::between(&own, &MonotonicClock::of_children()), Some(Timeline::IDENTITY));
        // A kernel without time namespaces has one clock.
        let plain = clock(Some("a"), None);
        assert_eq!(Timeline::between(&plain, &plain.clone()), Some(Timeline::IDENTITY));
    }

    #[test]
    fn clock_of_another_boot_or_time_namespace_is_unknown() {
        let reference = clock(Some("a"), Some("time:[1]"));
        for other in [
            clock(Some("b"), Some("time:[1]")),
            clock(Some("a"), Some("time:[2]")),
            clock(Some("a"), None),
            clock(None, Some("time:[1]")),
        ] {
            assert_eq!(Timeline::between(&reference, &other), None, "{other:?}");
        }
        // Two hosts whose boot ids cannot be read may differ.
        let unknown = clock(None, Some("time:[1]"));
        assert_eq!(Timeline::between(&unknown, &unknown.clone()), None);
    }
}
