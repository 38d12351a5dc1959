//! One run: its agents walked through all phases, and what they recorded collected.

use std::{collections::BTreeMap, panic::resume_unwind, thread, time::Instant};

use control::{Order, Role};
use experiment::{Beside, Cell, Design, Pin, ScheduledRun};
use results::{Duet, Failure, IntervalLog, Run, RunState};

use crate::{
    RunnerError, Session,
    agent::Log,
    collect::collect,
    crew::{self, Crew, HELLO},
    domain::{Domain, Domains},
    leftovers,
    meeting::{Meeting, Member},
    pair::{DRIVING, Evidence, PairRun, Phases, SERVING, roles},
    session::unix_ns,
    traces::Times,
};

/// What a run tag has room for: 12 bits.
const RUN_TAGS: u32 = 1 << 12;

/// A run that has ended, and what it recorded.
pub(crate) struct Made {
    pub(crate) run: Run,
    pub(crate) log: IntervalLog,
    /// From when to when it measured.
    measured: Option<(Instant, Instant)>,
}

impl Session<'_> {
    /// Executes runs at once: one, or the two of a duet. None if somebody wishes to stop.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(crate) fn make(
        &self,
        scheduled: &[ScheduledRun],
        started_unix_ns: u64,
        names: &mut Names,
        times: &Times,
    ) -> Result<Option<Vec<Made>>, RunnerError> {
        let meeting = Meeting::new();
        // all take part before the first one begins
        let mut tasks: Vec<_> =
            scheduled.iter().map(|run| (*run, names.domains.take(), meeting.join())).collect();
        let names = &*names;
        let run = |(scheduled, domain, member): (ScheduledRun, Domain, Member<'_>)| {
            self.run(scheduled, started_unix_ns, names, times, domain.number, member)
        };
        let Some(last) = tasks.pop() else { return Ok(Some(Vec::new())) };
        let made: Result<Vec<Option<Made>>, RunnerError> = thread::scope(|scope| {
            let others: Vec<_> = tasks
                .into_iter()
                .map(|task| thread::Builder::new().name("duet".to_owned()).spawn_scoped(scope, || run(task)))
                .collect::<Result<_, _>>()
                .map_err(|error| RunnerError::Channel { error })?;
            let last = run(last);
            let others =
                others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            Ok(others.chain([last]).collect())
        });
        let mut made: Option<Vec<Made>> = made?.into_iter().collect();
        if let Some([one, two]) = made.as_deref_mut() {
            let side_by_side_pct = side_by_side_pct(one.measured, two.measured);
            for duet in [one, two].into_iter().filter_map(|made| made.run.duet.as_mut()) {
                duet.side_by_side_pct = side_by_side_pct;
            }
        }
        Ok(made)
    }

    /// Executes one run; none if somebody wishes to stop.
    fn run(
        &self,
        scheduled: ScheduledRun,
        started_unix_ns: u64,
        names: &Names,
        times: &Times,
        domain: u32,
        meeting: Member<'_>,
    ) -> Option<Made> {
        let experiment = &self.header.experiment;
        let cell = &experiment.cells[scheduled.cell];
        let mut run = blank(scheduled, cell, started_unix_ns);
        let design = Design { seed: experiment.design.seed_of_run(run.number), ..experiment.design.clone() };
        let pair = PairRun {
            cell,
            design: &design,
            limits: &experiment.limits,
            run_name: leftovers::run_name(run.number),
            run_tag: names.run_tag(run.number),
            padding_bytes: experiment.environment_padding_bytes(run.number),
            domain,
            cpus: cores(&experiment.design.pin, scheduled.duet),
            times,
            meeting,
        };
        let mut phases = Phases::begin();
        let mut evidence = None;
        run.environment_padding_bytes = Some(pair.padding_bytes);
        let failed = self.walk(&pair, run.number, &mut phases, &mut evidence);
        leftovers::remove(&pair.run_name);
        // what was reported is kept even of a run that failed when its agents were to end
        let log = evidence.map_or_else(IntervalLog::new, |evidence| {
            collect(&mut run, &cell.factors, &design, &evidence, times, self.launcher.one_clock())
        });
        let measured = phases.measured();
        run.phases_ns = phases.into_times();
        match failed {
            Ok(()) => {}
            Err(None) => return None,
            Err(Some(failure)) => {
                run.state = RunState::Failed;
                run.failure = Some(failure);
            }
        }
        Some(Made { run, log, measured })
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
            Ok(crew::Member { role: Some(role), driver, padding_bytes: pair.padding_bytes, log })
        };
        let members = roles(pair.cell.factors.workload).into_iter().map(member);
        Crew::muster(self.launcher, members.collect::<Result<_, RunnerError>>()?, pair.limits, self.stop)
    }
}

/// The cores of the agents, by their numbers in the crew. A run of a duet has half of them.
fn cores(pin: &Pin, duet: Option<Beside>) -> [Option<Vec<u32>>; 2] {
    let half = duet.and_then(|beside| pin.halves()?.into_iter().nth(beside.half));
    let mut cores = [None, None];
    if let Pin::Cores(driving, serving) = half.as_ref().unwrap_or(pin) {
        cores[DRIVING] = Some(driving.clone());
        cores[SERVING] = Some(serving.clone());
    }
    cores
}

/// For how long two runs measured at once, in percent of the longer one's time.
fn side_by_side_pct(one: Option<(Instant, Instant)>, two: Option<(Instant, Instant)>) -> f64 {
    let Some((one, two)) = one.zip(two) else { return 0.0 };
    let both = one.1.min(two.1).saturating_duration_since(one.0.max(two.0));
    let longer = (one.1 - one.0).max(two.1 - two.0);
    if longer.is_zero() { 0.0 } else { 100.0 * both.as_secs_f64() / longer.as_secs_f64() }
}

/// A run of which nothing is known but when it began.
pub(crate) fn blank(scheduled: ScheduledRun, cell: &Cell, started_unix_ns: u64) -> Run {
    Run {
        number: scheduled.number,
        block: scheduled.block,
        twin: scheduled.twin,
        duet: scheduled.duet.map(|beside| Duet { partner: beside.partner, side_by_side_pct: 0.0 }),
        cell: cell.id.clone(),
        state: RunState::Failed,
        failure: None,
        started_unix_ns,
        phases_ns: BTreeMap::new(),
        latency: BTreeMap::new(),
        throughput: None,
        paced: None,
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

/// What tells the runs of all experiments on this host apart.
pub(crate) struct Names {
    domains: Domains,
    first_tag: u32,
}

impl Names {
    pub(crate) fn new() -> Self {
        Self { domains: Domains::new(), first_tag: (unix_ns() >> 10) as u32 ^ std::process::id() }
    }

    fn run_tag(&self, run: u32) -> u16 {
        (self.first_tag.wrapping_add(run) % RUN_TAGS) as u16
    }
}
