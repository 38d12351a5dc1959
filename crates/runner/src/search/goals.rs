//! Goals: as `stats` has them, what they say of a trial, and how far they have come.

use experiment::{Aim, Search, SearchGoal};
use results::{
    GoalRecord, SearchBound, SearchRecord, SearchState, TrialJudged, TrialRecord, Warning, WarningKind,
};
use stats::search::{Bound, Goal, Outcome};

use super::trial::Measured;

/// With at least so many full trials against the bounds, and this share of all, a goal's rate is said to change from trial to
/// trial. One may be luck.
const CONTRADICTING: (u32, f64) = (2, 0.1);

/// A goal in the words of `stats`.
pub(super) fn stats_goal(goal: &SearchGoal) -> Goal {
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

/// What each goal says of a trial.
pub(super) fn judge(measured: &Measured, plan: &Search) -> Vec<TrialJudged> {
    let judge = |goal: &SearchGoal| {
        let violation_ratio = match (goal.aim, measured.in_time) {
            (Aim::Slo, Some(in_time)) => measured.shown.violation_with_deadline(in_time),
            _ => measured.shown.violation(),
        };
        TrialJudged { aim: goal.aim, violation_ratio, good: violation_ratio <= goal.loss_ratio }
    };
    plan.goals.iter().map(judge).collect()
}

/// Puts what is known now into the record.
pub(super) fn update(record: &mut SearchRecord, search: &stats::search::Search, plan: &Search) {
    let goals = plan.goals.iter().enumerate().map(|(index, goal)| {
        let (state, lower, upper, conditional_sps) = match search.outcome(index) {
            Outcome::Regular { lower, upper, throughput_sps } => {
                (SearchState::Found, Some(lower), Some(upper), Some(throughput_sps))
            }
            Outcome::FloorFails { upper } => (SearchState::Floor, None, Some(upper), None),
            Outcome::CeilingHolds { lower, throughput_sps } => {
                (SearchState::Ceiling, Some(lower), None, Some(throughput_sps))
            }
            Outcome::Unfinished { lower, upper } => (SearchState::Budget, lower, upper, None),
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

/// Whether a trial says the contrary of the bounds of this goal.
fn contradicts(trial: &TrialRecord, goal: usize, lower: Option<Bound>, upper: Option<Bound>) -> bool {
    let Some(judged) = trial.judged.get(goal) else { return false };
    let too_much = upper.is_some_and(|upper| trial.load_sps >= upper.load_sps);
    let sustained = lower.is_some_and(|lower| trial.load_sps <= lower.load_sps);
    if judged.good { too_much } else { sustained }
}

/// Whether the bad trials at the upper bound are limited by the sender, most of them.
fn is_the_senders(trials: &[TrialRecord], goal: usize, upper: Bound) -> bool {
    let bad: Vec<&TrialRecord> = trials
        .iter()
        .filter(|trial| trial.load_sps.to_bits() == upper.load_sps.to_bits())
        .filter(|trial| trial.judged.get(goal).is_some_and(|judged| !judged.good))
        .collect();
    2 * bad.iter().filter(|trial| trial.limited_by_sender).count() > bad.len()
}

/// What limits the outcome, in words.
pub(super) fn warnings(record: &SearchRecord, plan: &Search) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind, text: String| warnings.push(Warning { kind, text });
    for (goal, asked) in record.goals.iter().zip(&plan.goals) {
        let aim = goal.aim;
        let rate = |bound: &Option<SearchBound>| bound.as_ref().map_or(0.0, |bound| bound.load_sps);
        match goal.state {
            SearchState::Found => {}
            SearchState::Floor => warn(
                WarningKind::Search,
                format!(
                    "{aim}: even the lowest rate, {:.0}/s, is not sustained: no rate is known that is",
                    rate(&goal.upper)
                ),
            ),
            SearchState::Ceiling => warn(
                WarningKind::Search,
                format!(
                    "{aim}: the highest rate that was tried, {:.0}/s, is sustained: more may be",
                    rate(&goal.lower)
                ),
            ),
            SearchState::Budget => warn(
                WarningKind::Search,
                format!(
                    "{aim}: the budget was over before the bounds were close enough; give `budget` under `[search]` more"
                ),
            ),
        }
        let full = record.trials.iter().filter(|trial| trial.duration_ns >= asked.final_trial_ns).count();
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
            && !stats_goal(asked).resolves(lower.load_sps)
        {
            warn(
                WarningKind::Search,
                format!(
                    "{aim}: a trial at {:.0}/s has too few samples for its share of losses: there it asks for none",
                    lower.load_sps
                ),
            );
        }
        if goal.limited_by_sender {
            warn(
                WarningKind::SenderLimited,
                format!(
                    "{aim}: limited by the sender: at {:.0}/s the writer's process had no time left, and nothing held it \
                     up. It is what this host can do, and need not be all that the middleware can",
                    rate(&goal.upper)
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
    fn goals_are_those_of_stats_unless_something_is_written() {
        let usual: Vec<Goal> = Search::default().goals.iter().map(stats_goal).collect();
        assert_eq!(usual, [Goal::ndr(), Goal::pdr()]);
    }
}
