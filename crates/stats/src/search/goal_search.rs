//! Search for one goal: from coarse bounds by short trials to the goal's own width.

use super::{
    Goal,
    loads::Grid,
    trial_set::{Bounds, TrialSet},
};

/// Growth factor of the outward steps.
const REACH: u32 = 4;
/// Maximum ratio of trial durations between successive stages.
const STRETCH: f64 = 8.0;

/// Stage of a goal: trials of one duration. The last stage is the goal itself.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) goal: Goal,
    /// Maximum distance of the bounds in grid steps.
    steps: u32,
}

impl Stage {
    fn is_done(&self, bounds: Bounds, last: u32) -> bool {
        match (bounds.lower, bounds.upper) {
            (Some(lower), Some(upper)) => upper - lower <= self.steps,
            (Some(lower), None) => lower == last,
            (None, upper) => upper == Some(0),
        }
    }
}

/// State of the search for one goal.
#[derive(Clone, Debug)]
pub(super) struct GoalSearch {
    /// Index of the goal.
    index: usize,
    earlier: Vec<Stage>,
    pub(super) own: Stage,
    /// Number of earlier stages done.
    done: usize,
    /// Start load of the stage: the lower bound of the previous stage.
    from: u32,
    /// Index of the highest load.
    last: u32,
}

impl GoalSearch {
    /// Creates the stages, with increasing duration and decreasing width. In all but the last, a single trial
    /// classifies a load.
    pub fn new(index: usize, goal: Goal, grid: &Grid, start: u32) -> Self {
        let (first, full) = (goal.initial_trial_duration_ns as f64, goal.final_trial_duration_ns as f64);
        let count = ((full / first).ln() / STRETCH.ln()).ceil() as u32;
        let steps = grid.steps_in(goal.width);
        let stage = |number: u32| {
            let duration = (first * (full / first).powf(f64::from(number) / f64::from(count))).round() as u64;
            let goal = Goal { final_trial_duration_ns: duration, duration_sum_ns: duration, ..goal.clone() };
            Stage { goal, steps: steps.saturating_mul(1 << (count - number)) }
        };
        let earlier = (0..count).map(stage).collect();
        Self { index, earlier, own: Stage { goal, steps }, done: 0, from: start, last: grid.last }
    }

    /// Returns the bounds that the trials so far show.
    pub fn bounds(&self, measured: &TrialSet) -> Bounds {
        measured.bounds(self.index, &self.own.goal)
    }

    /// Returns whether the bounds are within the goal's width, or cannot get closer.
    pub fn is_done(&self, bounds: Bounds) -> bool {
        self.own.is_done(bounds, self.last)
    }

    /// Skips the stages that are done with the trials so far.
    pub fn advance(&mut self, measured: &TrialSet) {
        while let Some(stage) = self.earlier.get(self.done) {
            let bounds = measured.bounds(self.index, &stage.goal);
            if !stage.is_done(bounds, self.last) {
                return;
            }
            self.done += 1;
            self.from = bounds.lower.unwrap_or(0);
        }
    }

    /// Returns the load and duration in ns of the next trial that this goal needs; `None` if it is done.
    pub fn wants(&self, measured: &TrialSet) -> Option<(u32, u64)> {
        if self.is_done(self.bounds(measured)) {
            return None;
        }
        let stage = self.earlier.get(self.done).unwrap_or(&self.own);
        let bounds = measured.bounds(self.index, &stage.goal);
        Some((self.load(bounds, stage.steps), stage.goal.final_trial_duration_ns))
    }

    /// Returns a load between the bounds of an unfinished stage. No such load is classified yet.
    fn load(&self, bounds: Bounds, steps: u32) -> u32 {
        if bounds.leave_open(self.from) {
            return self.from;
        }
        let reach = |to: u32| steps.max(self.from.abs_diff(to).saturating_mul(REACH));
        match (bounds.lower, bounds.upper) {
            (Some(lower), Some(upper)) => u32::midpoint(lower, upper),
            (Some(lower), None) => self.from.saturating_add(reach(lower)).min(self.last),
            (None, Some(upper)) => self.from.saturating_sub(reach(upper)),
            (None, None) => self.from, // open
        }
    }
}
