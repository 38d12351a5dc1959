//! Execution of an experiment: blocks in order, each between two noise probes; each run is saved when it ends.

mod host_watch;
mod max_rate;
pub(crate) mod observer;
mod opened_processes;
pub(crate) mod preflight;
mod progress_tracker;
mod search;

use std::{collections::BTreeMap, time::Instant};

use collector::TraceFiles;
use experiment::{Cell, ScheduledRun, Workload};
use host::unix_ns;
use results::{
    Assembler, Block, Directory, ExperimentLog, Failure, Histograms, HostNoise, IntervalLog, Metric,
    ResultDocument, ResultHeader, Resumption, Run, RunningExperiment, State, StoppedBy, with_rate,
};
use stopping_rule::NextBlock;

use self::{
    host_watch::{HostWatch, Moment},
    max_rate::MaximumRuns,
    observer::Observer,
    progress_tracker::ProgressTracker,
};
use crate::{
    error::RunnerError,
    run::{
        endpoint_progress::OnProgress,
        executor::RunExecutor,
        planned_files::{read_payload, read_traces},
        run_clocks::HostClocks,
        run_ids::RunIds,
    },
    sites::Sites,
    stop_token::StopToken,
};

/// Experiment with everything needed to execute it.
///
/// A failed run does not affect other runs, with one exception: a driver is given up when its first three runs all
/// fail in the same phase. Its remaining runs are not attempted. Each is recorded as failed in that phase, with an
/// error that says so: the result contains all runs of the experiment. A driver with at least one measured run is
/// never given up. Runs with a rate in percent are recorded in the same way if the maximum rate of their cell could
/// not be measured.
pub struct ExperimentRunner<'a> {
    /// Experiment and everything known before its first run.
    pub header: ResultHeader,
    /// Hosts of the agents.
    pub sites: &'a Sites<'a>,
    /// Results directory.
    pub directory: &'a Directory,
    /// Stop token.
    pub stop: &'a StopToken,
    /// Receiver of the progress of the agents, if the design asks for it.
    pub on_progress: Option<&'a OnProgress<'a>>,
}

/// Outcome of an experiment.
#[derive(Debug)]
pub struct ExperimentOutcome {
    /// Result with all measurements; also saved, if that is possible.
    pub document: ResultDocument,
    /// Error that ended the experiment early; `None` if it is complete or a stop was requested.
    pub error: Option<RunnerError>,
}

impl ExperimentRunner<'_> {
    /// Executes the experiment. Blocks the calling thread; agents end no later than that thread.
    ///
    /// # Panics
    /// Panics if a host lacks the file of a driver.
    pub fn execute(self, observer: &mut dyn Observer) -> ExperimentOutcome {
        let log = stopping_rule::begin(&self.header.experiment);
        let assembler = Assembler::new(self.header.clone());
        let saved = self.directory.save_experiment(&self.header).and(self.directory.save_log(&log));
        self.go_on(assembler, log, saved.map_err(RunnerError::Directory), observer)
    }

    /// Resumes an interrupted experiment from its saved part: executes the missing runs in the planned order.
    /// `differences` describes what has changed since then.
    ///
    /// # Panics
    /// Panics if a host lacks the file of a driver.
    pub fn resume(
        self,
        assembler: Assembler,
        mut log: ExperimentLog,
        differences: Vec<String>,
        observer: &mut dyn Observer,
    ) -> ExperimentOutcome {
        log.allocation.stopped_by = None;
        let first_run = (1..).find(|&run| !assembler.holds(run)).unwrap_or(0);
        log.resumed.push(Resumption { at_unix_ns: unix_ns(), first_run, differences });
        let saved = self.directory.save_log(&log);
        self.go_on(assembler, log, saved.map_err(RunnerError::Directory), observer)
    }

    fn go_on(
        self,
        mut assembler: Assembler,
        mut log: ExperimentLog,
        ready: Result<(), RunnerError>,
        observer: &mut dyn Observer,
    ) -> ExperimentOutcome {
        let made = ready.and_then(|()| self.make_blocks(&mut assembler, &mut log, observer));
        log.allocation.stopped_by.get_or_insert(StoppedBy::Interrupted);
        let kept = self.directory.save_log(&log).map_err(RunnerError::Directory);
        let state = if log.is_complete() { State::Complete } else { State::Interrupted };
        assembler.set_log(log);
        let mut document = assembler.document(state);
        document.findings = findings::find(&document);
        document.verdicts = verdicts::judge(&document);
        document.over_bases = verdicts::over_bases(&document);
        let saved = self.directory.save_document(&document).map_err(RunnerError::Directory);
        ExperimentOutcome { document, error: made.and(kept).and(saved).err() }
    }

    fn make_blocks(
        &self,
        assembler: &mut Assembler,
        log: &mut ExperimentLog,
        observer: &mut dyn Observer,
    ) -> Result<(), RunnerError> {
        let experiment = &self.header.experiment;
        let traces = read_traces(experiment, self.directory)?;
        self.sites.sweep();
        let directory = std::path::absolute(self.directory.path());
        let announced =
            self.sites.announce(directory.as_deref().unwrap_or_else(|_| self.directory.path()))?;
        let (own, _announcements): (Vec<_>, Vec<_>) = announced.into_iter().unzip();
        let _awake = experiment.design.keep_awake.then(|| self.sites.keep_awake()).transpose()?;
        let mut names = RunIds::new(experiment.design.domain);
        let ExperimentRunner { header, sites, directory, stop, on_progress } = self;
        let clocks = HostClocks::default();
        let payload = experiment.design.payload.as_ref().map(read_payload).transpose()?;
        let executor = RunExecutor {
            header,
            sites,
            directory,
            stop,
            clocks: &clocks,
            on_progress: *on_progress,
            payload: payload.as_ref(),
        };
        if !MaximumRuns(&executor).measure(log, &mut names, observer)? {
            return Ok(());
        }
        let mut maker = Maker {
            executor,
            cells: experiment.cells.iter().map(|cell| with_rate(cell, &log.max_rates)).collect(),
            without_maximum: without_maximum(log),
            watch: HostWatch::new(experiment, sites)?,
            own,
            tally: ProgressTracker::new(experiment),
            names,
            traces,
            measured: None,
        };
        maker.remember(assembler);
        let schedule = experiment.schedule();
        loop {
            if stopping_rule::is_due(experiment, log) {
                stopping_rule::decide(experiment, log, |cell| assembler.runs_of(cell));
                self.directory.save_log(log)?;
                observer.allocated(&log.allocation);
            }
            match stopping_rule::next(experiment, &schedule, log) {
                NextBlock::Done(why) => {
                    log.allocation.stopped_by = Some(why);
                    return Ok(());
                }
                NextBlock::Block { number, repeats, runs } => {
                    if let Some(noisy) =
                        repeats.and_then(|noisy| log.blocks.iter().find(|b| b.number == noisy))
                    {
                        observer.repeating(noisy);
                    }
                    if !maker.block(number, repeats, &runs, assembler, log, observer)? {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Executor of blocks.
struct Maker<'s> {
    executor: RunExecutor<'s>,
    /// Cells of the experiment, with rates in percent replaced by samples/s.
    cells: Vec<Cell>,
    /// Failure of each cell whose maximum rate could not be measured, by cell id.
    without_maximum: BTreeMap<String, Failure>,
    watch: HostWatch<'s>,
    /// This experiment, as others on its hosts see it.
    own: Vec<RunningExperiment>,
    tally: ProgressTracker<'s>,
    names: RunIds,
    traces: TraceFiles,
    /// Noise and references after the last block, reused as those before the next block.
    measured: Option<Vec<Moment>>,
}

impl Maker<'_> {
    /// Counts the runs that were saved earlier.
    fn remember(&mut self, assembler: &Assembler) {
        for run in assembler.runs_in_order() {
            let cells = &self.executor.header.experiment.cells;
            if let Some(cell) = cells.iter().find(|cell| cell.id == run.cell) {
                self.tally.take_note(&cell.factors.driver, run, false);
            }
        }
    }

    /// Executes the missing runs of a block. Returns false after a stop request.
    fn block(
        &mut self,
        number: u32,
        repeats: Option<u32>,
        runs: &[ScheduledRun],
        assembler: &mut Assembler,
        log: &mut ExperimentLog,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunnerError> {
        let directory = self.executor.directory;
        let rule = log.noise_rule.clone();
        let begun_before = log.blocks.last().is_some_and(|block| block.number == number);
        let began = Instant::now();
        if self.executor.stop.requested() {
            return Ok(false);
        }
        if !begun_before {
            let before = self.watch.measure(&rule, self.measured.take().as_deref())?;
            log.blocks.push(Block {
                number,
                repeats,
                noisy: false,
                reasons: Vec::new(),
                first_run: runs.first().map_or(0, |run| run.number),
                complete: false,
                took_ns: None,
                hosts: self.watch.begin(before),
                others: self.others()?,
            });
            directory.save_log(log)?;
        }
        let counters = self.watch.counters()?;
        let blocks =
            log.allocation.planned + log.blocks.iter().filter(|block| block.repeats.is_some()).count() as u32;
        for at_once in runs.chunk_by(|run, next| run.duet.is_some_and(|duet| duet.partner == next.number)) {
            if at_once.iter().all(|run| assembler.holds(run.number)) {
                continue;
            }
            if self.executor.stop.requested()
                || !self.execute_at_once(at_once, blocks, assembler, observer)?
            {
                return Ok(false);
            }
        }
        let changes: Vec<HostNoise> =
            self.watch.counters()?.iter().zip(&counters).map(|(now, before)| now.since(before)).collect();
        let after = self.watch.measure(&rule, None)?;
        let rtt = self.median_rtt(number, assembler);
        let others = self.others()?;
        let block = log.blocks.last_mut().expect("it was begun");
        block.complete = true;
        block.others.extend(others);
        block.others.sort();
        block.others.dedup();
        host_watch::end(&mut block.hosts, &after, (!begun_before).then_some(changes));
        block.reasons = rule.judge_hosts(block, rtt);
        block.noisy = !block.reasons.is_empty();
        if !begun_before {
            block.took_ns = u64::try_from(began.elapsed().as_nanos()).ok();
        }
        observer.block_finished(block);
        self.measured = Some(after);
        log.allocation.made += u32::from(repeats.is_none());
        directory.save_log(log)?;
        Ok(true)
    }

    /// Returns the other experiments that run on the hosts now.
    fn others(&self) -> Result<Vec<RunningExperiment>, RunnerError> {
        let mut others = self.executor.sites.announced()?;
        others.retain(|other| !self.own.contains(other));
        Ok(others)
    }

    /// Executes one run or the two runs of a duet, or records them as not attempted. Returns false after a stop
    /// request.
    fn execute_at_once(
        &mut self,
        at_once: &[ScheduledRun],
        blocks: u32,
        assembler: &mut Assembler,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunnerError> {
        let directory = self.executor.directory;
        let cells = &self.cells;
        let driver = |run: &ScheduledRun| cells[run.cell].factors.driver.as_str();
        if let Some(failures) = self.not_attempted(at_once) {
            for (&scheduled, failure) in at_once.iter().zip(failures) {
                let mut run = Run::blank(scheduled, &cells[scheduled.cell], self.tally.unix_ns());
                run.failure = Some(failure);
                directory.save_run(&run, IntervalLog::new())?;
                self.tally.pass_over();
                assembler.add(run, &Histograms::new());
            }
            return Ok(true);
        }
        for run in at_once {
            observer.run_started(&self.tally.progress(blocks), &cells[run.cell]);
        }
        let now = self.tally.unix_ns();
        let made = match at_once {
            [scheduled] if cells[scheduled.cell].factors.workload == Workload::Search => {
                let cell = &cells[scheduled.cell];
                let mut run = Run::blank(*scheduled, cell, now);
                if !search::execute(&self.executor, &mut run, cell, &mut self.names, observer)? {
                    // The run is saved as interrupted.
                    assembler.add(run, &Histograms::new());
                    return Ok(false);
                }
                vec![(run, IntervalLog::new(), None)]
            }
            _ => match self.executor.execute(at_once, cells, now, &mut self.names, &self.traces)? {
                Some(made) => made.into_iter().map(|made| (made.run, made.log, made.reports)).collect(),
                None => return Ok(false),
            },
        };
        for (scheduled, (run, log, reports)) in at_once.iter().zip(made) {
            let histograms = log.merged_of(&run.pooled_kinds());
            directory.save_run(&run, log)?;
            assembler.add(run.clone(), &histograms);
            let given_up = self.tally.take_note(driver(scheduled), &run, true);
            let progress = self.tally.progress(blocks);
            if let Some(reports) = reports {
                let reports: Vec<_> = reports.agents.iter().map(|agent| &agent.report).collect();
                observer.reported(&reports, &run);
            }
            observer.run_finished(&progress, &run, &cells[scheduled.cell]);
            if let (true, Some(failure)) = (given_up, &run.failure) {
                observer.given_up(&progress, driver(scheduled), failure);
            }
        }
        Ok(true)
    }

    /// Returns the failures of runs that cannot be executed: their rate is unknown, or a driver of them is given up.
    fn not_attempted(&self, at_once: &[ScheduledRun]) -> Option<Vec<Failure>> {
        let driver = |run: &ScheduledRun| self.cells[run.cell].factors.driver.as_str();
        if let Some(given_up) = at_once.iter().find(|run| self.tally.given_up(driver(run)).is_some()) {
            let failure = self.tally.given_up(driver(given_up))?;
            let why = |run: &ScheduledRun| match self.tally.given_up(driver(run)) {
                Some(own) => own.clone(),
                None => {
                    let given_up = driver(given_up);
                    let error = format!(
                        "not attempted: driver `{given_up}` of the other run of the duet was given up"
                    );
                    Failure { error, ..failure.clone() }
                }
            };
            return Some(at_once.iter().map(why).collect());
        }
        let unknown = |run: &ScheduledRun| self.without_maximum.get(&self.cells[run.cell].id).cloned();
        at_once.iter().map(unknown).collect()
    }

    /// Returns the median of the median RTTs of a block, in ns.
    fn median_rtt(&self, block: u32, assembler: &Assembler) -> Option<f64> {
        let runs = assembler.runs().filter(|run| run.block == block);
        stats::median(&runs.filter_map(|run| run.value(Metric::RttP50)).collect::<Vec<_>>())
    }
}

/// Returns the failure of each cell whose maximum rate could not be measured, by cell id.
fn without_maximum(log: &ExperimentLog) -> BTreeMap<String, Failure> {
    let failed = log.max_rates.iter().filter_map(|maximum| Some((maximum, maximum.failure()?)));
    failed
        .flat_map(|(maximum, failure)| maximum.cells.iter().map(move |cell| (cell.clone(), failure.clone())))
        .collect()
}
