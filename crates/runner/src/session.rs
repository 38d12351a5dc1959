//! One experiment: its runs in order, each saved when it has ended.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use control::{Order, Role};
use experiment::{Cell, Design, Pin, ScheduledRun};
use results::{Assembler, Directory, Document, Failure, Header, IntervalLog, Run, RunState, State};

use crate::{
    KeepAwake, Launcher, Observer, Progress, RunnerError, Stop,
    agent::Log,
    collect::collect,
    crew::{Crew, HELLO, Member},
    domain::Domains,
    leftovers,
    pair::{DRIVING, Evidence, PairRun, Phases, SERVING, roles},
};

/// If so many runs of a driver fail at first, and all in the same phase, it is given up.
const GIVE_UP_AFTER: usize = 3;
/// What a run tag has room for: 12 bits.
const RUN_TAGS: u32 = 1 << 12;

/// An experiment and all that is needed to execute it.
///
/// A run that fails costs that run alone, with one exception: a driver is given up when the first three of its runs all
/// fail in the same phase. Its other runs are then not attempted; each is recorded as failed in that phase, with an error
/// that says so, so that the record has all runs of the experiment. A driver of which any run was measured is never given
/// up.
pub struct Session<'a> {
    /// The experiment, and what is known before its first run.
    pub header: Header,
    /// The drivers' files, by their names in the factors.
    pub files: BTreeMap<String, PathBuf>,
    /// Where agents run.
    pub launcher: &'a dyn Launcher,
    /// Where the result is saved.
    pub directory: &'a Directory,
    /// The wish to stop.
    pub stop: &'a Stop,
}

/// What came of an experiment.
#[derive(Debug)]
pub struct Outcome {
    /// All that was measured, which is also saved if it can be.
    pub document: Document,
    /// What ended the experiment before its last run, other than the wish to stop.
    pub trouble: Option<RunnerError>,
}

impl Session<'_> {
    /// Executes the experiment. Blocks; agents end at the latest with the calling thread.
    ///
    /// # Panics
    /// If the file of a driver is missing from [`Session::files`].
    pub fn execute(self, observer: &mut dyn Observer) -> Outcome {
        let mut assembler = Assembler::new(self.header.clone());
        let trouble = self.execute_all(&mut assembler, observer).err();
        let state = if assembler.is_complete() { State::Complete } else { State::Interrupted };
        let mut document = assembler.document(state);
        document.findings = findings::of(&document);
        let saved = self.directory.save_document(&document);
        Outcome { document, trouble: trouble.or_else(|| saved.err().map(RunnerError::Directory)) }
    }

    fn execute_all(&self, assembler: &mut Assembler, observer: &mut dyn Observer) -> Result<(), RunnerError> {
        let experiment = &self.header.experiment;
        self.directory.save_experiment(&self.header)?;
        leftovers::sweep();
        let _awake = experiment.design.keep_awake.then(KeepAwake::start).transpose()?;
        let schedule = experiment.schedule();
        let mut course = Course::new(&schedule, experiment);
        let mut names = Names::new();
        for &scheduled in &schedule {
            if self.stop.requested() {
                return Ok(());
            }
            let cell = &experiment.cells[scheduled.cell];
            let driver = cell.factors.driver.as_str();
            let mut run = blank(scheduled, cell, course.unix_ns());
            if let Some(failure) = course.given_up(driver) {
                run.failure = Some(failure.clone());
                self.directory.save_run(&run, IntervalLog::new())?;
                assembler.add(run, &results::Histograms::new());
                course.finished += 1;
                continue;
            }
            observer.run_started(&course.progress(), cell);
            let Some(log) = self.run(&mut run, cell, &mut names) else { return Ok(()) };
            let histograms = log.merged();
            self.directory.save_run(&run, log)?;
            assembler.add(run.clone(), &histograms);
            let given_up = course.take_note(driver, &run);
            let progress = course.progress();
            observer.run_finished(&progress, &run, cell);
            if let (true, Some(failure)) = (given_up, &run.failure) {
                observer.given_up(&progress, driver, failure);
            }
        }
        Ok(())
    }

    /// Executes one run; none if somebody wishes to stop.
    fn run(&self, run: &mut Run, cell: &Cell, names: &mut Names) -> Option<IntervalLog> {
        let experiment = &self.header.experiment;
        let domain = names.domains.take();
        let pair = PairRun {
            cell,
            design: &experiment.design,
            limits: &experiment.limits,
            run_name: leftovers::run_name(run.number),
            run_tag: names.run_tag(run.number),
            domain: domain.number,
            cpus: cores(&experiment.design),
        };
        let mut phases = Phases::begin();
        let mut evidence = None;
        let failed = self.walk(&pair, run.number, &mut phases, &mut evidence);
        leftovers::remove(&pair.run_name);
        // what was reported is kept even of a run that failed when its agents were to end
        let log = evidence.map_or_else(IntervalLog::new, |evidence| {
            collect(run, &cell.factors, &experiment.design, &evidence, self.launcher.one_clock())
        });
        run.phases_ns = phases.into_times();
        match failed {
            Ok(()) => {}
            Err(None) => return None,
            Err(Some(failure)) => {
                run.state = RunState::Failed;
                run.failure = Some(failure);
            }
        }
        Some(log)
    }

    /// Starts the agents of a run, walks them through its phases, and ends them, whatever happens. Fails with nothing if
    /// somebody wishes to stop.
    fn walk(
        &self,
        pair: &PairRun<'_>,
        number: u32,
        phases: &mut Phases,
        evidence: &mut Option<Evidence>,
    ) -> Result<(), Option<Failure>> {
        let mut crew = self.crew(pair, number).map_err(|error| {
            let hint = error.hint();
            let phase = HELLO.to_owned();
            Some(Failure { phase, role: None, error: error.to_string(), hint, last_words: Vec::new() })
        })?;
        let walked = crew.hellos().and_then(|hellos| {
            *evidence = Some(pair.measure(&mut crew, &hellos, phases)?);
            crew.dismiss()?;
            phases.end(Order::Exit.phase());
            Ok(())
        });
        walked.map_err(|trouble| crew.fail(trouble))
    }

    fn crew<'p>(&self, pair: &PairRun<'p>, number: u32) -> Result<Crew<'p>, RunnerError> {
        let member = |role: Role| {
            let log = Log::in_file(self.directory.log_path(number, role.name()))?;
            let driver = self.files[&pair.cell.factors.driver].clone();
            Ok(Member { role: Some(role), driver, log })
        };
        let members = roles(pair.cell.factors.workload).into_iter().map(member);
        Crew::muster(self.launcher, members.collect::<Result<_, RunnerError>>()?, pair.limits, self.stop)
    }
}

/// The cores of the agents, by their numbers in the crew.
fn cores(design: &Design) -> [Option<Vec<u32>>; 2] {
    let mut cores = [None, None];
    if let Pin::Cores(driving, serving) = &design.pin {
        cores[DRIVING] = Some(driving.clone());
        cores[SERVING] = Some(serving.clone());
    }
    cores
}

/// A run of which nothing is known but when it began.
fn blank(scheduled: ScheduledRun, cell: &Cell, started_unix_ns: u64) -> Run {
    Run {
        number: scheduled.number,
        block: scheduled.block,
        twin: scheduled.twin,
        cell: cell.id.clone(),
        state: RunState::Failed,
        failure: None,
        started_unix_ns,
        phases_ns: BTreeMap::new(),
        latency: BTreeMap::new(),
        throughput: None,
        steady_state: BTreeMap::new(),
        counted: Vec::new(),
        cpu_ns_per_sample: None,
        effective_qos: BTreeMap::new(),
        wire: None,
        udp_buffer_drops: None,
        environment_padding_bytes: None,
        agents: Vec::new(),
        warnings: Vec::new(),
    }
}

pub(crate) fn unix_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// What tells the runs of all experiments on this host apart.
struct Names {
    domains: Domains,
    first_tag: u32,
}

impl Names {
    fn new() -> Self {
        Self { domains: Domains::new(), first_tag: (unix_ns() >> 10) as u32 ^ std::process::id() }
    }

    fn run_tag(&self, run: u32) -> u16 {
        (self.first_tag.wrapping_add(run) % RUN_TAGS) as u16
    }
}

/// How an experiment goes: what is done, what is left, and which drivers are given up.
struct Course<'a> {
    schedule: &'a [ScheduledRun],
    experiment: &'a experiment::Experiment,
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

impl<'a> Course<'a> {
    fn new(schedule: &'a [ScheduledRun], experiment: &'a experiment::Experiment) -> Self {
        let drivers =
            experiment.cells.iter().map(|cell| (cell.factors.driver.as_str(), Attempts::default())).collect();
        Self {
            schedule,
            experiment,
            began: Instant::now(),
            began_unix_ns: unix_ns(),
            finished: 0,
            attempted: 0,
            drivers,
        }
    }

    /// The date, by the clock that does not jump: the wall clock is read once an experiment.
    fn unix_ns(&self) -> u64 {
        let elapsed = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.began_unix_ns.saturating_add(elapsed)
    }

    fn given_up(&self, driver: &str) -> Option<&Failure> {
        self.drivers[driver].given_up.as_ref()
    }

    /// Takes note of a run that was attempted. True if its driver is given up with it.
    fn take_note(&mut self, driver: &str, run: &Run) -> bool {
        self.finished += 1;
        self.attempted += 1;
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

    fn progress(&self) -> Progress {
        let elapsed = self.began.elapsed();
        let planned = Duration::from_nanos(self.experiment.design.expected_run_ns());
        let each = if self.attempted == 0 { planned } else { elapsed / self.attempted };
        let left = self.schedule[self.finished as usize..]
            .iter()
            .filter(|run| self.given_up(&self.experiment.cells[run.cell].factors.driver).is_none())
            .count();
        Progress {
            finished: self.finished,
            total: self.schedule.len() as u32,
            elapsed,
            left: each.saturating_mul(left as u32),
        }
    }
}
