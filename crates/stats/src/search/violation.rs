//! Violation ratio of a trial: the share of its schedule that violates the goals.

use crate::slope::slope_interval;

/// Tolerated delay at the end of a trial: this fraction of its duration ...
const TAIL: u64 = 1000;
/// ... and at least this long, because a thread may have to wait for its core.
const LEAST_TAIL_NS: u64 = 1_000_000;

/// Sample counts, delay and send lag of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialOutcome {
    /// Duration of the schedule in ns.
    pub duration_ns: u64,
    /// Number of scheduled samples.
    pub planned: u64,
    /// Number of scheduled samples not tried before the end of the schedule.
    pub unsent: u64,
    /// Number of distinct samples delivered, including the drain.
    pub delivered: u64,
    /// Delay in ns from the end of the schedule to the last arrival, minus the shortest service time. Reliable
    /// flows only.
    pub late_ns: Option<u64>,
    /// Times and the median send lags around them, both in ns.
    pub send_lag: Vec<(f64, f64)>,
}

impl TrialOutcome {
    /// Returns the tolerated delay in ns at the end of the trial, for the writer and for the last arrival: a
    /// thousandth of the duration, at least 1 ms. A flow overloaded by more than that share exceeds it.
    #[must_use]
    pub fn tail_ns(&self) -> u64 {
        (self.duration_ns / TAIL).max(LEAST_TAIL_NS)
    }

    /// Returns the number of untried samples that are tolerated because they were due in the tail.
    fn excused(&self) -> u64 {
        let due = u128::from(self.planned) * u128::from(self.tail_ns()) / u128::from(self.duration_ns.max(1));
        self.unsent.min(u64::try_from(due).unwrap_or(u64::MAX))
    }

    /// Returns the violation ratio: the share of scheduled samples not tried, not accepted, lost or not delivered
    /// when the drain ended. For reliable flows, adds the intolerable delay of the last arrival as a share of the
    /// duration. At least the share by which the writer fell behind its schedule.
    #[must_use]
    pub fn violation(&self) -> f64 {
        let late_ns = self.late_ns.map_or(0, |late_ns| late_ns.saturating_sub(self.tail_ns()));
        let late = late_ns as f64 / self.duration_ns.max(1) as f64;
        (self.missing(self.delivered) + late).max(self.falls_behind()).min(1.0)
    }

    /// Returns the violation ratio with a deadline. `in_time` is the number of samples that met it, from their
    /// intended send times.
    #[must_use]
    pub fn violation_with_deadline(&self, in_time: u64) -> f64 {
        self.missing(in_time).max(self.violation())
    }

    fn missing(&self, good: u64) -> f64 {
        let missing = self.planned.saturating_sub(good).saturating_sub(self.excused());
        if self.planned == 0 { 1.0 } else { missing as f64 / self.planned as f64 }
    }

    /// Returns the growth of the send lag in s per second: the share of the schedule that the writer did not keep.
    /// 0 unless the slope is significantly above 0 (95 %) and the lag grew by more than the tail and one sampling
    /// period.
    #[must_use]
    pub fn falls_behind(&self) -> f64 {
        let (Some(slope), Some(interval)) = (crate::slope(&self.send_lag), slope_interval(&self.send_lag))
        else {
            return 0.0;
        };
        let duration_ns = self.duration_ns as f64;
        let period_ns = duration_ns / self.planned.max(1) as f64;
        let grown_ns = slope * duration_ns;
        let noise_ns = period_ns.max(self.tail_ns() as f64);
        if interval.low > 0.0 && grown_ns > noise_ns { slope.min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn outcome(delivered: u64, unsent: u64) -> TrialOutcome {
        TrialOutcome { duration_ns: SECOND, planned: 10_000, unsent, delivered, ..TrialOutcome::default() }
    }

    /// Returns 20 windows in one second whose lag grows by this share, with alternating noise of `noise_ns`.
    fn lag(share: f64, noise_ns: f64) -> Vec<(f64, f64)> {
        let window = |i: i32| {
            let at = f64::from(i) * 5e7;
            (at, 1e6 + share * at + if i % 2 == 0 { noise_ns } else { -noise_ns })
        };
        (0..20).map(window).collect()
    }

    #[test]
    fn undelivered_sample_is_a_violation() {
        assert!(outcome(10_000, 0).violation().abs() < 1e-12);
        assert!((outcome(9_999, 0).violation() - 1e-4).abs() < 1e-12);
        assert!((outcome(9_000, 500).violation() - 0.099).abs() < 1e-12, "10 of 500 were due in the last ms");
        assert!((TrialOutcome::default().violation() - 1.0).abs() < 1e-12, "nothing planned, nothing shown");
    }

    #[test]
    fn short_lag_at_the_end_is_not_a_violation() {
        assert!(outcome(9_990, 10).violation().abs() < 1e-12);
        assert!(outcome(9_989, 11).violation() > 0.0, "an eleventh sample was due before the tail");
        assert!(outcome(9_989, 10).violation() > 0.0, "one of those that were tried is missing");
    }

    #[test]
    fn a_reliable_flow_that_is_late_is_backlogged() {
        let late = |late_ns| TrialOutcome { late_ns: Some(late_ns), ..outcome(10_000, 0) }.violation();
        assert!(late(1_000_000).abs() < 1e-12);
        assert!((late(51_000_000) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_send_lag_that_surely_grows_is_a_violation() {
        let grows = |share, noise_ns| {
            TrialOutcome { send_lag: lag(share, noise_ns), ..outcome(10_000, 0) }.violation()
        };
        assert!((grows(0.02, 1e5) - 0.02).abs() < 1e-3);
        assert!(grows(0.0, 1e5).abs() < 1e-12, "a noisy level");
        assert!(grows(-0.02, 1e5).abs() < 1e-12, "it falls");
        assert!(grows(0.0009, 0.0).abs() < 1e-12, "surely, but by less than the tail");
    }

    #[test]
    fn a_deadline_counts_what_came_late_too() {
        let all_come = outcome(10_000, 0);
        assert!((all_come.violation_with_deadline(9_950) - 0.005).abs() < 1e-12);
        assert!((outcome(9_000, 0).violation_with_deadline(9_000) - 0.1).abs() < 1e-12);
    }
}
