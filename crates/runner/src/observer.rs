//! Telling how an experiment goes.

use std::time::Duration;

use experiment::Cell;
use results::{Allocation, Block, Failure, Maximum, MaximumRun, Run};

/// How far an experiment has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs that have ended, failed ones and those of drivers given up too.
    pub finished: u32,
    /// All runs, as far as it is decided how many there are.
    pub total: u32,
    /// Since the first run began.
    pub elapsed: Duration,
    /// Estimate of the time left: from the runs so far, before the first from their planned times.
    pub left: Duration,
}

/// Is told what happens. Called from the thread that executes, between runs: it may be slow, but every run waits for it.
pub trait Observer {
    /// A run that measures a maximum has ended, and is saved; `done` of `total` of them have.
    fn maximum_measured(&mut self, maximum: &Maximum, run: &MaximumRun, done: usize, total: usize) {
        let _ = (maximum, run, done, total);
    }

    /// A run begins.
    fn run_started(&mut self, progress: &Progress, cell: &Cell) {
        let _ = (progress, cell);
    }

    /// A trial of a run that is a search has ended: the last one in its record, which is saved. The search takes at most so
    /// much longer.
    fn trial_finished(&mut self, run: &Run, cell: &Cell, at_most: Duration) {
        let _ = (run, cell, at_most);
    }

    /// A run has ended, and is saved.
    fn run_finished(&mut self, progress: &Progress, run: &Run, cell: &Cell) {
        let _ = (progress, run, cell);
    }

    /// The pilot is done, and the number of blocks is decided.
    fn allocated(&mut self, allocation: &Allocation) {
        let _ = allocation;
    }

    /// This block was noisy, and is made again.
    fn repeating(&mut self, block: &Block) {
        let _ = block;
    }

    /// The first runs of a driver all failed like this one; its other runs are not attempted.
    fn given_up(&mut self, progress: &Progress, driver: &str, failure: &Failure) {
        let _ = (progress, driver, failure);
    }
}

/// Looks at nothing.
impl Observer for () {}
