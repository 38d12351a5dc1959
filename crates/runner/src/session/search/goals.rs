//! Progress and warnings of search goals.

use experiment::{GoalKind, Search, SearchGoal};
use results::{
    GoalRecord, SearchBound, SearchRecord, SearchState, TrialRecord, Warning, WarningKind, format_value,
    stats_goal,
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
pub(super) fn update(record: &mut SearchRecord, search: &stats::search::Search, plan: &Search) {
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
        }
    });
    let goals = goals.collect();
    record.goals = goals;
}

fn bound(bound: Bound) -> SearchBound {
    SearchBound { load_sps: bound.load_sps, trials: bound.trials as u32 }
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
    let bad: Vec<&TrialRecord> = trials
        .iter()
        .filter(|trial| trial.load_sps.to_bits() == upper.load_sps.to_bits())
        .filter(|trial| trial.judged.get(goal).is_some_and(|judged| !judged.good))
        .collect();
    2 * bad.iter().filter(|trial| trial.limited_by_sender).count() > bad.len()
}

/// Returns warnings about the limits of the outcome.
pub(super) fn warnings(record: &SearchRecord, plan: &Search) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind, text: String| warnings.push(Warning::new(kind, text));
    for (goal, planned) in record.goals.iter().zip(&plan.goals) {
        let aim = goal.aim;
        let rate = |bound: &Option<SearchBound>| bound.as_ref().map_or(0.0, |bound| bound.load_sps);
        match goal.state {
            SearchState::Found => {}
            SearchState::Floor => {
                let lowest = rate(&goal.upper);
                let shown = format_value(lowest);
                let below = match least_judged(plan) {
                    Some((judge, sps)) if sps >= lowest => {
                        format!("; of less a trial has too few samples for `{}`", judge.aim)
                    }
                    _ => String::new(),
                };
                warn(
                    WarningKind::Search,
                    format!(
                        "{aim}: even the lowest rate, {shown}/s, is not sustained: no rate is known that is{below}"
                    ),
                );
            }
            SearchState::Ceiling => warn(
                WarningKind::Search,
                format!(
                    "{aim}: the highest rate that was tried, {}/s, is sustained: more may be",
                    format_value(rate(&goal.lower))
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
                upper: Some(SearchBound { load_sps, trials: 2 }),
                conditional_sps: None,
                contradicting: 0,
                limited_by_sender: false,
            }],
            trials: Vec::new(),
            took_ns: 0,
        };
        let warning = |load_sps, plan: &Search| warnings(&floor(load_sps), plan).remove(0).text;
        assert!(warning(599.0, &plan).ends_with("is; of less a trial has too few samples for `slo`"));
        assert!(warning(5_000.0, &plan).ends_with("no rate is known that is"));
        assert!(warning(599.0, &Search::default()).ends_with("no rate is known that is"));
    }
}
