//! One run: its agents walked through all phases, and what they recorded collected.

use std::collections::BTreeMap;

use control::{Order, Role};
use experiment::{Cell, Design, Pin, ScheduledRun};
use results::{Failure, IntervalLog, Run, RunState};

use crate::{
    RunnerError, Session,
    agent::Log,
    collect::collect,
    crew::{Crew, HELLO, Member},
    domain::Domains,
    leftovers,
    pair::{DRIVING, Evidence, PairRun, Phases, SERVING, roles},
    session::unix_ns,
    traces::Times,
};

/// What a run tag has room for: 12 bits.
const RUN_TAGS: u32 = 1 << 12;

impl Session<'_> {
    /// Executes one run; none if somebody wishes to stop.
    pub(crate) fn run(
        &self,
        run: &mut Run,
        cell: &Cell,
        names: &mut Names,
        times: &Times,
    ) -> Option<IntervalLog> {
        let experiment = &self.header.experiment;
        let domain = names.domains.take();
        let pair = PairRun {
            cell,
            design: &experiment.design,
            limits: &experiment.limits,
            run_name: leftovers::run_name(run.number),
            run_tag: names.run_tag(run.number),
            padding_bytes: experiment.environment_padding_bytes(run.number),
            domain: domain.number,
            cpus: cores(&experiment.design),
            times,
        };
        let mut phases = Phases::begin();
        let mut evidence = None;
        run.environment_padding_bytes = Some(pair.padding_bytes);
        let failed = self.walk(&pair, run.number, &mut phases, &mut evidence);
        leftovers::remove(&pair.run_name);
        // what was reported is kept even of a run that failed when its agents were to end
        let log = evidence.map_or_else(IntervalLog::new, |evidence| {
            collect(run, &cell.factors, &experiment.design, &evidence, times, self.launcher.one_clock())
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
            Ok(Member { role: Some(role), driver, padding_bytes: pair.padding_bytes, log })
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
pub(crate) fn blank(scheduled: ScheduledRun, cell: &Cell, started_unix_ns: u64) -> Run {
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
