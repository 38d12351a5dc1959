//! Timeline: the monotonic clock of one host, converted to the clock of another.

use serde::{Deserialize, Serialize};

use crate::clock::MonotonicClock;

/// Monotonic clock of a host on the clock of the reference host:
/// `reference = monotonic + offset_ns + slope * (monotonic - t0_ns)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// Offset at `t0_ns` in ns.
    pub offset_ns: i64,
    /// Drift: ns of the reference per ns of the monotonic clock, minus 1.
    pub slope: f64,
    /// Time of the monotonic clock at which the offset is valid, in ns.
    pub t0_ns: u64,
    /// Maximum error of a converted time at `t0_ns`, in ns.
    pub error_ns: u64,
}

impl Timeline {
    /// Timeline of a process that reads the same clock as the reference.
    pub const IDENTITY: Self = Self { offset_ns: 0, slope: 0.0, t0_ns: 0, error_ns: 0 };

    /// Returns the timeline that follows from the identities of the clocks: the identity if both are known to be the same
    /// clock; `None`, unknown, otherwise.
    #[must_use]
    pub fn between(reference: &MonotonicClock, other: &MonotonicClock) -> Option<Self> {
        reference.is_same(other).then_some(Self::IDENTITY)
    }

    /// Returns whether no time changes.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.offset_ns == 0 && self.slope == 0.0
    }

    /// Returns the time of the reference in ns, given a time of the monotonic clock in ns.
    #[inline]
    #[must_use]
    pub fn on_reference(&self, monotonic_ns: u64) -> u64 {
        let distance_ns = monotonic_ns.wrapping_sub(self.t0_ns).cast_signed();
        let drift_ns = (self.slope * distance_ns as f64).round_ties_even() as i64;
        monotonic_ns.wrapping_add_signed(self.offset_ns.wrapping_add(drift_ns))
    }

    /// Returns the time of the monotonic clock in ns, given a time of the reference in ns. It is exact to 1 ns.
    #[must_use]
    pub fn on_monotonic(&self, reference_ns: u64) -> u64 {
        let without_drift_ns = reference_ns.wrapping_sub(self.offset_ns.cast_unsigned());
        let distance_ns = without_drift_ns.wrapping_sub(self.t0_ns).cast_signed();
        // x / (1 + s) = x - x * s / (1 + s): the difference is small, so it is exact.
        let drift_ns = (distance_ns as f64 * (self.slope / (1.0 + self.slope))).round_ties_even() as i64;
        without_drift_ns.wrapping_sub(drift_ns.cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_changes_no_time() {
        for time in [0, 1, 1_000_000_000, u64::MAX / 2] {
            assert_eq!(Timeline::IDENTITY.on_reference(time), time);
            assert_eq!(Timeline::IDENTITY.on_monotonic(time), time);
        }
        assert!(Timeline::IDENTITY.is_identity());
    }

    #[test]
    fn drift_counts_from_the_time_of_the_offset() {
        let timeline = Timeline { offset_ns: -500, slope: 10e-6, t0_ns: 1_000_000_000, error_ns: 7 };
        assert!(!timeline.is_identity());
        assert_eq!(timeline.on_reference(1_000_000_000), 999_999_500);
        assert_eq!(timeline.on_reference(2_000_000_000), 1_999_999_500 + 10_000);
        assert_eq!(timeline.on_reference(0), 0_u64.wrapping_sub(500 + 10_000));
    }

    #[test]
    fn conversions_are_inverse_to_1_ns() {
        for slope in [0.0, 1e-7, -50e-6, 500e-6, -500e-6] {
            for offset_ns in [0, 123_456_789_012_345, -3_000_000_000] {
                let timeline = Timeline { offset_ns, slope, t0_ns: 5_000_000_000, error_ns: 0 };
                for monotonic in [4_000_000_000, 5_000_000_000, 5_000_000_001, 3_605_000_000_000_u64] {
                    let back = timeline.on_monotonic(timeline.on_reference(monotonic));
                    assert!(back.abs_diff(monotonic) <= 1, "{timeline:?} {monotonic} {back}");
                }
            }
        }
    }

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
