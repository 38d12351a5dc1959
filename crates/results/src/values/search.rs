//! Values over the searches of a cell.

use experiment::GoalKind;
use stats::{Spread, median};

use crate::{GoalCell, GoalRecord, Metric, Run, SearchBound, SearchCell, SearchRecord, SearchState};

impl Metric {
    /// Returns the goal of a conditional throughput; `None` for other metrics.
    #[must_use]
    pub const fn aim(self) -> Option<GoalKind> {
        match self {
            Self::Ndr => Some(GoalKind::Ndr),
            Self::Pdr => Some(GoalKind::Pdr),
            Self::Slo => Some(GoalKind::Slo),
            _ => None,
        }
    }
}

impl Run {
    /// Returns whether the run is an interrupted search, which must be repeated.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.search().is_some_and(|search| !search.ended)
    }

    /// Returns the conditional throughput of a goal if both bounds were found.
    pub(crate) fn conditional_sps(&self, aim: GoalKind) -> Option<f64> {
        let goal = self.search()?.goals.iter().find(|goal| goal.aim == aim)?;
        goal.conditional_sps.filter(|_| goal.state == SearchState::Found)
    }
}

impl SearchCell {
    /// Returns the values over the valid searches of a cell, or `None` if there are none.
    pub(crate) fn from_runs(valid: &[&Run]) -> Option<Self> {
        let searches: Vec<&SearchRecord> = valid.iter().filter_map(|run| run.search()).collect();
        let goals = &searches.first()?.goals;
        Some(Self { goals: goals.iter().map(|goal| GoalCell::from_records(goal, &searches)).collect() })
    }
}

impl GoalCell {
    fn from_records(goal: &GoalRecord, searches: &[&SearchRecord]) -> Self {
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
            spread: Spread::from_values(&rates).and_then(|spread| spread.half_range_relative()),
            limited_by_sender: all.iter().filter(|goal| goal.limited_by_sender).count() as u32,
            contradicting: all.iter().map(|goal| goal.contradicting).sum(),
        }
    }
}
