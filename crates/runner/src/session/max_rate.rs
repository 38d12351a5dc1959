//! Measurement of the maximum rates that rates in percent refer to: once, before the first block, without a schedule.

use std::time::Instant;

use collector::TraceFiles;
use experiment::{Design, MaxRateCell, ScheduledRun};
use host::{RunBarrier, unix_ns};
use results::{ExperimentLog, MaxRate, MaxRateRun, Run, UnpacedRate};

use super::observer::Observer;
use crate::{
    error::RunnerError,
    run::{executor::RunExecutor, run_ids::RunIds},
};

/// Number of failed maximum-rate runs of a driver after which the others are not attempted: all in the same phase,
/// none measured.
const GIVE_UP_AFTER: usize = 3;

/// Executor of the runs that measure maximum rates.
pub(super) struct MaximumRuns<'a>(pub(super) &'a RunExecutor<'a>);

impl MaximumRuns<'_> {
    /// Executes the missing runs and saves each. Returns false after a stop request.
    pub(super) fn measure(
        &self,
        log: &mut ExperimentLog,
        names: &mut RunIds,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunnerError> {
        let experiment = &self.0.header.experiment;
        let unplanned = experiment.max_rates();
        let runs = experiment.maximum_runs(unplanned.len());
        let total = runs.len();
        for (done, (number, index)) in (1..).zip(runs) {
            let MaxRateCell { cell, .. } = &unplanned[index];
            let at = log.max_rates.iter().position(|maximum| maximum.id == cell.id);
            // The log has no entry for it yet.
            let at = at.unwrap_or_else(|| {
                log.max_rates.push(MaxRate::new(unplanned[index].clone()));
                log.max_rates.len() - 1
            });
            let is_made = |maximum: &MaxRate| maximum.runs.iter().any(|run| run.number == number);
            if is_made(&log.max_rates[at]) {
                continue;
            }
            if self.0.stop.requested() {
                return Ok(false);
            }
            let made = match hopeless(log, &unplanned, &cell.factors.driver) {
                Some(run) => MaxRateRun { number, started_unix_ns: unix_ns(), took_ns: 0, ..run },
                None => match self.maximum_run(&unplanned[index], number, names)? {
                    Some(run) => run,
                    None => return Ok(false),
                },
            };
            log.max_rates[at].add(made);
            self.0.directory.save_log(log)?;
            let maximum = &log.max_rates[at];
            if let Some(run) = maximum.runs.last() {
                observer.maximum_measured(maximum, run, done, total);
            }
        }
        Ok(true)
    }

    /// Executes one run at the maximum rate. Returns `None` after a stop request.
    fn maximum_run(
        &self,
        unplanned: &MaxRateCell,
        number: u32,
        names: &mut RunIds,
    ) -> Result<Option<MaxRateRun>, RunnerError> {
        let experiment = &self.0.header.experiment;
        let seed = experiment.design.seed_of_run(number);
        let design = Design { seed, samples: None, ..experiment.design.of_cell(&unplanned.cell.factors) };
        let scheduled = ScheduledRun { number, block: 0, cell: 0, twin: false, duet: None };
        let (began, started_unix_ns) = (Instant::now(), unix_ns());
        let run = Run::blank(scheduled, &unplanned.cell, started_unix_ns);
        let alone = RunBarrier::new();
        let (name, traces) = (names.take(number, self.0.sites)?, TraceFiles::default());
        let made = self.0.run(run, (&unplanned.cell, &design), name, &traces, alone.join());
        let Some(made) = made else { return Ok(None) };
        let (unpaced, failure) = match UnpacedRate::from_run(&made.run, design.measure_ns) {
            Ok(unpaced) => (Some(unpaced), None),
            Err(failure) => (None, Some(failure)),
        };
        let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(Some(MaxRateRun { number, started_unix_ns, took_ns, unpaced, failure }))
    }
}

/// Returns the last run of a driver whose runs all failed alike, as the record of a run that is not attempted.
fn hopeless(log: &ExperimentLog, unplanned: &[MaxRateCell], driver: &str) -> Option<MaxRateRun> {
    let of_driver = |maximum: &&MaxRate| {
        unplanned.iter().any(|other| other.cell.id == maximum.id && other.cell.factors.driver == driver)
    };
    let runs: Vec<&MaxRateRun> =
        log.max_rates.iter().filter(of_driver).flat_map(|maximum| &maximum.runs).collect();
    let phases: Option<Vec<&str>> =
        runs.iter().map(|run| Some(run.failure.as_ref()?.phase.as_str())).collect();
    let phases = phases.filter(|phases| phases.len() >= GIVE_UP_AFTER)?;
    let alike = phases.iter().all(|phase| *phase == phases[0]);
    let mut last = (*runs.last().filter(|_| alike)?).clone();
    if let Some(failure) = &mut last.failure {
        failure.error = format!(
            "not attempted: the first {GIVE_UP_AFTER} runs of driver `{driver}` at the maximum rate all failed in this phase"
        );
        failure.last_log_lines.clear();
    }
    Some(last)
}
