//! The workload `search`: which rate is looked for, as written and as meant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cell, PlanError, Refusal, Workload,
    factors::named,
    many::{At, Many},
    units::{Percent, Time},
    written::Written,
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const MINUTE: u64 = 60 * SECOND;
/// A search takes about so many duration sums in trials, and makes about so many: see `docs/explain/search.md`.
const TYPICAL_SUMS: u64 = 5;
const TYPICAL_TRIALS: u64 = 27;
/// Without a budget it may take so many times the longest duration sum, and no less than this.
const BUDGET_SUMS: u64 = 40;
const LEAST_BUDGET_NS: u64 = 2 * MINUTE;

/// What a rate must keep to be sustained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// Nothing is lost: the non-drop rate.
    Ndr,
    /// Little is lost: the partial drop rate.
    Pdr,
    /// Little comes later than a deadline: the service level objective.
    Slo,
}

named!(Aim { Ndr = "ndr", Pdr = "pdr", Slo = "slo" });

/// How the highest rates that are sustained are searched for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// What for. Every trial counts for all of them.
    pub goals: Vec<SearchGoal>,
    /// What one search may take, from the begin of its first trial.
    pub budget_ns: u64,
}

/// A goal, in the words of MLRsearch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchGoal {
    /// What it asks.
    pub aim: Aim,
    /// Of `slo`: from the intended time of a sample to its arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// The duration of trials that count in full.
    pub final_trial_ns: u64,
    /// So much of such trials is enough to judge a rate.
    pub duration_sum_ns: u64,
    /// The duration of the first, coarse trials.
    pub initial_trial_ns: u64,
    /// A trial with a larger violation ratio than this is a bad one.
    pub loss_ratio: f64,
    /// This share of the trials, by duration, may be bad at a rate that is sustained.
    pub exceed_ratio: f64,
    /// How far the two bounds may lie apart, relative to the upper one.
    pub width: f64,
}

/// What is searched for, and how exactly. The values are those of every goal, unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenSearch {
    /// One or several: `ndr`, `pdr`, `slo`. Without it `ndr` and `pdr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goals: Option<Many<Aim>>,
    /// Of `slo`, which needs one: how long after its intended time a sample may come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<At<Time>>,
    /// Trials as long as RFC 2544 has them: one of `60s` judges a rate, and none may be bad.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<At<bool>>,
    /// How far the two bounds may lie apart, relative to the upper one. Without it `1%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<At<Percent>>,
    /// Of `pdr`: the share of the samples that may be lost. Without it `0.5%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<At<Percent>>,
    /// Of `slo`: the share of the samples that may miss the deadline. Without it `0.1%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_ratio: Option<At<Percent>>,
    /// The share of the trials at a rate, by duration, that may be bad. Without it `50%`, where it is strict `0%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceed_ratio: Option<At<Percent>>,
    /// The first, coarse trials. Without it `1s`, or as `final_trial` where that is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_trial: Option<At<Time>>,
    /// Trials that count in full. Without it `5s`, where it is strict `60s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_trial: Option<At<Time>>,
    /// So much of such trials is enough to judge a rate. Without it three times `final_trial`, where it is strict once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_sum: Option<At<Time>>,
    /// What one search may take. Without it 40 times `duration_sum`, at least `2min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<At<Time>>,
}

impl Search {
    /// What one takes, about.
    #[must_use]
    pub fn expected_ns(&self, warm_up_ns: u64, overhead_ns: u64) -> u64 {
        let sum_ns = self.goals.iter().map(|goal| goal.duration_sum_ns).max().unwrap_or_default();
        let each_ns = warm_up_ns.saturating_add(overhead_ns);
        let all_ns =
            sum_ns.saturating_mul(TYPICAL_SUMS).saturating_add(each_ns.saturating_mul(TYPICAL_TRIALS));
        all_ns.min(self.budget_ns)
    }
}

impl Default for Search {
    fn default() -> Self {
        WrittenSearch::default().plan().expect("without values nothing can be wrong")
    }
}

impl Written {
    /// The search as meant, where a cell searches.
    pub(crate) fn searches(&self, cells: &[Cell]) -> Result<Option<Search>, Refusal> {
        let some = cells.iter().any(|cell| cell.factors.workload == Workload::Search);
        match &self.search {
            Some(written) if some => written.get().plan().map(Some),
            Some(written) => {
                let words = "`[search]` says nothing without the workload `search`".to_owned();
                let hint = "add `search` to `workload`, or leave this out";
                Err(PlanError::Contradiction { words, hint }.at(written.span()))
            }
            None => Ok(some.then(Search::default)),
        }
    }
}

impl WrittenSearch {
    /// As meant.
    pub(crate) fn plan(&self) -> Result<Search, Refusal> {
        let strict = self.strict.as_ref().is_some_and(|strict| *strict.get());
        let ns = |time: &Option<At<Time>>, default| time.as_ref().map_or(default, |time| time.get().0);
        let final_trial_ns = ns(&self.final_trial, if strict { MINUTE } else { 5 * SECOND });
        let initial_trial_ns = ns(&self.initial_trial, SECOND.min(final_trial_ns));
        let sum_ns = final_trial_ns.saturating_mul(if strict { 1 } else { 3 });
        let duration_sum_ns = ns(&self.duration_sum, sum_ns);
        let budget_ns = ns(&self.budget, duration_sum_ns.saturating_mul(BUDGET_SUMS).max(LEAST_BUDGET_NS));
        for (what, time, range, least, most) in [
            ("a final trial", &self.final_trial, "20 ms to 1 hour", 20 * MS, 60 * MINUTE),
            ("an initial trial", &self.initial_trial, "20 ms to 1 hour", 20 * MS, 60 * MINUTE),
            ("a duration sum", &self.duration_sum, "20 ms to 10 hours", 20 * MS, 600 * MINUTE),
            ("the budget of a search", &self.budget, "1 s to 24 hours", SECOND, 1440 * MINUTE),
            ("the deadline", &self.deadline, "1 µs to 1 hour", 1_000, 60 * MINUTE),
        ] {
            if let Some(time) = time.as_ref().filter(|time| !(least..=most).contains(&time.get().0)) {
                return Err(PlanError::Time { what, ns: time.get().0, range }.at(time.span()));
            }
        }
        let wrong = |words: String, hint, at| PlanError::Contradiction { words, hint }.at(at);
        let place = |time: &Option<At<Time>>| time.as_ref().map_or(0..0, At::span);
        if initial_trial_ns > final_trial_ns {
            let words = format!("initial trials of {} are longer than final ones", Time(initial_trial_ns));
            let hint = "give `initial_trial` less, or `final_trial` more";
            return Err(wrong(words, hint, place(&self.initial_trial)));
        }
        if duration_sum_ns < final_trial_ns {
            let words = format!("a duration sum of {} is shorter than a final trial", Time(duration_sum_ns));
            let hint = "give `duration_sum` more, or `final_trial` less";
            return Err(wrong(words, hint, place(&self.duration_sum)));
        }
        let aims = self.goals.clone().unwrap_or_else(|| Many::unwritten([Aim::Ndr, Aim::Pdr]));
        crate::matrix::all_distinct("goal", &aims)?;
        if aims.0.is_empty() {
            return Err(PlanError::Nothing("goals").at(0..0));
        }
        let goals = aims.0.iter().map(|aim| {
            let ratio = self.loss_ratio(aim)?;
            let exceed_ratio = self.share(&self.exceed_ratio, if strict { 0.0 } else { 50.0 })?;
            let width = self.share(&self.width, 1.0)?;
            let at = || self.width.as_ref().map_or(0..0, At::span);
            if width < 1e-4 {
                let words = "a width of less than 0.01% cannot be reached".to_owned();
                return Err(wrong(words, "give `width` more", at()));
            }
            if width < ratio {
                let words =
                    format!("the width is narrower than the share of losses that `{}` allows", aim.get());
                let hint = "give `width` as much as that share, or more";
                return Err(wrong(words, hint, at()));
            }
            let deadline_ns = self.deadline.as_ref().filter(|_| *aim.get() == Aim::Slo);
            Ok(SearchGoal {
                aim: *aim.get(),
                deadline_ns: deadline_ns.map(|deadline| deadline.get().0),
                final_trial_ns,
                duration_sum_ns,
                initial_trial_ns,
                loss_ratio: ratio,
                exceed_ratio,
                width,
            })
        });
        let goals: Vec<SearchGoal> = goals.collect::<Result<_, Refusal>>()?;
        self.stray(&goals)?;
        Ok(Search { goals, budget_ns })
    }

    /// Which share of the samples may go wrong.
    fn loss_ratio(&self, aim: &At<Aim>) -> Result<f64, Refusal> {
        match aim.get() {
            Aim::Ndr => Ok(0.0),
            Aim::Pdr => self.share(&self.loss_ratio, 0.5),
            Aim::Slo if self.deadline.is_none() => {
                let words = "the goal `slo` needs a deadline, and none is given".to_owned();
                let hint = "write for instance `deadline = \"1ms\"` under `[search]`";
                Err(PlanError::Contradiction { words, hint }.at(aim.span()))
            }
            Aim::Slo => self.share(&self.late_ratio, 0.1),
        }
    }

    fn share(&self, percent: &Option<At<Percent>>, default: f64) -> Result<f64, Refusal> {
        let value = percent.as_ref().map_or(default, |percent| percent.get().0);
        match percent {
            Some(percent) if value >= 100.0 => {
                let words = format!("a share of {} is all of it", percent.get());
                let hint = "give less than 100%";
                Err(PlanError::Contradiction { words, hint }.at(percent.span()))
            }
            _ => Ok(value / 100.0),
        }
    }

    /// Refuses what says nothing without a goal.
    fn stray(&self, goals: &[SearchGoal]) -> Result<(), Refusal> {
        let has = |aim| goals.iter().any(|goal| goal.aim == aim);
        let place = |share: &Option<At<Percent>>| share.as_ref().map(At::span);
        for (at, name, aim) in [
            (self.deadline.as_ref().map(At::span), "deadline", Aim::Slo),
            (place(&self.late_ratio), "late_ratio", Aim::Slo),
            (place(&self.loss_ratio), "loss_ratio", Aim::Pdr),
        ] {
            if let Some(at) = at.filter(|_| !has(aim)) {
                let words = format!("`{name}` says nothing without the goal `{aim}`");
                let hint = "add the goal to `goals`, or leave this out";
                return Err(PlanError::Contradiction { words, hint }.at(at));
            }
        }
        Ok(())
    }
}
