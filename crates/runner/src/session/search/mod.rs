//! Search run: trials at the rates that [`stats::search`] requests, until the bounds are close enough or the budget
//! ends.

mod goals;
mod trial;

use std::time::{Duration, Instant};

use experiment::{Cell, Load, Rate, Scale, SearchGoal, run_overhead_ns};
use results::{
    Failure, IntervalLog, Measurement, Run, RunState, SearchRecord, TrialRecord, TrialResult, UnpacedRate,
    format_value, scale_at, stats_goal, system_loads,
};
use stats::search::{Budget, Loads, SearchError};

use goals::least_judged;
use trial::{MeasuredTrial, Traffic, TrialRun, trial};

use super::observer::Observer;
use crate::{
    error::RunnerError,
    run::{executor::RunExecutor, run_ids::RunIds},
};

/// Highest rate of a search, as a multiple of the rate at maximum speed. In overload a flow may deliver less than it
/// can sustain.
const CEILING: f64 = 2.0;
/// Lowest rate of a search, as a fraction of the highest rate ...
const FLOOR: f64 = 1e-4;
/// ... and as the minimum number of samples in the shortest trial. A goal that needs more samples raises it further.
const LEAST_SAMPLES: f64 = 10.0;
/// Maximum number of trials.
const MOST_TRIALS: usize = 1000;

/// Search in progress.
struct Searching<'a> {
    runs: &'a RunExecutor<'a>,
    cell: &'a Cell,
    plan: &'a experiment::Search,
    names: &'a mut RunIds,
    began: Instant,
}

/// Early end of a search.
enum End {
    Stopped,
    Failed(Failure),
    /// The result cannot be saved, or the host of the agents is lost.
    Broken(RunnerError),
}

/// Executes a search, which is one run. Returns false after a stop request. The record is saved after every
/// trial; an incomplete search is recorded as a failed run.
pub(super) fn execute(
    runs: &RunExecutor<'_>,
    run: &mut Run,
    cell: &Cell,
    names: &mut RunIds,
    observer: &mut dyn Observer,
) -> Result<bool, RunnerError> {
    let experiment = &runs.header.experiment;
    let default = experiment::Search::default();
    let plan = experiment.search.as_ref().unwrap_or(&default);
    let search = SearchRecord {
        ended: false,
        unpaced: None,
        floor_sps: None,
        ceiling_sps: None,
        goals: Vec::new(),
        trials: Vec::new(),
        took_ns: 0,
    };
    run.measured = Some(Measurement::Search { search });
    run.state = RunState::Failed;
    run.failure = Some(failed("interrupted; repeated when the experiment is resumed"));
    let mut searching = Searching { runs, cell, plan, names, began: Instant::now() };
    let outcome = searching.all(run, observer);
    run.phases_ns = [("search".to_owned(), searching.elapsed_ns())].into();
    let record = record_of(run);
    match outcome {
        Ok(()) => {
            record.ended = true;
            run.warnings = goals::warnings(record, plan);
            (run.state, run.failure) = (RunState::Valid, None);
            Ok(true)
        }
        Err(End::Failed(failure)) => {
            record.ended = true;
            run.failure = Some(failure);
            Ok(true)
        }
        Err(End::Stopped) => {
            runs.directory.save_run(run, IntervalLog::new())?;
            Ok(false)
        }
        Err(End::Broken(error)) => Err(error),
    }
}

impl Searching<'_> {
    fn all(&mut self, run: &mut Run, observer: &mut dyn Observer) -> Result<(), End> {
        let goals: Vec<_> = self.plan.goals.iter().map(stats_goal).collect();
        let shortest_ns = goals.iter().map(|goal| goal.initial_trial_duration_ns).min().unwrap_or(1);
        let loads = self.loads(run, shortest_ns)?;
        let budget = Budget { trials: MOST_TRIALS, duration_ns: self.plan.budget_ns };
        let mut search = stats::search::Search::new(goals, loads, budget).map_err(rejected)?;
        goals::update(record_of(run), &search, self.plan, &self.cell.factors);
        while let Some(trial) = search.next_trial() {
            let design = &self.runs.header.experiment.design;
            let overhead_ns = run_overhead_ns(&self.cell.factors.flows);
            let takes_ns = trial.duration_ns + design.warm_up_ns + overhead_ns;
            if self.elapsed_ns().saturating_add(takes_ns) > self.plan.budget_ns {
                break;
            }
            let scale = scale_at(&self.cell.factors, trial.load_sps);
            let traffic = scale.map_or_else(
                || Traffic::Flow(Load::Constant { rate: Rate::nearest(trial.load_sps) }),
                Traffic::System,
            );
            let (measured, repeats) = self.sure(run, &(traffic, trial.duration_ns))?;
            let judged = measured.shown.judge(&self.plan.goals);
            let ratios: Vec<f64> = judged.iter().map(|judged| judged.violation_ratio).collect();
            search.record(trial, &ratios).map_err(rejected)?;
            let MeasuredTrial { run: made, shown: TrialResult { shown, system, .. }, limited_by_sender } =
                *measured;
            let lost =
                made.throughput().map_or((0, 0), |throughput| (throughput.lost, throughput.undelivered));
            run.endpoints = made.endpoints;
            let took_ns = self.elapsed_ns();
            let record = record_of(run);
            record.trials.push(TrialRecord {
                load_sps: trial.load_sps,
                scale: scale.map(Scale::factor),
                duration_ns: trial.duration_ns,
                planned: shown.planned,
                unsent: shown.unsent,
                delivered: shown.delivered,
                lost: lost.0,
                undelivered: lost.1,
                late_ns: shown.late_ns,
                falls_behind: shown.falls_behind(),
                limited_by_sender,
                worst: system.and_then(|system| system.worst),
                judged,
                repeats,
            });
            record.took_ns = took_ns;
            goals::update(record, &search, self.plan, &self.cell.factors);
            let saved = self.runs.directory.save_run(run, IntervalLog::new());
            saved.map_err(|error| End::Broken(error.into()))?;
            let left_ns = self.plan.budget_ns.saturating_sub(took_ns);
            observer.trial_finished(run, self.cell, Duration::from_nanos(left_ns));
        }
        Ok(())
    }

    /// Determines the range of loads: from the scales of the plan, or from a trial of one flow at maximum speed.
    fn loads(&mut self, run: &mut Run, shortest_ns: u64) -> Result<Loads, End> {
        if let Some(loads) = system_loads(self.plan, &self.cell.factors) {
            let record = record_of(run);
            (record.floor_sps, record.ceiling_sps) = (Some(loads.floor_sps), Some(loads.ceiling_sps));
            return Ok(loads);
        }
        let (measured, _) = self.sure(run, &(Traffic::Flow(Load::Max), shortest_ns))?;
        let delivering = measured.run.throughput().filter(|throughput| throughput.delivered > 0);
        let Some(throughput) = delivering else {
            return Err(End::Failed(failed("no sample was delivered at the maximum rate")));
        };
        let floor = LEAST_SAMPLES * 1e9 / shortest_ns as f64;
        let ceiling = (CEILING * throughput.offered_sps.max(throughput.delivered_sps)).max(2.0 * floor);
        let mut floor = floor.max(ceiling * FLOOR);
        if let Some((goal, sps)) = least_judged(self.plan) {
            if sps >= ceiling {
                return Err(End::Failed(too_slow(goal, sps, throughput.offered_sps)));
            }
            floor = floor.max(sps);
        }
        let start = throughput.delivered_sps.clamp(floor, ceiling);
        let record = record_of(run);
        record.unpaced = Some(UnpacedRate {
            duration_ns: shortest_ns,
            offered_sps: throughput.offered_sps,
            delivered_sps: throughput.delivered_sps,
        });
        (record.floor_sps, record.ceiling_sps) = (Some(floor), Some(ceiling));
        Ok(Loads { floor_sps: floor, ceiling_sps: ceiling, start_sps: start })
    }

    /// Executes a trial and repeats it once if it fails. Returns the measurement, and the error of the first attempt.
    fn sure(
        &mut self,
        run: &Run,
        offered: &(Traffic, u64),
    ) -> Result<(Box<MeasuredTrial>, Option<String>), End> {
        let deadline_ns = self.plan.goals.iter().find_map(|goal| goal.deadline_ns);
        let mut first = None;
        loop {
            let tried = trial(self.runs, run, self.cell, offered.clone(), deadline_ns, self.names)
                .map_err(End::Broken)?;
            match (tried, first.take()) {
                (TrialRun::Stopped, _) => return Err(End::Stopped),
                (TrialRun::Measured(measured), first) => return Ok((measured, first)),
                (TrialRun::Failed(failure), None) => {
                    first = Some(format!("in phase `{}`: {}", failure.phase, failure.error));
                }
                (TrialRun::Failed(failure), Some(first)) => {
                    let Failure { phase, error, .. } = &failure;
                    let error = format!("a trial at {} failed twice: {error} (first {first})", offered.0);
                    return Err(End::Failed(Failure { phase: phase.clone(), error, ..failure }));
                }
            }
        }
    }

    fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

fn record_of(run: &mut Run) -> &mut SearchRecord {
    run.measured.as_mut().and_then(Measurement::search_mut).expect("it was begun")
}

/// Returns the failure of a search in which no rate gives enough samples per trial.
fn too_slow(goal: &SearchGoal, needs_sps: f64, offered_sps: f64) -> Failure {
    let error = format!(
        "`{}` needs {} samples/s for a trial to show whether a share of {} comes late, and as fast as it goes \
         {} were written",
        goal.aim,
        format_value(needs_sps),
        goal.loss_ratio,
        format_value(offered_sps)
    );
    let hint = "give `final_trial` or `late_ratio` under `[search]` more, or search for `ndr`".to_owned();
    Failure { hint: Some(hint), ..failed(&error) }
}

fn failed(error: &str) -> Failure {
    let phase = "search".to_owned();
    Failure { phase, endpoint: None, error: error.to_owned(), hint: None, last_log_lines: Vec::new() }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` calls it")]
fn rejected(rejected: SearchError) -> End {
    End::Failed(failed(&rejected.to_string()))
}
