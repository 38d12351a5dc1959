//! Phases of a run: each leads all serving agents, then all driving ones; the drain goes the other way round.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use collector::{AgentOutcome, LateJoined, Mismatch, RunReports, TraceFiles, mismatch};
use control::{
    AgentReport, Configure, Configured, Drain, Hello, LateJoin, Match, PayloadBytes, QUIET_NS, Reply,
    Request, lead_ns,
};
use experiment::{Cell, Design, Limits, RunTopology, Workload, probe_every};
use host::{BarrierGuard, SiteError, monotonic_ns};

use super::{endpoint_progress::OnProgress, run_clocks::RunClocks};
use crate::agents::{
    agent_set::AgentSet,
    phase_error::{HELLO, PhaseError},
    take,
};

/// Phase in which the two runs of a duet overlap.
pub(super) const MEASURE: &str = "measure";

/// Hint for a difference between requested and effective configuration.
const OVERRIDDEN: &str = "check configuration files and variables of the middleware, and the log of the run";

/// Parameters of a run that its agents need.
pub(crate) struct RunPhases<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) design: &'a Design,
    pub(crate) limits: &'a Limits,
    /// Endpoints, with the topics of the run.
    pub(crate) topology: RunTopology,
    pub(crate) run_name: String,
    pub(crate) run_tag: u16,
    pub(crate) domain: u32,
    pub(crate) padding_bytes: u32,
    /// Samples of the trace files that the experiment follows.
    pub(crate) traces: &'a TraceFiles,
    /// Clocks of the hosts.
    pub(crate) clocks: RunClocks<'a>,
    /// Receiver of the progress of the agents, if the design asks for it.
    pub(crate) on_progress: Option<&'a OnProgress<'a>>,
    /// Bytes of the samples, if they are those of a file.
    pub(crate) payload: Option<&'a PayloadBytes>,
    /// Barrier shared with the other run of a duet.
    pub(crate) barrier: BarrierGuard<'a>,
}

/// Duration of each phase.
pub(crate) struct Phases {
    times: BTreeMap<String, u64>,
    began: Instant,
    measured: Option<(Instant, Instant)>,
}

impl Phases {
    pub(crate) fn begin() -> Self {
        Self { times: BTreeMap::new(), began: Instant::now(), measured: None }
    }

    /// Returns start and end of the measurement.
    pub(crate) const fn measured(&self) -> Option<(Instant, Instant)> {
        self.measured
    }

    /// Ends the current phase with the given name and starts the next one.
    pub(crate) fn end(&mut self, phase: &str) {
        let now = Instant::now();
        let took = u64::try_from((now - self.began).as_nanos()).unwrap_or(u64::MAX);
        self.times.insert(phase.to_owned(), took);
        if phase == MEASURE {
            self.measured = Some((self.began, now));
        }
        self.began = now;
    }

    pub(crate) fn into_times(self) -> BTreeMap<String, u64> {
        self.times
    }
}

/// Traffic of a run.
pub(super) struct Traffic {
    /// Number of samples that each agent sent.
    pub(super) sent: Vec<u64>,
    /// Effective configuration of the late reader, the time in ns that it waited for its matches, and how it joined.
    pub(super) late: Option<(Configured, u64, LateJoined)>,
}

impl RunPhases<'_> {
    /// Leads agents that have sent their hello through all phases except the exit.
    pub(crate) fn measure(
        &self,
        agent_set: &mut AgentSet<'_>,
        hellos: &[Hello],
        phases: &mut Phases,
    ) -> Result<RunReports, PhaseError> {
        phases.end(HELLO);
        let (mut configured, mut matched_ns) = if self.cell.factors.workload == Workload::Discovery {
            self.discover(agent_set, phases)?
        } else {
            let configured = self.configure(agent_set)?;
            self.check_configuration(&configured)?;
            phases.end("configure");
            let matched_ns = self.match_up(agent_set, &configured)?;
            phases.end("match");
            (configured, matched_ns)
        };
        self.meet();
        let answered_ns = self.warm_up(agent_set)?;
        self.meet();
        phases.end("warm_up");
        let Traffic { sent, late } = self.traffic(agent_set, lead_ns(answered_ns), &configured)?;
        phases.end(MEASURE);
        self.meet();
        let join = late.map(|(of_late, waited_ns, join)| {
            configured.push(of_late);
            matched_ns.push(waited_ns);
            join
        });
        let drained = self.drain(agent_set, &sent, join.as_ref().map(|join| join.joined_ns))?;
        phases.end("drain");
        let reports = self.reports(agent_set)?;
        phases.end("report");

        let agents = reports.into_iter().map(|(agent, report)| AgentOutcome {
            endpoint: self.topology.endpoints[agent].clone(),
            pid: hellos[agent].pid,
            clock: hellos[agent].clock.clone(),
            // Known after the run.
            clock_error_ns: None,
            matched_ns: matched_ns[agent],
            configured: configured[agent].clone(),
            sent: sent[agent],
            drained: drained[agent],
            report,
        });
        let lost = agent_set.lost().map(|agent| self.topology.endpoints[agent].clone());
        Ok(RunReports { agents: agents.collect(), lost: lost.collect(), clock_faults: Vec::new(), join })
    }

    /// Returns the time that all phases together may take, in ns.
    fn longest_ns(&self) -> u64 {
        let Limits { hello_ns, configure_ns, match_ns, grace_ns, drain_ns, report_ns, exit_ns, ping_ns: _ } =
            *self.limits;
        let traffic =
            [self.design.warm_up_ns, self.design.measure_ns, grace_ns, grace_ns, grace_ns, grace_ns];
        let others = [hello_ns, configure_ns, match_ns, drain_ns, report_ns, exit_ns];
        traffic.into_iter().chain(others).fold(0, u64::saturating_add)
    }

    /// Waits for the other run of a duet, at most as long as all of its phases may take.
    fn meet(&self) {
        // If the wait times out, the overlap of the measurements in both runs shows it.
        let _ = self.barrier.meet(Duration::from_nanos(self.longest_ns()));
    }

    /// Returns a time of the common clock from now, in ns.
    pub(super) fn common_time_in(&self, distance_ns: u64, phase: &'static str) -> Result<u64, PhaseError> {
        let failed = |error: SiteError| PhaseError::new(phase, 0, error.to_string(), error.hint());
        Ok(self.clocks.now_ns().map_err(failed)?.saturating_add(distance_ns))
    }

    /// Opens the entities of all agents at the same time, without those of a late reader. Returns their effective
    /// configurations.
    fn configure(&self, agent_set: &mut AgentSet<'_>) -> Result<Vec<Configured>, PhaseError> {
        let agents = 0..self.early_shape().endpoints.len();
        let requests: Vec<_> = agents.map(|agent| (agent, self.configuration(agent))).collect();
        let configured = take!(Reply::Configured(configured) => *configured);
        agent_set.ask(&requests, self.limits.configure_ns, configured)
    }

    /// Returns the configure request of an endpoint.
    pub(crate) fn configuration(&self, agent: usize) -> Request {
        let endpoint = &self.topology.endpoints[agent];
        Request::Configure(Box::new(Configure {
            role: endpoint.role,
            run_name: self.run_name.clone(),
            run_tag: self.run_tag,
            seed: self.design.seed,
            domain: self.domain,
            participant: endpoint.participant.clone(),
            writers: endpoint.writers.clone(),
            readers: endpoint.readers.clone(),
            cpus: endpoint.place.cpus.clone(),
            priorities: endpoint.place.priorities,
            measure_ns: self.design.measure_ns,
            windows: self.design.windows,
            check_every: self.design.check_every,
            probe_every: probe_every(&self.cell.factors, self.design).filter(|_| endpoint.has_echoes()),
            await_echo: self.design.await_echo,
            traces: self.traces.of_endpoint(endpoint),
            payload: self.payload.cloned(),
            begin_ns: None,
            late_join: self.late_reader().map(|_| LateJoin::Early),
            spin: endpoint.place.spin.unwrap_or(self.design.spin),
            timeline: self.clocks.conversion(agent),
            clock_slack_ns: self.clocks.slack_ns(self.longest_ns()),
            ping_timeout_ns: self.limits.least_ping_ns(&self.cell.factors),
        }))
    }

    /// Fails the run if an effective setting contradicts the requested one.
    pub(super) fn check_configuration(&self, configured: &[Configured]) -> Result<(), PhaseError> {
        mismatch(&self.topology, configured).map_or(Ok(()), |Mismatch { agent, error }| {
            Err(PhaseError::new("configure", agent, error, Some(OVERRIDDEN.to_owned())))
        })
    }

    /// Waits until all entities are matched. Returns the time that each agent waited, in ns.
    fn match_up(
        &self,
        agent_set: &mut AgentSet<'_>,
        configured: &[Configured],
    ) -> Result<Vec<u64>, PhaseError> {
        let topology = self.early_shape();
        let topics = topology.topics();
        let matches = |agent| Match::of(&topics, agent, configured, self.limits.match_ns);
        let agents = 0..topology.endpoints.len();
        let requests: Vec<_> = agents.map(|agent| (agent, Request::Match(matches(agent)))).collect();
        // The agents time out first: their errors say more than a missing answer.
        let limit_ns = self.limits.match_ns.saturating_add(self.limits.grace_ns);
        agent_set.ask(&requests, limit_ns, take!(Reply::Matched { waited_ns, .. } => waited_ns))
    }

    /// Executes the warm-up. Returns the time in ns that the agents took to answer, in addition to the traffic.
    fn warm_up(&self, agent_set: &mut AgentSet<'_>) -> Result<u64, PhaseError> {
        let Design { warm_up_ns: duration_ns, warm_up_samples: samples, .. } = *self.design;
        let mut answered_ns: u64 = 0;
        let [serving, driving] = self.serving_first(duration_ns);
        for ((agents, limit_ns), traffic_ns) in [(serving, 0), (driving, duration_ns)] {
            let begin_ns = monotonic_ns();
            let requests = to_all(&agents, &Request::WarmUp { duration_ns, samples });
            agent_set.ask(&requests, limit_ns, take!(Reply::WarmedUp => ()))?;
            let took_ns = monotonic_ns() - begin_ns;
            // A number of samples may end the traffic early, after an unknown time: then the driving agents are assumed to answer
            // like the serving ones.
            answered_ns += took_ns.checked_sub(traffic_ns).unwrap_or(answered_ns);
        }
        Ok(answered_ns)
    }

    /// Returns the serving agents, then the driving ones, each with their time limit: serving agents answer at once,
    /// driving ones after the traffic. Without a late reader.
    pub(super) fn serving_first(&self, duration_ns: u64) -> [(Vec<usize>, u64); 2] {
        let grace_ns = self.limits.grace_ns;
        let late = self.late_reader();
        let serving =
            self.topology.serving().map(|(agent, _)| agent).filter(|agent| Some(*agent) != late).collect();
        let driving = self.topology.driving().map(|(agent, _)| agent).collect();
        [(serving, grace_ns), (driving, duration_ns.saturating_add(grace_ns))]
    }

    /// Drains the run. `sent`: number of samples that each agent sent. Returns whether each agent has no sample
    /// outstanding. `joined_ns`: time at which a late reader had joined.
    fn drain(
        &self,
        agent_set: &mut AgentSet<'_>,
        sent: &[u64],
        joined_ns: Option<u64>,
    ) -> Result<Vec<bool>, PhaseError> {
        // The number of samples of a lost agent is unknown: the readers wait until none comes.
        let is_unknown = agent_set.lost().any(|agent| self.topology.endpoints[agent].role.drives());
        let timeout_ns = self.limits.drain_ns;
        // Samples may still be on their way over links with a delay.
        let quiet_ns = QUIET_NS.max(self.limits.least_ping_ns(&self.cell.factors));
        let request = |agent: usize| {
            let sent = if is_unknown { u64::MAX } else { self.topology.expected(agent, sent) };
            Request::Drain(Drain { sent, timeout_ns, quiet_ns, joined_ns })
        };
        let limit_ns = self.limits.drain_ns.saturating_add(self.limits.grace_ns);
        let mut drained = vec![false; sent.len()];
        // The writers first: once all samples are acknowledged, the readers do not have to wait.
        let [(mut serving, _), (driving, _)] = self.serving_first(0);
        serving.extend(self.late_reader());
        for agents in [driving, serving] {
            let complete = take!(Reply::Drained { complete } => complete);
            let requests = of_each(&agents, request);
            for (agent, complete) in agent_set.ask_remaining(&requests, limit_ns, complete)? {
                drained[agent] = complete;
            }
        }
        Ok(drained)
    }

    /// Returns the reports of the agents that are not lost, with their indices.
    fn reports(&self, agent_set: &mut AgentSet<'_>) -> Result<Vec<(usize, AgentReport)>, PhaseError> {
        let all: Vec<usize> = (0..self.topology.endpoints.len()).collect();
        let report = take!(Reply::Report(report) => *report);
        agent_set.ask_remaining(&to_all(&all, &Request::Report), self.limits.report_ns, report)
    }
}

/// Returns the request of each of these agents.
fn of_each(agents: &[usize], request: impl Fn(usize) -> Request) -> Vec<(usize, Request)> {
    agents.iter().map(|&agent| (agent, request(agent))).collect()
}

/// Returns the same request for each of these agents.
pub(super) fn to_all(agents: &[usize], request: &Request) -> Vec<(usize, Request)> {
    agents.iter().map(|&agent| (agent, request.clone())).collect()
}
