//! What a trial showed, as a violation ratio: the share of its plan that did not go as the goals ask.

use crate::slope_interval;

/// Of a trial: a late end of this share is no violation ...
const TAIL: u64 = 1000;
/// ... nor is one of so long: a thread may have to wait for its core.
const LEAST_TAIL_NS: u64 = 1_000_000;

/// What became of the samples of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// How long the plan was.
    pub duration_ns: u64,
    /// Samples of the plan.
    pub planned: u64,
    /// Of these: those that were not tried before the plan's end.
    pub unsent: u64,
    /// Of these: distinct ones that came, also while the flow drained.
    pub delivered: u64,
    /// Of a flow that loses nothing: how long after the plan's end the last one came, less what the quickest one took.
    pub late_ns: Option<u64>,
    /// Time, and the median send lag around it, in ns.
    pub send_lag: Vec<(f64, f64)>,
}

impl Shown {
    /// What the writer may still owe at the end, and how late the last sample may come: a thousandth of the trial, at least
    /// 1 ms. A flow that is overloaded by more than that share owes more.
    #[must_use]
    pub fn tail_ns(&self) -> u64 {
        (self.duration_ns / TAIL).max(LEAST_TAIL_NS)
    }

    /// Samples that were not tried and need not have been: due in the tail.
    fn excused(&self) -> u64 {
        let due = u128::from(self.planned) * u128::from(self.tail_ns()) / u128::from(self.duration_ns.max(1));
        self.unsent.min(u64::try_from(due).unwrap_or(u64::MAX))
    }

    /// The share that did not come: what was not tried, not taken, lost, and not delivered when the drain ended; and of a flow
    /// that loses nothing also the share of the trial by which the last one came late. At least the share of the plan that
    /// the writer did not hold.
    #[must_use]
    pub fn violation(&self) -> f64 {
        let late_ns = self.late_ns.map_or(0, |late_ns| late_ns.saturating_sub(self.tail_ns()));
        let late = late_ns as f64 / self.duration_ns.max(1) as f64;
        (self.missing(self.delivered) + late).max(self.falls_behind()).min(1.0)
    }

    /// The same with a deadline, that so many samples kept, counted from their intended times.
    #[must_use]
    pub fn violation_with_deadline(&self, in_time: u64) -> f64 {
        self.missing(in_time).max(self.violation())
    }

    fn missing(&self, good: u64) -> f64 {
        let missing = self.planned.saturating_sub(good).saturating_sub(self.excused());
        if self.planned == 0 { 1.0 } else { missing as f64 / self.planned as f64 }
    }

    /// By how much the send lag grew each second, in seconds: the share of the plan that was not held. 0 unless it surely grew
    /// (95 %), and over the trial by more than the tail and than the time between two samples.
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

    fn shown(delivered: u64, unsent: u64) -> Shown {
        Shown { duration_ns: SECOND, planned: 10_000, unsent, delivered, ..Shown::default() }
    }

    /// 20 windows in a second with a lag that grows by this share, from one to the next up and down by `noise_ns`.
    fn lag(share: f64, noise_ns: f64) -> Vec<(f64, f64)> {
        let window = |i: i32| {
            let at = f64::from(i) * 5e7;
            (at, 1e6 + share * at + if i % 2 == 0 { noise_ns } else { -noise_ns })
        };
        (0..20).map(window).collect()
    }

    #[test]
    fn what_did_not_come_is_a_violation_whatever_became_of_it() {
        assert!(shown(10_000, 0).violation().abs() < 1e-12);
        assert!((shown(9_999, 0).violation() - 1e-4).abs() < 1e-12);
        assert!((shown(9_000, 500).violation() - 0.099).abs() < 1e-12, "10 of 500 were due in the last ms");
        assert!((Shown::default().violation() - 1.0).abs() < 1e-12, "nothing planned, nothing shown");
    }

    #[test]
    fn a_writer_that_is_late_for_a_moment_at_the_end_violates_nothing() {
        assert!(shown(9_990, 10).violation().abs() < 1e-12);
        assert!(shown(9_989, 11).violation() > 0.0, "an eleventh sample was due before the tail");
        assert!(shown(9_989, 10).violation() > 0.0, "one of those that were tried is missing");
    }

    #[test]
    fn a_reliable_flow_that_is_late_is_backlogged() {
        let late = |late_ns| Shown { late_ns: Some(late_ns), ..shown(10_000, 0) }.violation();
        assert!(late(1_000_000).abs() < 1e-12);
        assert!((late(51_000_000) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_send_lag_that_surely_grows_is_a_violation() {
        let grows =
            |share, noise_ns| Shown { send_lag: lag(share, noise_ns), ..shown(10_000, 0) }.violation();
        assert!((grows(0.02, 1e5) - 0.02).abs() < 1e-3);
        assert!(grows(0.0, 1e5).abs() < 1e-12, "a noisy level");
        assert!(grows(-0.02, 1e5).abs() < 1e-12, "it falls");
        assert!(grows(0.0009, 0.0).abs() < 1e-12, "surely, but by less than the tail");
    }

    #[test]
    fn a_deadline_counts_what_came_late_too() {
        let all_come = shown(10_000, 0);
        assert!((all_come.violation_with_deadline(9_950) - 0.005).abs() < 1e-12);
        assert!((shown(9_000, 0).violation_with_deadline(9_000) - 0.1).abs() < 1e-12);
    }
}
