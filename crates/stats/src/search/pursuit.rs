//! What one goal wants to have measured next: from coarse bounds by short trials to its own.

use super::{
    Goal,
    loads::Grid,
    measured::{Bounds, Measured},
};

/// How many times farther each step out reaches than the one before.
const REACH: u32 = 4;
/// A stage's trials are at most so many times longer than those of the stage before.
const STRETCH: f64 = 8.0;

/// A goal with trials of one duration; the last stage is the goal itself.
#[derive(Clone, Debug)]
struct Stage {
    goal: Goal,
    /// How many steps of the grid the bounds may lie apart.
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

/// How far a goal has come.
#[derive(Clone, Debug)]
pub(super) struct Pursuit {
    /// Which one it is.
    index: usize,
    earlier: Vec<Stage>,
    own: Stage,
    /// How many of the earlier stages are done.
    done: usize,
    /// Where the stage begins: at what the stage before had as its lower bound.
    from: u32,
    /// The number of the highest load.
    last: u32,
}

impl Pursuit {
    /// Stages of growing duration and falling width. In the earlier ones a single trial judges a load.
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
        Self { index, earlier, own: Stage { goal, steps }, done: 0, from: start, last: grid.last() }
    }

    pub const fn goal(&self) -> &Goal {
        &self.own.goal
    }

    pub fn bounds(&self, measured: &Measured) -> Bounds {
        measured.bounds(self.index, &self.own.goal)
    }

    /// Whether its bounds are as close as it asks for, or cannot be.
    pub fn is_done(&self, bounds: Bounds) -> bool {
        self.own.is_done(bounds, self.last)
    }

    /// Leaves the stages that are done with what has been measured.
    pub fn advance(&mut self, measured: &Measured) {
        while let Some(stage) = self.earlier.get(self.done) {
            let bounds = measured.bounds(self.index, &stage.goal);
            if !stage.is_done(bounds, self.last) {
                return;
            }
            self.done += 1;
            self.from = bounds.lower.unwrap_or(0);
        }
    }

    /// The load and the duration of the trial that this goal needs next; none if it needs none.
    pub fn wants(&self, measured: &Measured) -> Option<(u32, u64)> {
        if self.is_done(self.bounds(measured)) {
            return None;
        }
        let stage = self.earlier.get(self.done).unwrap_or(&self.own);
        let bounds = measured.bounds(self.index, &stage.goal);
        Some((self.load(bounds, stage.steps), stage.goal.final_trial_duration_ns))
    }

    /// A load between the bounds of a stage that is not done: it is not judged.
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
