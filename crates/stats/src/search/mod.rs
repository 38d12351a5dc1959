//! The highest load that is sustained, by MLRsearch: which trial to make next, and what the trials made say.
//!
//! A trial offers a constant load for some time, and its outcome is a violation ratio for each [`Goal`]: the share of
//! samples that did not go as the goal asks. A load is a lower bound of a goal if enough of its trials are good, an upper
//! bound if enough are bad; trials that are shorter than the goal asks for cannot show that a load is sustained, and bad
//! ones count against it as far as good ones of the same kind do not balance them. The result is the lowest upper bound,
//! the highest lower bound below it, and what is typically delivered there.
//!
//! Every trial counts for every goal. Each goal begins with short trials and coarse bounds around the load where the search
//! starts: outward in steps that grow, then by halves (of the logarithm), then the same around what was found with full
//! trials, over and over at one load until that is judged. Of what the goals want next, the lowest load comes first.
//!
//! A load is only measured for a goal that has not judged it, and full trials of the duration sum judge it. So a search ends,
//! on any system.
//!
//! Source: *Multiple Loss Ratio Search*, draft-ietf-bmwg-mlrsearch-15, announced as RFC 9971. Classification and conditional
//! throughput are its appendices; which load comes next is left to each implementation.
//!
//! ```
//! use stats::search::{Budget, Goal, Loads, Outcome, Search};
//!
//! let loads = Loads { floor_sps: 100.0, ceiling_sps: 1e6, start_sps: 50_000.0 };
//! let budget = Budget { trials: 200, duration_ns: 300_000_000_000 };
//! let mut search = Search::new(vec![Goal::ndr(), Goal::pdr()], loads, budget)?;
//! while let Some(trial) = search.next_trial() {
//!     let lost = (1.0 - 20_000.0 / trial.load_sps).max(0.0); // measure it, for `trial.duration_ns`
//!     search.record(trial, &[lost, lost])?;
//! }
//! let Outcome::Regular { lower, upper, .. } = search.outcome(0) else { panic!("found") };
//! assert!(lower.load_sps <= 20_000.0 && upper.load_sps > 20_000.0);
//! # Ok::<(), stats::search::Refused>(())
//! ```

mod classify;
#[cfg(test)]
mod classify_tests;
mod goal;
mod loads;
mod measured;
mod pursuit;
mod violation;

use classify::conditional_throughput;
use loads::Grid;
use measured::Measured;
use pursuit::Pursuit;

pub use goal::{Goal, Refused};
pub use loads::Loads;
pub use violation::Shown;

/// What a search may take. When the next trial would take more, there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Trials.
    pub trials: usize,
    /// The sum of their durations. What a trial takes beside that is not known here: who runs out of time, stops asking.
    pub duration_ns: u64,
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Samples/s to offer.
    pub load_sps: f64,
    /// For so long.
    pub duration_ns: u64,
    /// Its number.
    load: u32,
}

/// A load, and how many trials were made at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Samples/s offered.
    pub load_sps: f64,
    /// Trials of any duration.
    pub trials: usize,
}

/// What was found for a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Both bounds, no farther apart than the goal's width.
    Regular {
        /// Sustained.
        lower: Bound,
        /// Not sustained, and no lower load was found that is not.
        upper: Bound,
        /// Conditional throughput: what is typically delivered at the lower bound.
        throughput_sps: f64,
    },
    /// Irregular: the lowest load is too much.
    FloorFails {
        /// The lowest load.
        upper: Bound,
    },
    /// Irregular: the highest load is sustained. More may be.
    CeilingHolds {
        /// The highest load.
        lower: Bound,
        /// Conditional throughput there.
        throughput_sps: f64,
    },
    /// Irregular: not brought to its end. What is known so far.
    Unfinished {
        /// The highest load that is sustained, below the upper bound.
        lower: Option<Bound>,
        /// The lowest load that is not.
        upper: Option<Bound>,
    },
}

/// A search on its way. It depends on the outcomes of its trials and on nothing else: one whose trials were saved goes on where
/// it was when they are recorded anew.
#[derive(Clone, Debug)]
pub struct Search {
    pursuits: Vec<Pursuit>,
    grid: Grid,
    budget: Budget,
    measured: Measured,
    trials: usize,
    spent_ns: u64,
}

impl Search {
    /// Nothing is measured yet.
    ///
    /// # Errors
    /// If a goal or the loads are none, or two goals share a name.
    pub fn new(goals: Vec<Goal>, loads: Loads, budget: Budget) -> Result<Self, Refused> {
        for (index, goal) in goals.iter().enumerate() {
            goal.check()?;
            if goals[..index].iter().any(|other| other.name == goal.name) {
                return Err(Refused::SameName(goal.name.clone()));
            }
        }
        let Some(shortest_ns) = goals.iter().map(|goal| goal.initial_trial_duration_ns).min() else {
            return Err(Refused::NoGoal);
        };
        loads.check(shortest_ns)?;
        let narrowest = goals.iter().map(|goal| goal.width).fold(f64::INFINITY, f64::min);
        let grid = Grid::new(loads, narrowest);
        let start = grid.nearest(loads.start_sps);
        let pursuits = goals.into_iter().enumerate();
        let pursuits = pursuits.map(|(index, goal)| Pursuit::new(index, goal, &grid, start)).collect();
        Ok(Self { pursuits, grid, budget, measured: Measured::default(), trials: 0, spent_ns: 0 })
    }

    /// What to measure next: the same until it is recorded. None when nothing is left to find, or the budget is spent.
    #[must_use]
    pub fn next_trial(&self) -> Option<Trial> {
        let left_ns = self.budget.duration_ns.saturating_sub(self.spent_ns);
        let wanted = self.pursuits.iter().filter_map(|pursuit| pursuit.wants(&self.measured));
        // the lowest load first, as it may become an upper bound below all others; the longest trial there
        let (load, duration_ns) = wanted
            .filter(|(_, duration_ns)| self.trials < self.budget.trials && *duration_ns <= left_ns)
            .min_by_key(|(load, duration_ns)| (*load, u64::MAX - duration_ns))?;
        Some(Trial { load_sps: self.grid.load(load), duration_ns, load })
    }

    /// The outcome of the trial that was asked for: for each goal, in their order, which share of the samples did not go as it
    /// asks. A trial that came to nothing is not recorded but made again.
    ///
    /// # Errors
    /// If that trial was not asked for, or the ratios are none or not as many as the goals. Nothing is recorded then.
    pub fn record(&mut self, trial: Trial, ratios: &[f64]) -> Result<(), Refused> {
        if self.next_trial() != Some(trial) {
            return Err(Refused::NotAsked { load_sps: trial.load_sps, duration_ns: trial.duration_ns });
        }
        if ratios.len() != self.pursuits.len() {
            return Err(Refused::Ratios { given: ratios.len(), goals: self.pursuits.len() });
        }
        for (pursuit, &ratio) in self.pursuits.iter().zip(ratios) {
            if !(0.0..=1.0).contains(&ratio) {
                return Err(Refused::NoRatio { goal: pursuit.goal().name.clone(), ratio });
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

    /// What is known of the goal of this index, now or at the end.
    ///
    /// # Panics
    /// If there is no such goal.
    #[must_use]
    pub fn outcome(&self, goal: usize) -> Outcome {
        let pursuit = &self.pursuits[goal];
        let bounds = pursuit.bounds(&self.measured);
        let bound =
            |load: u32| Bound { load_sps: self.grid.load(load), trials: self.measured.trials_at(load) };
        let sustained = |load: u32| {
            let seen = self.measured.seen(goal, load);
            (bound(load), conditional_throughput(pursuit.goal(), self.grid.load(load), seen))
        };
        match (bounds.lower.map(sustained), bounds.upper.map(bound), pursuit.is_done(bounds)) {
            (Some((lower, throughput_sps)), Some(upper), true) => {
                Outcome::Regular { lower, upper, throughput_sps }
            }
            (Some((lower, throughput_sps)), None, true) => Outcome::CeilingHolds { lower, throughput_sps },
            (None, Some(upper), true) => Outcome::FloorFails { upper },
            (lower, upper, _) => Outcome::Unfinished { lower: lower.map(|(lower, _)| lower), upper },
        }
    }
}
