//! Trial of a search: a run of the workload `paced` with fresh processes.

use std::fmt;

use collector::{RunReports, TraceFiles};
use experiment::{Cell, Design, Factors, Load, Scale, Workload};
use host::RunBarrier;
use results::{Failure, Run, RunState, TRIAL_WINDOWS, TrialLog, TrialResult};
use stats::search::TrialOutcome;

use crate::{
    error::RunnerError,
    run::{
        executor::{FinishedRun, RunExecutor},
        run_ids::RunIds,
    },
};

/// Share of a core, used or waited for, above which the writing thread counts as having no time left.
const BUSY: f64 = 0.9;

/// Traffic of a trial.
#[derive(Clone)]
pub(super) enum Traffic {
    /// One flow at this load.
    Flow(Load),
    /// All flows of the cell, with their rates multiplied.
    System(Scale),
}

impl Traffic {
    /// Returns the factors of a trial of a cell with this traffic.
    fn factors(&self, cell: &Factors) -> Factors {
        match self {
            Self::Flow(load) => {
                Factors { workload: Workload::Paced, load: Some(load.clone()), ..cell.clone() }
            }
            Self::System(scale) => cell.at_scale(*scale),
        }
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flow(load) => load.fmt(f),
            Self::System(scale) => write!(f, "scale {scale}"),
        }
    }
}

/// Outcome of a trial.
pub(super) enum TrialRun {
    /// Stop request.
    Stopped,
    /// Trial without a result.
    Failed(Failure),
    Measured(Box<MeasuredTrial>),
}

/// Measured trial.
pub(super) struct MeasuredTrial {
    /// Record of the trial as a run.
    pub(super) run: Run,
    pub(super) shown: TrialResult,
    pub(super) limited_by_sender: bool,
}

/// Executes a trial of a search run.
pub(super) fn trial(
    runs: &RunExecutor<'_>,
    search: &Run,
    cell: &Cell,
    (traffic, duration_ns): (Traffic, u64),
    deadline_ns: Option<u64>,
    names: &mut RunIds,
) -> Result<TrialRun, RunnerError> {
    let cell = Cell { id: cell.id.clone(), factors: traffic.factors(&cell.factors) };
    let design = Design {
        measure_ns: duration_ns,
        samples: None,
        windows: TRIAL_WINDOWS,
        ..runs.header.experiment.design.clone()
    };
    let mut run = search.clone();
    run.measured = None;
    let (name, alone) = (names.take(run.number, runs.sites)?, RunBarrier::new());
    let made = runs.run(run, (&cell, &design), name, &TraceFiles::default(), alone.join());
    let Some(FinishedRun { run, reports, .. }) = made else { return Ok(TrialRun::Stopped) };
    let outcome = match (run.state, reports) {
        (RunState::Valid, Some(_)) if !cell.factors.flows.is_empty() => {
            TrialResult::of_system(&run, &cell.factors.flows, duration_ns)
        }
        (RunState::Valid, Some(reports)) => trial_outcome(&run, &cell, &reports, duration_ns, deadline_ns),
        _ => None,
    };
    Ok(match outcome {
        Some(shown) => {
            let is_judged = shown.system.is_none() && !cell.factors.is_reliable(0);
            let limited_by_sender = is_judged && is_limited_by_sender(&run, &shown.shown);
            TrialRun::Measured(Box::new(MeasuredTrial { run, shown, limited_by_sender }))
        }
        None => TrialRun::Failed(failure(run)),
    })
}

/// Returns the failure of a trial without a result.
fn failure(run: Run) -> Failure {
    run.failure.unwrap_or_else(|| Failure {
        phase: "search".to_owned(),
        error: run.warnings.into_iter().next().map_or_else(
            || "a trial has no values".to_owned(),
            |warning| format!("the counts of a trial contradict each other: {}", warning.text),
        ),
        ..Failure::default()
    })
}

/// Returns the evaluation of a valid trial of one flow.
fn trial_outcome(
    run: &Run,
    cell: &Cell,
    reports: &RunReports,
    duration_ns: u64,
    deadline_ns: Option<u64>,
) -> Option<TrialResult> {
    let (paced, throughput) = (run.paced()?, run.throughput()?);
    let writer = reports.driving().report.writer()?;
    let read = reports.serving().report.reader()?;
    let (written_flow, read_flow) = (writer.flows.first()?, read.flows.first()?);
    let response = if deadline_ns.is_some() { read_flow.response.histograms().ok()? } else { Vec::new() };
    let log = TrialLog {
        duration_ns,
        reliable: cell.factors.is_reliable(0),
        planned: paced.planned,
        unsent: paced.unsent,
        delivered: throughput.delivered,
        begin_ns: writer.begin_ns,
        last_ns: read_flow.received.last_ns,
        quickest_ns: read_flow.service.min_ns,
        window_ns: written_flow.send_lag.window_ns,
        send_lag: &written_flow.send_lag.histograms().ok()?,
        response: &response,
    };
    Some(log.outcome(deadline_ns))
}

/// Returns whether the sender limits a trial: most of the missing samples were not sent, and the writing thread had
/// no time left. Valid only for a flow without back-pressure.
fn is_limited_by_sender(run: &Run, shown: &TrialOutcome) -> bool {
    let missing = shown.planned.saturating_sub(shown.delivered);
    let writer = run.process_of_role("writer");
    shown.violation() > 0.0
        && shown.unsent.saturating_mul(2) > missing
        && writer.is_some_and(|writer| writer.usage.busy() > BUSY)
}
