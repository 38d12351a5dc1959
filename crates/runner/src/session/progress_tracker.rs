//! Progress of an experiment, and drivers that are given up.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use experiment::Plan;
use host::unix_ns;
use results::{Failure, MAXIMUM_PHASE, Run};

use super::observer::Progress;

/// Number of initial runs of a driver after which it is given up, if all fail in the same phase.
const GIVE_UP_AFTER: usize = 3;

/// Progress tracker of an experiment.
pub(crate) struct ProgressTracker<'a> {
    experiment: &'a Plan,
    began: Instant,
    began_unix_ns: u64,
    finished: u32,
    attempted: u32,
    drivers: BTreeMap<&'a str, Attempts>,
}

/// Runs of one driver so far.
#[derive(Default)]
struct Attempts {
    /// Phases in which runs failed, until one run was measured.
    failed: Vec<String>,
    measured: bool,
    given_up: Option<Failure>,
}

impl<'a> ProgressTracker<'a> {
    pub(crate) fn new(experiment: &'a Plan) -> Self {
        let drivers =
            experiment.cells.iter().map(|cell| (cell.factors.driver.as_str(), Attempts::default())).collect();
        Self {
            experiment,
            began: Instant::now(),
            began_unix_ns: unix_ns(),
            finished: 0,
            attempted: 0,
            drivers,
        }
    }

    /// Returns the time since the Unix epoch in ns. It advances by a monotonic clock: the wall clock is read once per
    /// experiment.
    pub(crate) fn unix_ns(&self) -> u64 {
        let elapsed = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.began_unix_ns.saturating_add(elapsed)
    }

    pub(crate) fn given_up(&self, driver: &str) -> Option<&Failure> {
        self.drivers[driver].given_up.as_ref()
    }

    /// Counts a run. Returns true if its driver is given up because of it.
    pub(crate) fn take_note(&mut self, driver: &str, run: &Run, attempted_now: bool) -> bool {
        self.finished += 1;
        if self.given_up(driver).is_some() {
            return false;
        }
        // A failed measurement of a maximum rate says nothing about the driver's other runs.
        if run.failure.as_ref().is_some_and(|failure| failure.phase == MAXIMUM_PHASE) {
            return false;
        }
        self.attempted += u32::from(attempted_now);
        let attempts = self.drivers.get_mut(driver).expect("every driver was entered");
        match &run.failure {
            None => attempts.measured = true,
            Some(failure) => attempts.failed.push(failure.phase.clone()),
        }
        let [phase, others @ ..] = &attempts.failed[..] else { return false };
        let alike = attempts.failed.len() == GIVE_UP_AFTER && others.iter().all(|other| other == phase);
        if !alike || attempts.measured {
            return false;
        }
        attempts.given_up = Some(Failure {
            phase: phase.clone(),
            error: format!(
                "not attempted: the first {GIVE_UP_AFTER} runs of driver `{driver}` all failed in this phase"
            ),
            ..Failure::default()
        });
        true
    }

    /// Counts a run that was not attempted.
    pub(crate) const fn pass_over(&mut self) {
        self.finished += 1;
    }

    /// Returns the progress, given the total number of blocks.
    pub(crate) fn progress(&self, blocks: u32) -> Progress {
        let elapsed = self.began.elapsed();
        let runs = self.experiment.runs_per_block().max(1) as u64;
        let planned = Duration::from_nanos(self.experiment.expected_block_ns() / runs);
        let each = if self.attempted == 0 { planned } else { elapsed / self.attempted };
        let total = self.experiment.runs_before(blocks + 1) as u32;
        let cells = &self.experiment.cells;
        let living = cells.iter().filter(|cell| self.given_up(&cell.factors.driver).is_none()).count() as u32;
        // Runs of drivers that were given up take no time.
        let left = total.saturating_sub(self.finished) * living / (cells.len() as u32).max(1);
        Progress { finished: self.finished, total, elapsed, left: each.saturating_mul(left) }
    }
}
