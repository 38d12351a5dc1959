//! Execution of one run, or of the two runs of a duet.

use std::{collections::BTreeSet, panic::resume_unwind, thread, time::Instant};

use collector::{RunContext, RunReports, TraceFiles, collect};
use control::{PayloadBytes, Request};
use experiment::{Cell, Design, DuetSlot, Join, Pin, RunTopology, ScheduledRun, Topology, Workload};
use host::{AgentLog, BarrierGuard, RunBarrier};
use results::{Directory, Failure, IntervalLog, ResultHeader, Run, RunState, Warning, WarningKind};

use super::{
    endpoint_progress::OnProgress,
    run_clocks::{HostClocks, RunClocks, endpoint_hosts},
    run_ids::{RunId, RunIds},
    run_phases::{Phases, RunPhases},
};
use crate::{
    agents::{agent::AgentSpec, agent_set::AgentSet, phase_error::HELLO},
    error::RunnerError,
    sites::Sites,
    stop_token::StopToken,
};

/// Finished run with its data.
pub(crate) struct FinishedRun {
    pub(crate) run: Run,
    pub(crate) log: IntervalLog,
    /// Reports of the agents, if they reached the report phase.
    pub(crate) reports: Option<RunReports>,
    /// Start and end of the measurement.
    measured: Option<(Instant, Instant)>,
}

/// Everything needed to execute runs of an experiment.
#[derive(Clone, Copy)]
pub(crate) struct RunExecutor<'a> {
    pub(crate) header: &'a ResultHeader,
    pub(crate) sites: &'a Sites<'a>,
    pub(crate) directory: &'a Directory,
    pub(crate) stop: &'a StopToken,
    /// Clocks of the hosts, as measured so far.
    pub(crate) clocks: &'a HostClocks,
    /// Receiver of the progress of the agents.
    pub(crate) on_progress: Option<&'a OnProgress<'a>>,
    /// Bytes of the samples, if they are those of a file.
    pub(crate) payload: Option<&'a PayloadBytes>,
}

impl RunExecutor<'_> {
    /// Executes one run, or the two runs of a duet at the same time. Returns `None` after a stop request.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started, or if a host does not answer.
    pub(crate) fn execute(
        &self,
        scheduled: &[ScheduledRun],
        cells: &[Cell],
        started_unix_ns: u64,
        names: &mut RunIds,
        traces: &TraceFiles,
    ) -> Result<Option<Vec<FinishedRun>>, RunnerError> {
        let barrier = RunBarrier::new();
        // All join the barrier before the first run starts.
        let mut tasks = scheduled
            .iter()
            .map(|run| Ok((*run, names.take(run.number, self.sites)?, barrier.join())))
            .collect::<Result<Vec<_>, RunnerError>>()?;
        let one = |(scheduled, name, member): (ScheduledRun, RunId, BarrierGuard<'_>)| {
            let experiment = &self.header.experiment;
            let cell = &cells[scheduled.cell];
            let design = Design {
                seed: experiment.design.seed_of_run(scheduled.number),
                pin: half(&experiment.design.pin, scheduled.duet),
                ..experiment.design.of_cell(&cell.factors)
            };
            self.run(Run::blank(scheduled, cell, started_unix_ns), (cell, &design), name, traces, member)
        };
        let Some(last) = tasks.pop() else { return Ok(Some(Vec::new())) };
        let made: Result<Vec<Option<FinishedRun>>, RunnerError> = thread::scope(|scope| {
            let others: Vec<_> = tasks
                .into_iter()
                .map(|task| {
                    let run = task.0.number;
                    let thread = thread::Builder::new().name(format!("run-{run}"));
                    let spawned = thread.spawn_scoped(scope, || one(task));
                    spawned.map_err(|error| {
                        RunnerError::failed(format!("cannot start the thread of run {run}: {error}"))
                    })
                })
                .collect::<Result<_, _>>()?;
            let last = one(last);
            let others =
                others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            Ok(others.chain([last]).collect())
        });
        let mut made: Option<Vec<FinishedRun>> = made?.into_iter().collect();
        if let Some([one, two]) = made.as_deref_mut() {
            let side_by_side_pct = side_by_side_pct(one.measured, two.measured);
            for duet in [one, two].into_iter().filter_map(|made| made.run.duet.as_mut()) {
                duet.side_by_side_pct = side_by_side_pct;
            }
        }
        Ok(made)
    }

    /// Executes one run, or one trial of a search. Returns `None` after a stop request.
    pub(crate) fn run(
        &self,
        mut run: Run,
        (cell, design): (&Cell, &Design),
        name: RunId,
        traces: &TraceFiles,
        barrier: BarrierGuard<'_>,
    ) -> Option<FinishedRun> {
        let experiment = &self.header.experiment;
        let run_topology = RunTopology::of(&cell.factors, design).in_run(&name.run);
        let limits = experiment.limits.of_endpoints(run_topology.endpoints.len());
        let mut phases = Phases::begin();
        let mut reports = None;
        // Schedules and common starts need a common clock. Round trips and the rates of closed loops do not.
        let needs_one_clock = match cell.factors.workload {
            Workload::Latency => false,
            Workload::Throughput => cell.factors.discovery.join == Join::Late,
            Workload::Paced | Workload::Search | Workload::Discovery => true,
        };
        let hosts = endpoint_hosts(self.sites, &run_topology);
        let members: BTreeSet<String> =
            run_topology.endpoints.iter().map(|endpoint| endpoint.place.host.clone()).collect();
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let link = cell.factors.link.as_ref();
        let ready = self.sites.set_links(link, &members).and_then(|record| {
            run.link = record;
            Ok(RunClocks::before_run(self.clocks, hosts, needs_one_clock)?)
        });
        let clocks = match ready {
            Ok(clocks) => clocks,
            Err(error) => {
                self.sites.release_links(link, &members);
                run.state = RunState::Failed;
                run.failure = Some(before_agents(&error, &run_topology));
                return Some(FinishedRun { run, log: IntervalLog::new(), reports, measured: None });
            }
        };
        let run_phases = RunPhases {
            cell,
            design,
            limits: &limits,
            topology: run_topology,
            run_name: name.run,
            run_tag: name.tag,
            padding_bytes: experiment.environment_padding_bytes(run.number),
            domain: name.domain.number,
            traces,
            clocks,
            on_progress: self.on_progress,
            payload: self.payload,
            barrier,
        };
        run.environment_padding_bytes = Some(run_phases.padding_bytes);
        let before = self.sites.link_reading(link);
        let walked = self.walk(&run_phases, run.number, &mut phases, &mut reports);
        let links = before.zip(self.sites.link_reading(link)).map(|(before, after)| after.since(&before));
        if let (Some(record), Some((frames, lateness))) = (&mut run.link, links) {
            (record.frames, record.lateness) = (Some(frames), lateness);
        }
        self.sites.release_links(link, &members);
        if let Some(reports) = &mut reports
            && let Err(error) = run_phases.clocks.after_run(reports)
        {
            let error = error.to_string();
            reports.clock_faults.push(format!("the clocks cannot be compared any longer: {error}"));
        }
        self.sites.clean(&run_phases.run_name);
        let log = reports.as_ref().map_or_else(IntervalLog::new, |reports| {
            let hosts = &self.header.hosts;
            let context = RunContext { factors: &cell.factors, design, traces, hosts };
            collect(&mut run, &context, reports)
        });
        if name.domain.is_shared && design.domain.is_some() {
            let text = format!(
                "another experiment uses DDS domain {}: each discovers the participants of the other one",
                name.domain.number
            );
            run.warnings.push(Warning::new(WarningKind::OtherExperiment, text));
        }
        let measured = phases.measured();
        run.phases_ns = phases.into_times();
        match walked {
            Ok(None) => {}
            // All reports had come: what they count is complete.
            Ok(Some(failure)) => {
                let text = failed_exit(&failure, &run_phases.topology);
                run.warnings.push(Warning::new(WarningKind::UncleanExit, text));
                run.exit_failure = Some(failure);
            }
            Err(None) => return None,
            Err(Some(failure)) => {
                run.state = RunState::Failed;
                run.failure = Some(failure);
            }
        }
        Some(FinishedRun { run, log, reports, measured })
    }

    /// Starts the agents of a run, leads them through its phases, and ends them in all cases. Returns the failure of an agent
    /// after all reports, and `Err(None)` after a stop request.
    fn walk(
        &self,
        run_phases: &RunPhases<'_>,
        number: u32,
        phases: &mut Phases,
        reports: &mut Option<RunReports>,
    ) -> Result<Option<Failure>, Option<Failure>> {
        let mut agent_set = self
            .agent_set(run_phases, number)
            .map_err(|error| Some(before_agents(&error, &run_phases.topology)))?;
        let walked = agent_set.hellos().and_then(|hellos| {
            *reports = Some(run_phases.measure(&mut agent_set, &hellos, phases)?);
            let dismissed = agent_set.dismiss();
            phases.end(Request::Exit.phase());
            // An endpoint that ended during the measurement is the failure, whatever the exits of the others are.
            agent_set.take_loss().map_or(Ok(dismissed.err()), Err)
        });
        let with_hops = |failure| with_hops(failure, run_phases);
        match walked {
            Ok(None) => Ok(None),
            Ok(Some(phase_error)) => match agent_set.conclude(phase_error) {
                None => Err(None),
                Some((failure, false)) => Ok(Some(failure)),
                Some((failure, true)) => Err(Some(with_hops(failure))),
            },
            Err(phase_error) => Err(agent_set.fail(phase_error).map(with_hops)),
        }
    }

    fn agent_set<'p>(&self, run_phases: &RunPhases<'p>, number: u32) -> Result<AgentSet<'p>, RunnerError> {
        let endpoints = &run_phases.topology.endpoints;
        let process = |members: Vec<usize>| {
            let members: Vec<_> = members.into_iter().map(|member| (member, &endpoints[member])).collect();
            // Endpoints of one process print into the log of the first one.
            let log = AgentLog::in_file(self.directory.log_path(number, &members[0].1.id))?;
            let variables = &run_phases.cell.factors.env;
            Ok(AgentSpec::of_endpoints(self.sites, &members, variables, run_phases.padding_bytes, log))
        };
        let processes = run_phases.topology.processes().into_iter().map(process);
        let processes = processes.collect::<Result<_, RunnerError>>()?;
        AgentSet::spawn(processes, run_phases.limits, self.stop)
    }
}

/// Returns the failure of a run that has no agents yet. If a host is lost, its first endpoint is at fault.
fn before_agents(error: &RunnerError, run_topology: &RunTopology) -> Failure {
    let lost = |host: &str| run_topology.endpoints.iter().find(|endpoint| endpoint.place.host == host);
    let endpoint = error.lost_host().and_then(lost).map(|endpoint| endpoint.id.clone());
    let (phase, hint) = (HELLO.to_owned(), error.hint());
    Failure { phase, endpoint, error: error.to_string(), hint, last_log_lines: Vec::new() }
}

/// Returns the text of a warning about an agent that failed after its report.
fn failed_exit(failure: &Failure, run_topology: &RunTopology) -> String {
    let whose = failure.endpoint.as_ref().map(|endpoint| format!("{}: ", run_topology.label(endpoint)));
    format!(
        "{}{}, after all reports had been received: the values are complete",
        whose.unwrap_or_default(),
        failure.error
    )
}

/// Adds the hops of a ring at which the endpoint at fault breaks it.
fn with_hops(failure: Failure, run_phases: &RunPhases<'_>) -> Failure {
    let is_ring = matches!(run_phases.cell.factors.topology, Topology::Ring { .. });
    let Some(endpoint) = failure.endpoint.as_deref().filter(|_| is_ring) else { return failure };
    let hops = run_phases.topology.connections_of(endpoint).join(" and ");
    Failure { error: format!("{}; the ring is broken {hops}", failure.error), ..failure }
}

/// Returns the pinning of a run: each run of a duet has half of the cores.
fn half(pin: &Pin, duet: Option<DuetSlot>) -> Pin {
    let half = duet.and_then(|beside| pin.halves()?.into_iter().nth(beside.half));
    half.unwrap_or_else(|| pin.clone())
}

/// Returns the time during which both runs measured, in percent of the longer measurement.
fn side_by_side_pct(one: Option<(Instant, Instant)>, two: Option<(Instant, Instant)>) -> f64 {
    let Some((one, two)) = one.zip(two) else { return 0.0 };
    let both = one.1.min(two.1).saturating_duration_since(one.0.max(two.0));
    let longer = (one.1 - one.0).max(two.1 - two.0);
    if longer.is_zero() { 0.0 } else { 100.0 * both.as_secs_f64() / longer.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use experiment::Factors;
    use host::SiteError;

    use super::*;

    #[test]
    fn lost_host_before_the_agents_names_its_endpoint() {
        let factors = Factors { workload: Workload::Latency, ..Factors::default() };
        let mut run_topology = RunTopology::new(&factors, &Pin::None, false);
        for (endpoint, host) in run_topology.endpoints.iter_mut().zip(["h1", "h2"]) {
            endpoint.place.host = host.to_owned();
        }
        let lost = |host: &str| {
            let (host, error, hint) = (host.to_owned(), "its stream ended".to_owned(), None);
            before_agents(&SiteError::Lost { host, error, hint }.into(), &run_topology)
        };
        assert_eq!(lost("h2").endpoint.as_deref(), Some("echo"));
        assert_eq!(lost("h2").error, "host `h2` is lost: its stream ended");
        assert_eq!(lost("h3").endpoint, None, "no endpoint is there");
        assert_eq!(before_agents(&RunnerError::Stopped, &run_topology).endpoint, None);
    }
}
