//! Notifications about the progress of an experiment.

use std::time::Duration;

use control::AgentReport;
use experiment::Cell;
use results::{Block, BlockAllocation, Failure, MaxRate, MaxRateRun, Run};

/// Progress of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of finished runs, including failed ones and those of drivers that were given up.
    pub finished: u32,
    /// Total number of runs, as far as it is decided.
    pub total: u32,
    /// Time since the start of the first run.
    pub elapsed: Duration,
    /// Estimated remaining time: from the runs so far, before the first one from the planned durations.
    pub left: Duration,
}

/// Receiver of progress notifications. Called between runs, from the thread that executes them: each run waits for
/// it.
pub trait Observer {
    /// Called when a run that measures a maximum rate has ended and is saved: run `done` of `total`.
    fn maximum_measured(&mut self, _maximum: &MaxRate, _run: &MaxRateRun, _done: usize, _total: usize) {}

    /// Called when a run starts.
    fn run_started(&mut self, _progress: &Progress, _cell: &Cell) {}

    /// Called when a trial of a search has ended: the last one in the run's record, which is saved. The duration is
    /// the maximum remaining time of the search.
    fn trial_finished(&mut self, _run: &Run, _cell: &Cell, _at_most: Duration) {}

    /// Called with the reports of the agents of a run that has ended and is saved, before `run_finished`. Not called if the
    /// agents did not report.
    fn reported(&mut self, _reports: &[&AgentReport], _run: &Run) {}

    /// Called when a run has ended and is saved.
    fn run_finished(&mut self, _progress: &Progress, _run: &Run, _cell: &Cell) {}

    /// Called when the pilot is complete and the number of blocks is decided.
    fn allocated(&mut self, _allocation: &BlockAllocation) {}

    /// Called when a block has ended, with its noise.
    fn block_finished(&mut self, _block: &Block) {}

    /// Called when a noisy block is repeated.
    fn repeating(&mut self, _block: &Block) {}

    /// Called when a driver is given up: its first runs all failed like this one, and its remaining runs are not
    /// attempted.
    fn given_up(&mut self, _progress: &Progress, _driver: &str, _failure: &Failure) {}
}

/// Observer that ignores all notifications.
impl Observer for () {}
