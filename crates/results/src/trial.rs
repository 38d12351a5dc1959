//! Judgement of a trial of a search, from what both ends recorded: one rule for real, simulated and calibration runs.

use experiment::{Aim, SearchGoal};
use hdrhistogram::Histogram;
use stats::search::{Goal, Shown};

use crate::TrialJudged;

/// Windows of a trial.
pub const TRIAL_WINDOWS: u32 = 50;

/// Records of both ends of a trial, of its only flow.
#[derive(Clone, Copy, Debug)]
pub struct TrialLog<'a> {
    /// Duration of the plan.
    pub duration_ns: u64,
    /// Whether the flow loses nothing: then lateness counts.
    pub reliable: bool,
    /// Samples of the plan.
    pub planned: u64,
    /// Of these: not tried before the plan's end.
    pub unsent: u64,
    /// Of these: distinct ones that came, also while the flow drained.
    pub delivered: u64,
    /// Start of the plan.
    pub begin_ns: u64,
    /// Arrival of the last sample, by the same clock.
    pub last_ns: u64,
    /// The shortest time from the begin of a write to its arrival.
    pub quickest_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Send lags, window by window.
    pub send_lag: &'a [Histogram<u64>],
    /// Times from the intended time to the arrival, window by window.
    pub response: &'a [Histogram<u64>],
}

/// A trial, ready to be judged.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialShown {
    /// Figures that every goal uses.
    pub shown: Shown,
    /// Samples that kept the deadline, if one was asked for.
    pub in_time: Option<u64>,
}

impl TrialLog<'_> {
    /// Returns the figures by which goals judge this trial.
    #[must_use]
    pub fn shown(&self, deadline_ns: Option<u64>) -> TrialShown {
        let end_ns = self.begin_ns.saturating_add(self.duration_ns);
        let late_ns = self.last_ns.saturating_sub(end_ns).saturating_sub(self.quickest_ns);
        let window_ns = self.window_ns as f64;
        let windows = self.send_lag.iter().enumerate().filter(|(_, window)| !window.is_empty());
        let send_lag = windows
            .map(|(number, window)| ((number as f64 + 0.5) * window_ns, window.value_at_quantile(0.5) as f64))
            .collect();
        let shown = Shown {
            duration_ns: self.duration_ns,
            planned: self.planned,
            unsent: self.unsent,
            delivered: self.delivered,
            late_ns: self.reliable.then_some(late_ns),
            send_lag,
        };
        // within 0.1 %, as all of a histogram
        let kept =
            |deadline_ns| self.response.iter().map(|window| window.count_between(0, deadline_ns)).sum();
        TrialShown { shown, in_time: deadline_ns.map(kept) }
    }
}

impl TrialShown {
    /// Returns what each goal says of the trial, in their order.
    #[must_use]
    pub fn judge(&self, goals: &[SearchGoal]) -> Vec<TrialJudged> {
        let judge = |goal: &SearchGoal| {
            let violation_ratio = match (goal.aim, self.in_time) {
                (Aim::Slo, Some(in_time)) => self.shown.violation_with_deadline(in_time),
                _ => self.shown.violation(),
            };
            TrialJudged { aim: goal.aim, violation_ratio, good: violation_ratio <= goal.loss_ratio }
        };
        goals.iter().map(judge).collect()
    }
}

/// Returns a goal as the search takes it.
#[must_use]
pub fn stats_goal(goal: &SearchGoal) -> Goal {
    Goal {
        name: goal.aim.name().to_owned(),
        final_trial_duration_ns: goal.final_trial_ns,
        duration_sum_ns: goal.duration_sum_ns,
        loss_ratio: goal.loss_ratio,
        exceed_ratio: goal.exceed_ratio,
        width: goal.width,
        initial_trial_duration_ns: goal.initial_trial_ns,
    }
}

#[cfg(test)]
mod tests {
    use experiment::Search;

    use super::*;
    use crate::Windows;

    const SECOND: u64 = 1_000_000_000;

    /// A trial of 1 s with 10,000 samples, all delivered; its lag grows by this share of time, and all arrive so late.
    fn trial(reliable: bool, lag_share: f64, late_ns: u64) -> TrialShown {
        let [mut lags, mut responses] = [0, 1].map(|_| {
            let mut windows = Windows::new(TRIAL_WINDOWS, SECOND);
            windows.begin(0);
            windows
        });
        for sample in 0..10_000 {
            let at_ns = sample * SECOND / 10_000;
            lags.record(at_ns, 1_000 + (lag_share * at_ns as f64) as u64);
            responses.record(at_ns, 50_000 + late_ns);
        }
        let log = TrialLog {
            duration_ns: SECOND,
            reliable,
            planned: 10_000,
            unsent: 0,
            delivered: 10_000,
            begin_ns: 7,
            last_ns: 7 + SECOND + 50_000 + late_ns,
            quickest_ns: 50_000,
            window_ns: lags.length_ns(),
            send_lag: lags.histograms(),
            response: responses.histograms(),
        };
        log.shown(Some(20_000_000))
    }

    fn ratios(trial: &TrialShown) -> Vec<f64> {
        let usual = Search::default().goals;
        let slo = SearchGoal { aim: Aim::Slo, deadline_ns: Some(20_000_000), ..usual[0].clone() };
        let goals = [usual, vec![slo]].concat();
        trial.judge(&goals).iter().map(|judged| judged.violation_ratio).collect()
    }

    #[test]
    fn each_part_of_the_rule_is_a_violation_alone() {
        assert!(ratios(&trial(true, 0.0, 0)).iter().all(|ratio| ratio.abs() < 1e-12));
        // 51 ms late, of which 1 ms is the tail; and none keeps the deadline of 20 ms
        let late = ratios(&trial(true, 0.0, 51_000_000));
        assert!((late[0] - 0.05).abs() < 1e-3 && (late[1] - 0.05).abs() < 1e-3, "{late:?}");
        assert!((late[2] - 1.0).abs() < 1e-12, "{late:?}");
        // lateness is no loss where samples may be lost; the deadline counts all the same
        let best_effort = ratios(&trial(false, 0.0, 51_000_000));
        assert!(best_effort[0].abs() < 1e-12 && (best_effort[2] - 1.0).abs() < 1e-12, "{best_effort:?}");
        let behind = ratios(&trial(true, 0.02, 0));
        assert!((behind[0] - 0.02).abs() < 1e-3, "{behind:?}");
    }

    #[test]
    fn goals_are_those_of_stats_unless_something_is_written() {
        let usual: Vec<Goal> = Search::default().goals.iter().map(stats_goal).collect();
        assert_eq!(usual, [Goal::ndr(), Goal::pdr()]);
    }
}
