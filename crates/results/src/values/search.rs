//! Values over the searches of a cell.

use experiment::GoalKind;
use stats::{Spread, median};

use crate::schema::{
    FirstFailure, GoalCell, GoalRecord, Headroom, Run, SearchBound, SearchCell, SearchRecord, SearchState,
    metric::Metric,
};

impl Metric {
    /// Returns the goal that a search finds the metric for; `None` for other metrics.
    #[must_use]
    pub const fn aim(self) -> Option<GoalKind> {
        match self {
            Self::Ndr => Some(GoalKind::Ndr),
            Self::Pdr => Some(GoalKind::Pdr),
            Self::Slo => Some(GoalKind::Slo),
            Self::Headroom => Some(GoalKind::System),
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
        self.found(aim)?.conditional_sps
    }

    /// Returns the headroom of a system if both bounds were found: the scale of the lower one.
    pub(crate) fn headroom(&self) -> Option<f64> {
        self.found(GoalKind::System)?.lower.as_ref()?.scale
    }

    fn found(&self, aim: GoalKind) -> Option<&GoalRecord> {
        let goal = self.search()?.goals.iter().find(|goal| goal.aim == aim)?;
        Some(goal).filter(|goal| goal.state == SearchState::Found)
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
            headroom: (goal.aim == GoalKind::System).then(|| Headroom::from_records(&all, &found)),
        }
    }
}

impl Headroom {
    /// Returns the headroom over the goals of all searches, and of those that found both bounds.
    fn from_records(all: &[&GoalRecord], found: &[&GoalRecord]) -> Self {
        let scales = |of: fn(&GoalRecord) -> Option<&SearchBound>| -> Vec<f64> {
            found.iter().filter_map(|goal| of(goal)?.scale).collect()
        };
        let lower = scales(|goal| goal.lower.as_ref());
        let upper = scales(|goal| goal.upper.as_ref());
        let mut fails_first: Vec<FirstFailure> = Vec::new();
        for flow in all.iter().filter_map(|goal| goal.fails_first.as_ref()) {
            match fails_first.iter_mut().find(|known| known.flow == *flow) {
                Some(known) => known.searches += 1,
                None => fails_first.push(FirstFailure { flow: flow.clone(), searches: 1 }),
            }
        }
        fails_first.sort_by_key(|first| std::cmp::Reverse(first.searches));
        Self {
            scale: median(&lower),
            lowest_scale: lower.iter().copied().reduce(f64::min),
            highest_scale: upper.iter().copied().reduce(f64::max),
            fails_first,
        }
    }
}
