//! The workload `search` in a result: the trials of a search, the bounds that they gave, and the searches of a cell together.

use experiment::Aim;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Spread, median};

use crate::{Metric, Run};

/// A search: many trials of an open loop, each with fresh processes, at rates that follow from each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchRecord {
    /// Whether it was brought to its end, be it that a trial failed. One that was interrupted is made anew.
    pub ended: bool,
    /// What came of writing as fast as it goes, which says where to search. Absent before that trial.
    pub unpaced: Option<Unpaced>,
    /// The lowest rate that may be tried, in samples/s.
    pub floor_sps: Option<f64>,
    /// The highest.
    pub ceiling_sps: Option<f64>,
    /// What was found, goal by goal.
    pub goals: Vec<GoalRecord>,
    /// Its trials, in the order of execution.
    pub trials: Vec<TrialRecord>,
    /// From the begin of the first trial to the end of the last one so far.
    pub took_ns: u64,
}

/// A writer without a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unpaced {
    /// How long.
    pub duration_ns: u64,
    /// Samples that it tried to write, in 1/s.
    pub offered_sps: f64,
    /// Samples that came, in 1/s.
    pub delivered_sps: f64,
}

/// What was found for a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalRecord {
    /// The goal.
    pub aim: Aim,
    /// Of `slo`: its deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// What it came to.
    pub state: SearchState,
    /// The relevant lower bound: sustained.
    pub lower: Option<SearchBound>,
    /// The relevant upper bound: not sustained, nor known of a lower rate.
    pub upper: Option<SearchBound>,
    /// Conditional throughput: samples/s that typically come at the lower bound. Only where that was found.
    pub conditional_sps: Option<f64>,
    /// Full trials that contradict the bounds: good ones at the upper bound or above it, bad ones at the lower bound or below
    /// it. Where there are many, what is sustained changes from trial to trial.
    pub contradicting: u32,
    /// Whether the upper bound is where the thread that writes had no time left, not where the middleware could not follow.
    pub limited_by_sender: bool,
}

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchState {
    /// Both bounds, no farther apart than the goal's width.
    Found,
    /// The lowest rate is too much: no rate is known that is sustained.
    Floor,
    /// The highest rate is sustained: more may be.
    Ceiling,
    /// Its time was over before the bounds were that close; or it goes on.
    Budget,
}

/// A rate, and how many trials were made at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchBound {
    /// Samples/s.
    pub load_sps: f64,
    /// Trials of any duration.
    pub trials: u32,
}

/// A trial: a load that was offered for some time, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// Samples/s.
    pub load_sps: f64,
    /// How long.
    pub duration_ns: u64,
    /// Samples of the plan.
    pub planned: u64,
    /// Of these: not tried before the plan's end.
    pub unsent: u64,
    /// Distinct samples that came, also while the flow drained.
    pub delivered: u64,
    /// Samples that never came.
    pub lost: u64,
    /// Samples that a lossless flow still owed when the drain ended.
    pub undelivered: u64,
    /// Of a flow that loses nothing: how long after the plan's end the last sample came, less what the quickest one took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_ns: Option<u64>,
    /// The share of the plan that the writer did not hold, by the growth of its send lag.
    pub falls_behind: f64,
    /// Whether the thread that writes had no time left, and nothing held it up.
    pub limited_by_sender: bool,
    /// What each goal says of it, in their order.
    pub judged: Vec<TrialJudged>,
    /// Why the same trial was made before and came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
}

/// What a goal says of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialJudged {
    /// The goal.
    pub aim: Aim,
    /// The share of the plan that did not go as it asks.
    pub violation_ratio: f64,
    /// Whether that is no more than it allows.
    pub good: bool,
}

/// The valid searches of a cell together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchCell {
    /// Goal by goal.
    pub goals: Vec<GoalCell>,
}

/// A goal in the valid searches of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalCell {
    /// The goal.
    pub aim: Aim,
    /// Of `slo`: its deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// Searches.
    pub searches: u32,
    /// Of these: those that found both bounds. The figures are of these.
    pub found: u32,
    /// Trials of all of them.
    pub trials: u32,
    /// The lowest of the lower bounds.
    pub lowest_sps: Option<f64>,
    /// The highest of the upper bounds.
    pub highest_sps: Option<f64>,
    /// Median conditional throughput.
    pub conditional_sps: Option<f64>,
    /// Half the range of the conditional throughputs, relative to their median.
    pub spread: Option<f64>,
    /// Searches in which the upper bound is the sender's.
    pub limited_by_sender: u32,
    /// Full trials that contradict the bounds of their search.
    pub contradicting: u32,
}

impl Metric {
    /// Of a conditional throughput: which goal's.
    #[must_use]
    pub const fn aim(self) -> Option<Aim> {
        match self {
            Self::Ndr => Some(Aim::Ndr),
            Self::Pdr => Some(Aim::Pdr),
            Self::Slo => Some(Aim::Slo),
            _ => None,
        }
    }
}

impl Run {
    /// Whether it is a search that was interrupted, and is to be made anew.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.ended)
    }

    /// The conditional throughput of a goal, where it was found.
    pub(crate) fn conditional_sps(&self, aim: Aim) -> Option<f64> {
        let goal = self.search.as_ref()?.goals.iter().find(|goal| goal.aim == aim)?;
        goal.conditional_sps.filter(|_| goal.state == SearchState::Found)
    }
}

impl SearchCell {
    /// What the valid searches of a cell say together; none if there are none.
    pub(crate) fn of(valid: &[&Run]) -> Option<Self> {
        let searches: Vec<&SearchRecord> = valid.iter().filter_map(|run| run.search.as_ref()).collect();
        let goals = &searches.first()?.goals;
        Some(Self { goals: goals.iter().map(|goal| GoalCell::of(goal, &searches)).collect() })
    }
}

impl GoalCell {
    fn of(goal: &GoalRecord, searches: &[&SearchRecord]) -> Self {
        let of_all = searches.iter().flat_map(|search| &search.goals).filter(|other| other.aim == goal.aim);
        let all: Vec<&GoalRecord> = of_all.collect();
        let found: Vec<&GoalRecord> =
            all.iter().filter(|goal| goal.state == SearchState::Found).copied().collect();
        let rates: Vec<f64> = found.iter().filter_map(|goal| goal.conditional_sps).collect();
        let bounds = |of: fn(&GoalRecord) -> Option<&SearchBound>, better: fn(f64, f64) -> f64| {
            found.iter().filter_map(|goal| of(goal)).map(|bound| bound.load_sps).reduce(better)
        };
        Self {
            aim: goal.aim,
            deadline_ns: goal.deadline_ns,
            searches: all.len() as u32,
            found: found.len() as u32,
            trials: searches.iter().map(|search| search.trials.len() as u32).sum(),
            lowest_sps: bounds(|goal| goal.lower.as_ref(), f64::min),
            highest_sps: bounds(|goal| goal.upper.as_ref(), f64::max),
            conditional_sps: median(&rates),
            spread: Spread::of(&rates).and_then(|spread| spread.half_range_relative()),
            limited_by_sender: all.iter().filter(|goal| goal.limited_by_sender).count() as u32,
            contradicting: all.iter().map(|goal| goal.contradicting).sum(),
        }
    }
}
