//! MLRsearch for the highest sustained load: the next trial to execute, and the bounds after the trials so far.
//!
//! A trial offers a constant load for some time. Its outcome is a violation ratio for each [`Goal`]: the share of
//! samples that violate the goal. A load is a lower bound of a goal if enough of its trials are good, and an upper
//! bound if enough are bad. Trials shorter than the goal's final duration cannot show that a load is sustained. Bad
//! short trials count against it as far as good short ones do not balance them. The result is the lowest upper
//! bound, the highest lower bound below it, and the conditional throughput there.
//!
//! Every trial counts for every goal. Each goal starts with short trials and coarse bounds around the start load:
//! first outward in growing steps, then by bisection of the logarithm. The same follows with full-length trials
//! around that result, repeated at one load until it is classified. If the goals need different loads next, the
//! lowest comes first.
//!
//! A load is only tried for a goal that has not classified it, and full-length trials of the duration sum classify
//! it. The search therefore ends on any system.
//!
//! Source: *Multiple Loss Ratio Search*, draft-ietf-bmwg-mlrsearch-15, announced as RFC 9971. Classification and
//! conditional throughput follow its appendices; the selection of the next load is left to each implementation.
//!
//! ```
//! use stats::search::{Budget, Goal, Loads, GoalOutcome, Search};
//!
//! let loads = Loads { floor_sps: 100.0, ceiling_sps: 1e6, start_sps: 50_000.0 };
//! let budget = Budget { trials: 200, duration_ns: 300_000_000_000 };
//! let mut search = Search::new(vec![Goal::ndr(), Goal::pdr()], loads, budget)?;
//! while let Some(trial) = search.next_trial() {
//!     let lost = (1.0 - 20_000.0 / trial.load_sps).max(0.0); // measure it, for `trial.duration_ns`
//!     search.record(trial, &[lost, lost])?;
//! }
//! let GoalOutcome::Regular { lower, upper, .. } = search.outcome(0) else { panic!("found") };
//! assert!(lower.load_sps <= 20_000.0 && upper.load_sps > 20_000.0);
//! # Ok::<(), stats::search::SearchError>(())
//! ```

mod classify;
#[cfg(test)]
mod classify_tests;
mod goal;
mod goal_search;
mod loads;
mod trial_set;
mod violation;

use classify::conditional_throughput;
use goal_search::GoalSearch;
use loads::Grid;
use trial_set::TrialSet;

pub use goal::{Goal, SearchError};
pub use loads::Loads;
pub use violation::TrialOutcome;

/// Limits of a search. The search ends if the next trial would exceed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of trials.
    pub trials: usize,
    /// Maximum sum of trial durations in ns, without the overhead of trials. A caller with a deadline stops calling
    /// `next_trial`.
    pub duration_ns: u64,
}

/// Trial to execute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Offered load in samples/s.
    pub load_sps: f64,
    /// Trial duration in ns.
    pub duration_ns: u64,
    /// Grid index of the load.
    load: u32,
}

/// Load and the number of trials at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Offered load in samples/s.
    pub load_sps: f64,
    /// Number of trials of any duration.
    pub trials: usize,
}

/// Result of a search for one goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GoalOutcome {
    /// Both bounds, within the goal's width.
    Regular {
        /// Highest sustained load below the upper bound.
        lower: Bound,
        /// Lowest load that is not sustained.
        upper: Bound,
        /// Conditional throughput at the lower bound.
        throughput_sps: f64,
    },
    /// Irregular: the lowest load is not sustained.
    FloorFails {
        /// Lowest load.
        upper: Bound,
    },
    /// Irregular: the highest load is sustained. Higher loads may be, too.
    CeilingHolds {
        /// Highest load.
        lower: Bound,
        /// Conditional throughput at that load.
        throughput_sps: f64,
    },
    /// Irregular: unfinished, with the bounds found so far.
    Unfinished {
        /// Highest sustained load below the upper bound.
        lower: Option<Bound>,
        /// Lowest load that is not sustained.
        upper: Option<Bound>,
    },
}

/// State of a search. It depends only on the outcomes of its trials: recording saved trials again in a new search
/// restores it.
#[derive(Clone, Debug)]
pub struct Search {
    pursuits: Vec<GoalSearch>,
    grid: Grid,
    budget: Budget,
    measured: TrialSet,
    trials: usize,
    spent_ns: u64,
}

impl Search {
    /// Creates a search without trials.
    ///
    /// # Errors
    /// Returns an error if there is no goal, a goal or the range of loads is invalid, or two goals share a name.
    pub fn new(goals: Vec<Goal>, loads: Loads, budget: Budget) -> Result<Self, SearchError> {
        for (index, goal) in goals.iter().enumerate() {
            goal.check()?;
            if goals[..index].iter().any(|other| other.name == goal.name) {
                return Err(SearchError::SameName(goal.name.clone()));
            }
        }
        let Some(shortest_ns) = goals.iter().map(|goal| goal.initial_trial_duration_ns).min() else {
            return Err(SearchError::NoGoal);
        };
        loads.check(shortest_ns)?;
        let narrowest = goals.iter().map(|goal| goal.width).fold(f64::INFINITY, f64::min);
        let grid = Grid::new(loads, narrowest);
        let start = grid.nearest(loads.start_sps);
        let pursuits = goals.into_iter().enumerate();
        let pursuits = pursuits.map(|(index, goal)| GoalSearch::new(index, goal, &grid, start)).collect();
        Ok(Self { pursuits, grid, budget, measured: TrialSet::default(), trials: 0, spent_ns: 0 })
    }

    /// Returns the next trial, the same one until it is recorded. `None` if all goals are done or the budget is
    /// spent.
    #[must_use]
    pub fn next_trial(&self) -> Option<Trial> {
        let left_ns = self.budget.duration_ns.saturating_sub(self.spent_ns);
        let wanted = self.pursuits.iter().filter_map(|pursuit| pursuit.wants(&self.measured));
        // the lowest load first, as it may become an upper bound below all others; at that load, the longest trial
        let (load, duration_ns) = wanted
            .filter(|(_, duration_ns)| self.trials < self.budget.trials && *duration_ns <= left_ns)
            .min_by_key(|(load, duration_ns)| (*load, u64::MAX - duration_ns))?;
        Some(Trial { load_sps: self.grid.load(load), duration_ns, load })
    }

    /// Records the violation ratios of the trial that [`Self::next_trial`] returned, one per goal in their order.
    /// Do not record a trial that failed: execute it again.
    ///
    /// # Errors
    /// Returns an error if `trial` is not the next trial, or `ratios` does not have one value from 0 to 1 per goal.
    /// In that case nothing is recorded.
    pub fn record(&mut self, trial: Trial, ratios: &[f64]) -> Result<(), SearchError> {
        if self.next_trial() != Some(trial) {
            return Err(SearchError::NotAsked { load_sps: trial.load_sps, duration_ns: trial.duration_ns });
        }
        if ratios.len() != self.pursuits.len() {
            return Err(SearchError::Ratios { given: ratios.len(), goals: self.pursuits.len() });
        }
        for (pursuit, &ratio) in self.pursuits.iter().zip(ratios) {
            if !(0.0..=1.0).contains(&ratio) {
                return Err(SearchError::NoRatio { goal: pursuit.own.goal.name.clone(), ratio });
            }
        }
        self.measured.add(trial.load, trial.duration_ns, ratios.to_vec());
        self.trials += 1;
        self.spent_ns += trial.duration_ns;
        for pursuit in &mut self.pursuits {
            pursuit.advance(&self.measured);
        }
        Ok(())
    }

    /// Returns the result for the goal with this index, during the search or at its end.
    ///
    /// # Panics
    /// Panics if there is no such goal.
    #[must_use]
    pub fn outcome(&self, goal: usize) -> GoalOutcome {
        let pursuit = &self.pursuits[goal];
        let bounds = pursuit.bounds(&self.measured);
        let bound =
            |load: u32| Bound { load_sps: self.grid.load(load), trials: self.measured.trials_at(load) };
        let sustained = |load: u32| {
            let seen = self.measured.observed_at(goal, load);
            (bound(load), conditional_throughput(&pursuit.own.goal, self.grid.load(load), seen))
        };
        match (bounds.lower.map(sustained), bounds.upper.map(bound), pursuit.is_done(bounds)) {
            (Some((lower, throughput_sps)), Some(upper), true) => {
                GoalOutcome::Regular { lower, upper, throughput_sps }
            }
            (Some((lower, throughput_sps)), None, true) => {
                GoalOutcome::CeilingHolds { lower, throughput_sps }
            }
            (None, Some(upper), true) => GoalOutcome::FloorFails { upper },
            (lower, upper, _) => GoalOutcome::Unfinished { lower: lower.map(|(lower, _)| lower), upper },
        }
    }
}
