//! Progress and warnings of search goals.

use experiment::{Factors, GoalKind, Scale, Search, SearchGoal};
use results::{
    GoalRecord, SearchBound, SearchRecord, SearchState, TrialRecord, Warning, WarningKind, format_value,
    scale_at, stats_goal,
};
use stats::search::{Bound, GoalOutcome};

/// Minimum number of full trials that contradict the bounds, and their minimum share, for a warning that the
/// sustained rate changes from trial to trial. A single one may be chance.
const CONTRADICTING: (u32, f64) = (2, 0.1);

/// Returns the deadline goal with the highest minimum rate, and that rate in samples/s: at a lower rate its trials
/// have too few samples.
pub(super) fn least_judged(plan: &Search) -> Option<(&SearchGoal, f64)> {
    let by_quantile = plan.goals.iter().filter(|goal| goal.aim == GoalKind::Slo);
    by_quantile
        .map(|goal| (goal, stats_goal(goal).least_sps()))
        .max_by(|left, right| left.1.total_cmp(&right.1))
}

/// Writes the current outcome of each goal into the record.
pub(super) fn update(
    record: &mut SearchRecord,
    search: &stats::search::Search,
    plan: &Search,
    factors: &Factors,
) {
    let bound = |bound: Bound| SearchBound {
        load_sps: bound.load_sps,
        scale: scale_at(factors, bound.load_sps).map(Scale::factor),
        trials: bound.trials as u32,
    };
    let goals = plan.goals.iter().enumerate().map(|(index, goal)| {
        let (state, lower, upper, conditional_sps) = match search.outcome(index) {
            GoalOutcome::Regular { lower, upper, throughput_sps } => {
                (SearchState::Found, Some(lower), Some(upper), Some(throughput_sps))
            }
            GoalOutcome::FloorFails { upper } => (SearchState::Floor, None, Some(upper), None),
            GoalOutcome::CeilingHolds { lower, throughput_sps } => {
                (SearchState::Ceiling, Some(lower), None, Some(throughput_sps))
            }
            GoalOutcome::Unfinished { lower, upper } => (SearchState::Budget, lower, upper, None),
        };
        let full = || record.trials.iter().filter(|trial| trial.duration_ns >= goal.final_trial_ns);
        GoalRecord {
            aim: goal.aim,
            deadline_ns: goal.deadline_ns,
            state,
            contradicting: full().filter(|trial| contradicts(trial, index, lower, upper)).count() as u32,
            limited_by_sender: upper.is_some_and(|upper| is_the_senders(&record.trials, index, upper)),
            lower: lower.map(bound),
            upper: upper.map(bound),
            conditional_sps,
            fails_first: upper.and_then(|upper| fails_first(&record.trials, index, upper)),
        }
    });
    let goals = goals.collect();
    record.goals = goals;
}

/// Returns the bad trials of a goal at its upper bound.
fn bad_at(trials: &[TrialRecord], goal: usize, upper: Bound) -> impl Iterator<Item = &TrialRecord> {
    trials
        .iter()
        .filter(move |trial| trial.load_sps.to_bits() == upper.load_sps.to_bits())
        .filter(move |trial| trial.judged.get(goal).is_some_and(|judged| !judged.good))
}

/// Returns the flow, or group of equal flows, that is the worst in most of the bad trials at the upper bound; of several, the one that
/// exceeded its limit first. `None` for one flow.
fn fails_first(trials: &[TrialRecord], goal: usize, upper: Bound) -> Option<String> {
    let mut found: Vec<(&str, u32)> = Vec::new();
    for worst in bad_at(trials, goal, upper).filter_map(|trial| trial.worst.as_ref()) {
        match found.iter_mut().find(|(row, _)| *row == worst.row()) {
            Some((_, times)) => *times += 1,
            None => found.push((worst.row(), 1)),
        }
    }
    // Of equal ones, `max_by_key` returns the last.
    found.iter().rev().max_by_key(|(_, times)| *times).map(|(row, _)| (*row).to_owned())
}

/// Returns whether a trial contradicts the bounds of a goal.
fn contradicts(trial: &TrialRecord, goal: usize, lower: Option<Bound>, upper: Option<Bound>) -> bool {
    let Some(judged) = trial.judged.get(goal) else { return false };
    let too_much = upper.is_some_and(|upper| trial.load_sps >= upper.load_sps);
    let sustained = lower.is_some_and(|lower| trial.load_sps <= lower.load_sps);
    if judged.good { too_much } else { sustained }
}

/// Returns whether most failed trials at the upper bound are limited by the sender.
fn is_the_senders(trials: &[TrialRecord], goal: usize, upper: Bound) -> bool {
    let bad: Vec<&TrialRecord> = bad_at(trials, goal, upper).collect();
    2 * bad.iter().filter(|trial| trial.limited_by_sender).count() > bad.len()
}

/// Returns warnings about the limits of the outcome.
pub(super) fn warnings(record: &SearchRecord, plan: &Search) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind, text: String| warnings.push(Warning::new(kind, text));
    for (goal, planned) in record.goals.iter().zip(&plan.goals) {
        let aim = goal.aim;
        let rate = |bound: &Option<SearchBound>| bound.as_ref().map_or(0.0, |bound| bound.load_sps);
        // A load in the terms of what is searched: a rate, or a scale.
        let noun = if aim == GoalKind::System { "scale" } else { "rate" };
        let shown = |bound: &Option<SearchBound>| match bound.as_ref().and_then(|bound| bound.scale) {
            Some(scale) => format_value(scale),
            None => format!("{}/s", format_value(rate(bound))),
        };
        match goal.state {
            SearchState::Found => {}
            SearchState::Floor => {
                let lowest = rate(&goal.upper);
                let shown = shown(&goal.upper);
                let below = match least_judged(plan) {
                    Some((judge, sps)) if sps >= lowest => {
                        format!("; of less a trial has too few samples for `{}`", judge.aim)
                    }
                    _ => String::new(),
                };
                warn(
                    WarningKind::Search,
                    format!(
                        "{aim}: even the lowest {noun}, {shown}, is not sustained: no {noun} is known that is{below}"
                    ),
                );
            }
            SearchState::Ceiling => warn(
                WarningKind::Search,
                format!(
                    "{aim}: the highest {noun} that was tried, {}, is sustained: more may be",
                    shown(&goal.lower)
                ),
            ),
            SearchState::Budget => warn(
                WarningKind::Search,
                format!(
                    "{aim}: the budget was over before the bounds were close enough; give `budget` under `[search]` more"
                ),
            ),
        }
        let full = record.trials.iter().filter(|trial| trial.duration_ns >= planned.final_trial_ns).count();
        let many = goal.contradicting >= CONTRADICTING.0
            && f64::from(goal.contradicting) >= CONTRADICTING.1 * full as f64;
        if many {
            warn(
                WarningKind::Search,
                format!(
                    "{aim}: {} of {full} full trials contradict the bounds: what is sustained changes from trial to trial",
                    goal.contradicting
                ),
            );
        }
        if let Some(lower) = goal.lower.as_ref().filter(|_| goal.state == SearchState::Found)
            && !stats_goal(planned).resolves(lower.load_sps)
        {
            warn(
                WarningKind::Search,
                format!(
                    "{aim}: a trial at {}/s has fewer samples than the {} that show whether its share of losses is kept; \
                     give `final_trial` under `[search]` more",
                    format_value(lower.load_sps),
                    stats_goal(planned).least_samples()
                ),
            );
        }
        if goal.limited_by_sender {
            warn(
                WarningKind::SenderLimited,
                format!(
                    "{aim}: limited by the sender: at {}/s the thread that writes had no time left, and nothing held it \
                     up. It is what this host can do, and need not be all that the middleware can",
                    format_value(rate(&goal.upper))
                ),
            );
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use results::{TrialGoalResult, WorstFlow};

    use super::*;

    #[test]
    fn only_a_deadline_needs_a_minimum_rate() {
        let mut plan = Search::default();
        assert_eq!(least_judged(&plan), None);
        let slo = SearchGoal {
            aim: GoalKind::Slo,
            deadline_ns: Some(1_000_000),
            loss_ratio: 0.001,
            ..plan.goals[0].clone()
        };
        plan.goals.push(slo.clone());
        assert_eq!(least_judged(&plan), Some((&slo, 599.0)));

        let floor = |load_sps| SearchRecord {
            ended: true,
            unpaced: None,
            floor_sps: Some(load_sps),
            ceiling_sps: Some(10.0 * load_sps),
            goals: vec![GoalRecord {
                aim: GoalKind::Ndr,
                deadline_ns: None,
                state: SearchState::Floor,
                lower: None,
                upper: Some(SearchBound { load_sps, scale: None, trials: 2 }),
                conditional_sps: None,
                fails_first: None,
                contradicting: 0,
                limited_by_sender: false,
            }],
            trials: Vec::new(),
            took_ns: 0,
        };
        let warning = |load_sps, plan: &Search| warnings(&floor(load_sps), plan).remove(0).text;
        assert!(warning(599.0, &plan).ends_with("is; of less a trial has too few samples for `slo`"));
        assert!(warning(5_000.0, &plan).ends_with("no rate is known that is"));
        let mut system = floor(5.0);
        system.goals[0].aim = GoalKind::System;
        system.goals[0].upper = Some(SearchBound { load_sps: 5.0, scale: Some(0.01), trials: 2 });
        let text = warnings(&system, &Search::default()).remove(0).text;
        assert_eq!(text, "system: even the lowest scale, 0.010, is not sustained: no scale is known that is");
        assert!(warning(599.0, &Search::default()).ends_with("no rate is known that is"));
    }

    #[test]
    fn flow_that_fails_first_is_the_worst_in_most_bad_trials_at_the_upper_bound() {
        let trial = |load_sps, worst: Option<(&str, Option<&str>)>, good| TrialRecord {
            load_sps,
            scale: Some(load_sps / 100.0),
            duration_ns: 1,
            planned: 1,
            unsent: 0,
            delivered: 1,
            lost: 0,
            undelivered: 0,
            late_ns: None,
            falls_behind: 0.0,
            limited_by_sender: false,
            worst: worst.map(|(flow, group)| WorstFlow {
                flow: flow.to_owned(),
                group: group.map(str::to_owned),
                reader: "reader".to_owned(),
                missed_pct: 1.0,
                limit_pct: 0.1,
            }),
            judged: vec![TrialGoalResult { aim: GoalKind::System, violation_ratio: 0.0, good }],
            repeats: None,
        };
        let small = |index: &'static str| Some((index, Some("small")));
        let upper = Bound { load_sps: 200.0, trials: 4 };
        let trials = [
            trial(400.0, Some(("lidar", None)), false),
            trial(200.0, Some(("camera", None)), false),
            trial(200.0, small("small-1"), false),
            trial(200.0, small("small-7"), false),
            trial(200.0, Some(("camera", None)), true),
            trial(100.0, Some(("camera", None)), true),
        ];
        assert_eq!(fails_first(&trials, 0, upper).as_deref(), Some("small"));
        assert_eq!(fails_first(&trials[..3], 0, upper).as_deref(), Some("camera"), "the first of two");
        assert_eq!(fails_first(&trials[5..], 0, upper), None);
    }
}
