//! What is done and what is left, and which drivers are given up.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use experiment::Experiment;
use results::{Failure, MAXIMUM_PHASE, Run};

use crate::{Progress, session::unix_ns};

/// If so many runs of a driver fail at first, and all in the same phase, it is given up.
const GIVE_UP_AFTER: usize = 3;

/// How an experiment goes.
pub(crate) struct Tally<'a> {
    experiment: &'a Experiment,
    began: Instant,
    began_unix_ns: u64,
    finished: u32,
    attempted: u32,
    drivers: BTreeMap<&'a str, Attempts>,
}

/// The runs of one driver so far.
#[derive(Default)]
struct Attempts {
    /// Phases in which runs failed, until one was measured.
    failed: Vec<String>,
    measured: bool,
    given_up: Option<Failure>,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(experiment: &'a Experiment) -> Self {
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

    /// The date, by the clock that does not jump: the wall clock is read once an experiment.
    pub(crate) fn unix_ns(&self) -> u64 {
        let elapsed = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.began_unix_ns.saturating_add(elapsed)
    }

    pub(crate) fn given_up(&self, driver: &str) -> Option<&Failure> {
        self.drivers[driver].given_up.as_ref()
    }

    /// Takes note of a run. True if its driver is given up with it.
    pub(crate) fn take_note(&mut self, driver: &str, run: &Run, attempted_now: bool) -> bool {
        self.finished += 1;
        if self.given_up(driver).is_some() {
            return false;
        }
        // it says nothing of the driver's other runs
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
            role: None,
            error: format!(
                "not attempted: the first {GIVE_UP_AFTER} runs of driver `{driver}` all failed in this phase"
            ),
            hint: None,
            last_words: Vec::new(),
        });
        true
    }

    /// Takes note of a run that was not attempted since the driver of another one was given up.
    pub(crate) const fn pass_over(&mut self) {
        self.finished += 1;
    }

    /// How far it has come, with `blocks` of blocks to make in all.
    pub(crate) fn progress(&self, blocks: u32) -> Progress {
        let elapsed = self.began.elapsed();
        let runs = self.experiment.runs_per_block().max(1) as u64;
        let planned = Duration::from_nanos(self.experiment.expected_block_ns() / runs);
        let each = if self.attempted == 0 { planned } else { elapsed / self.attempted };
        let total = blocks * self.experiment.runs_per_block() as u32;
        let cells = &self.experiment.cells;
        let living = cells.iter().filter(|cell| self.given_up(&cell.factors.driver).is_none()).count() as u32;
        // runs of drivers that were given up take no time
        let left = total.saturating_sub(self.finished) * living / (cells.len() as u32).max(1);
        Progress { finished: self.finished, total, elapsed, left: each.saturating_mul(left) }
    }
}
