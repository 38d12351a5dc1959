//! Judgement of a trial of a search: one rule for real runs, simulations and calibration.

use experiment::{Flow, GoalKind, SearchGoal};
use hdrhistogram::Histogram;
use recording::operations;
use stats::search::{Goal, TrialOutcome};

use crate::{
    schema::{Run, TrialGoalResult},
    values::system_trial::SystemTrial,
};

/// Number of windows of a trial.
pub const TRIAL_WINDOWS: u32 = 50;

/// Measurements of both processes of a trial with a single flow.
#[derive(Clone, Copy, Debug)]
pub struct TrialLog<'a> {
    /// Duration of the schedule, in ns.
    pub duration_ns: u64,
    /// Whether the flow is reliable: then late delivery is a violation.
    pub reliable: bool,
    /// Number of planned samples.
    pub planned: u64,
    /// Number of planned samples that were not tried before the end of the schedule.
    pub unsent: u64,
    /// Number of distinct samples delivered, including those during the drain.
    pub delivered: u64,
    /// Start of the schedule, in ns.
    pub begin_ns: u64,
    /// Arrival of the last sample, in ns of the same clock.
    pub last_ns: u64,
    /// Minimum time from the start of a write call to the arrival, in ns.
    pub quickest_ns: u64,
    /// Length of a window, in ns.
    pub window_ns: u64,
    /// Send lags, window by window.
    pub send_lag: &'a [Histogram<u64>],
    /// Response times, window by window.
    pub response: &'a [Histogram<u64>],
}

/// Outcome of a trial, before the goals judge it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    /// Values that all goals use.
    pub shown: TrialOutcome,
    /// Number of samples that met the deadline; `None` without a deadline.
    pub in_time: Option<u64>,
    /// Flows of a system; `None` for one flow.
    pub system: Option<SystemTrial>,
}

impl TrialLog<'_> {
    /// Returns the values by which the goals judge this trial.
    #[must_use]
    pub fn outcome(&self, deadline_ns: Option<u64>) -> TrialResult {
        let end_ns = self.begin_ns.saturating_add(self.duration_ns);
        let late_ns = self.last_ns.saturating_sub(end_ns).saturating_sub(self.quickest_ns);
        let window_ns = self.window_ns as f64;
        let windows = self.send_lag.iter().enumerate().filter(|(_, window)| !window.is_empty());
        let send_lag = windows
            .map(|(number, window)| {
                ((number as f64 + 0.5) * window_ns, operations::value_at_quantile(window, 0.5) as f64)
            })
            .collect();
        let shown = TrialOutcome {
            duration_ns: self.duration_ns,
            planned: self.planned,
            unsent: self.unsent,
            delivered: self.delivered,
            late_ns: self.reliable.then_some(late_ns),
            send_lag,
        };
        // accurate to 0.1 %, as all histogram values
        let kept = |deadline_ns| {
            self.response.iter().map(|window| operations::count_up_to(window, deadline_ns)).sum()
        };
        TrialResult { shown, in_time: deadline_ns.map(kept), system: None }
    }
}

impl TrialResult {
    /// Returns the evaluation of a valid run of a system, whose flows `planned` are; `None` if the run has no schedule.
    #[must_use]
    pub fn of_system(run: &Run, planned: &[Flow], duration_ns: u64) -> Option<Self> {
        let (paced, throughput) = (run.paced()?, run.throughput()?);
        let shown = TrialOutcome {
            duration_ns,
            planned: paced.planned,
            unsent: paced.unsent,
            delivered: throughput.delivered,
            ..TrialOutcome::default()
        };
        Some(Self { shown, in_time: None, system: Some(SystemTrial::new(&run.flows, planned)) })
    }

    /// Returns the judgement of each goal, in the order of the goals.
    #[must_use]
    pub fn judge(&self, goals: &[SearchGoal]) -> Vec<TrialGoalResult> {
        let judge = |goal: &SearchGoal| {
            let violation_ratio = match (goal.aim, self.in_time, &self.system) {
                (GoalKind::System, _, Some(system)) => system.excess,
                (GoalKind::Slo, Some(in_time), _) => self.shown.violation_with_deadline(in_time),
                _ => self.shown.violation(),
            };
            TrialGoalResult { aim: goal.aim, violation_ratio, good: violation_ratio <= goal.loss_ratio }
        };
        goals.iter().map(judge).collect()
    }
}

/// Converts a goal of the plan into a goal of [`stats::search`].
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
    use recording::Windows;

    const SECOND: u64 = 1_000_000_000;

    /// A trial of 1 s with 10,000 samples, all delivered. Its lag grows by `lag_share` of the time, and each sample
    /// is `late_ns` late.
    fn trial(reliable: bool, lag_share: f64, late_ns: u64) -> TrialResult {
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
        log.outcome(Some(20_000_000))
    }

    fn ratios(trial: &TrialResult) -> Vec<f64> {
        let usual = Search::default().goals;
        let slo = SearchGoal { aim: GoalKind::Slo, deadline_ns: Some(20_000_000), ..usual[0].clone() };
        let goals = [usual, vec![slo]].concat();
        trial.judge(&goals).iter().map(|judged| judged.violation_ratio).collect()
    }

    #[test]
    fn each_part_of_the_rule_is_a_violation_alone() {
        assert!(ratios(&trial(true, 0.0, 0)).iter().all(|ratio| ratio.abs() < 1e-12));
        // 51 ms late, of which 1 ms is allowed; and no sample meets the deadline of 20 ms
        let late = ratios(&trial(true, 0.0, 51_000_000));
        assert!((late[0] - 0.05).abs() < 1e-3 && (late[1] - 0.05).abs() < 1e-3, "{late:?}");
        assert!((late[2] - 1.0).abs() < 1e-12, "{late:?}");
        // best effort: lateness is not a loss, but the deadline still counts
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
