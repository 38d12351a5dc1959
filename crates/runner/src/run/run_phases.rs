//! Phases of a run with two agents: a driving one, which writes first, and a serving one.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use collector::{
    AgentOutcome, DRIVING, Mismatch, RunReports, SERVING, TraceTimes, mismatch, probe_every, roles,
};
use control::{Configure, Configured, Drain, Match, QUIET_NS, Reply, Request, Role, lead_ns};
use experiment::{Cell, Design, Limits, Workload};
use nix::time::{ClockId, clock_gettime};

use crate::{
    agents::agent_set::{AgentSet, HELLO, Hello, PhaseError, unexpected},
    run_barrier::BarrierGuard,
};

/// Phase in which the two runs of a duet overlap.
const MEASURE: &str = "measure";

/// Hint for a difference between requested and effective configuration.
const OVERRIDDEN: &str = "check configuration files and variables of the middleware, and the log of the run";

/// Parameters of a run that its agents need.
pub(crate) struct RunPhases<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) design: &'a Design,
    pub(crate) limits: &'a Limits,
    pub(crate) run_name: String,
    pub(crate) run_tag: u16,
    pub(crate) domain: u32,
    pub(crate) padding_bytes: u32,
    /// Cores of each agent, by index.
    pub(crate) cpus: [Option<Vec<u32>>; 2],
    /// Times of the trace files that the experiment follows.
    pub(crate) traces: &'a TraceTimes,
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

impl RunPhases<'_> {
    /// Leads agents that have sent their hello through all phases except the exit.
    pub(crate) fn measure(
        &self,
        agent_set: &mut AgentSet<'_>,
        hellos: &[Hello],
        phases: &mut Phases,
    ) -> Result<RunReports, PhaseError> {
        phases.end(HELLO);
        let configured = self.configure(agent_set)?;
        self.check_configuration(&configured)?;
        phases.end("configure");
        self.match_up(agent_set, &configured)?;
        phases.end("match");
        self.meet();
        let answered_ns = self.warm_up(agent_set)?;
        self.meet();
        phases.end("warm_up");
        let sent = self.traffic(agent_set, lead_ns(answered_ns))?;
        phases.end(MEASURE);
        self.meet();
        let (acknowledged, arrived) = self.drain(agent_set, sent)?;
        phases.end("drain");
        let reports = agent_set
            .order(&[(SERVING, Request::Report), (DRIVING, Request::Report)], self.limits.report_ns)?;
        let [serving, driving] = expect(Request::Report.phase(), reports, |reply| match reply {
            Reply::Report(report) => Ok(*report),
            other => Err(other),
        })?;
        phases.end("report");

        let [serving_role, driving_role] = roles(self.cell.factors.workload);
        let [serving_configured, driving_configured] = configured;
        let outcome = |role, pid, configured, report| AgentOutcome { role, pid, configured, report };
        let agents = [
            outcome(serving_role, hellos[SERVING].pid, serving_configured, serving),
            outcome(driving_role, hellos[DRIVING].pid, driving_configured, driving),
        ];
        Ok(RunReports { sent, acknowledged, arrived, agents })
    }

    /// Waits for the other run of a duet, at most as long as all of its phases may take.
    fn meet(&self) {
        let Limits { hello_ns, configure_ns, match_ns, grace_ns, drain_ns, report_ns, exit_ns } =
            *self.limits;
        let traffic =
            [self.design.warm_up_ns, self.design.measure_ns, grace_ns, grace_ns, grace_ns, grace_ns];
        let others = [hello_ns, configure_ns, match_ns, drain_ns, report_ns, exit_ns];
        let limit_ns = traffic.into_iter().chain(others).fold(0, u64::saturating_add);
        // If the wait times out, the overlap of the measurements in both runs shows it.
        let _ = self.barrier.meet(Duration::from_nanos(limit_ns));
    }

    fn configure(&self, agent_set: &mut AgentSet<'_>) -> Result<[Configured; 2], PhaseError> {
        let [serving, driving] = roles(self.cell.factors.workload);
        let orders = [(SERVING, self.configuration(serving)), (DRIVING, self.configuration(driving))];
        let replies = agent_set.order(&orders, self.limits.configure_ns)?;
        expect("configure", replies, |reply| match reply {
            Reply::Configured(configured) => Ok(*configured),
            other => Err(other),
        })
    }

    /// Returns the configure request of a role.
    pub(crate) fn configuration(&self, role: Role) -> Request {
        let number = if role.drives() { DRIVING } else { SERVING };
        Request::Configure(Box::new(Configure {
            role,
            factors: self.cell.factors.clone(),
            run_name: self.run_name.clone(),
            run_tag: self.run_tag,
            seed: self.design.seed,
            domain: self.domain,
            topic: topic(&self.run_name, "out"),
            topic_back: topic(&self.run_name, "back"),
            cpus: self.cpus[number].clone(),
            measure_ns: self.design.measure_ns,
            windows: self.design.windows,
            check_every: self.design.check_every,
            traces: self.traces.by_flow(&self.cell.factors),
            spin: self.design.spin,
            probe_every: probe_every(&self.cell.factors, self.design),
        }))
    }

    /// Fails the run if an effective setting contradicts the requested one.
    fn check_configuration(&self, configured: &[Configured; 2]) -> Result<(), PhaseError> {
        mismatch(&self.cell.factors, self.design, configured.each_ref()).map_or(Ok(()), |wrong| {
            let Mismatch { agent, error } = wrong;
            let hint = Some(OVERRIDDEN.to_owned());
            Err(PhaseError::Phase { phase: "configure", agent, error, hint, gone: false })
        })
    }

    fn match_up(&self, agent_set: &mut AgentSet<'_>, configured: &[Configured; 2]) -> Result<(), PhaseError> {
        let with = |peer: usize| {
            Request::Match(Match {
                reader_locators: configured[peer].reader_locators.clone(),
                writer_locators: configured[peer].writer_locators.clone(),
                peers: 1,
                timeout_ns: self.limits.match_ns,
            })
        };
        // The agents time out first: their errors say more than a missing answer.
        let limit_ns = self.limits.match_ns.saturating_add(self.limits.grace_ns);
        let replies = agent_set.order(&[(SERVING, with(DRIVING)), (DRIVING, with(SERVING))], limit_ns)?;
        expect("match", replies, |reply| match reply {
            Reply::Matched { .. } => Ok(()),
            other => Err(other),
        })?;
        Ok(())
    }

    /// Executes the warm-up. Returns the time in ns that both agents took to answer, in addition to the traffic.
    fn warm_up(&self, agent_set: &mut AgentSet<'_>) -> Result<u64, PhaseError> {
        let duration_ns = self.design.warm_up_ns;
        let begin_ns = now_ns();
        for (agent, limit_ns) in self.serving_first(duration_ns) {
            let replies = agent_set.order(&[(agent, Request::WarmUp { duration_ns })], limit_ns)?;
            expect("warm_up", replies, |reply| match reply {
                Reply::WarmedUp => Ok(()),
                other => Err(other),
            })?;
        }
        Ok((now_ns() - begin_ns).saturating_sub(duration_ns))
    }

    /// Executes the measurement. Returns the number of samples sent. A schedule starts after `lead_ns`.
    fn traffic(&self, agent_set: &mut AgentSet<'_>, lead_ns: u64) -> Result<u64, PhaseError> {
        let duration_ns = self.design.measure_ns;
        let begin_ns = (self.cell.factors.workload == Workload::Paced).then(|| now_ns() + lead_ns);
        let mut sent = 0;
        for (agent, limit_ns) in self.serving_first(duration_ns) {
            let replies =
                agent_set.order(&[(agent, Request::Measure { duration_ns, begin_ns })], limit_ns)?;
            let [measured] = expect("measure", replies, |reply| match reply {
                Reply::Measured(measured) => Ok(measured),
                other => Err(other),
            })?;
            sent = measured.sent;
        }
        Ok(sent)
    }

    /// Returns the order of requests with their time limits: the serving agent answers at once, the driving one after
    /// the traffic.
    const fn serving_first(&self, duration_ns: u64) -> [(usize, u64); 2] {
        let grace_ns = self.limits.grace_ns;
        [(SERVING, grace_ns), (DRIVING, duration_ns.saturating_add(grace_ns))]
    }

    /// Drains the run. Returns whether all samples were acknowledged, and whether all arrived.
    fn drain(&self, agent_set: &mut AgentSet<'_>, sent: u64) -> Result<(bool, bool), PhaseError> {
        let drain = Request::Drain(Drain { sent, timeout_ns: self.limits.drain_ns, quiet_ns: QUIET_NS });
        let limit_ns = self.limits.drain_ns.saturating_add(self.limits.grace_ns);
        let mut complete = [false; 2];
        // The writer first: once all samples are acknowledged, the reader does not have to wait.
        for agent in [DRIVING, SERVING] {
            let replies = agent_set.order(&[(agent, drain.clone())], limit_ns)?;
            [complete[agent]] = expect("drain", replies, |reply| match reply {
                Reply::Drained { complete } => Ok(complete),
                other => Err(other),
            })?;
        }
        Ok((complete[DRIVING], complete[SERVING]))
    }
}

/// Returns a topic name of a run. DDS guarantees letters, digits and `_`; some implementations allow nothing else.
fn topic(run_name: &str, way: &str) -> String {
    format!("{}_{way}", run_name.replace('-', "_"))
}

/// Returns the current time of the clock that timestamps samples, in ns.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the contents of the replies if all are of the expected kind.
fn expect<T, const N: usize>(
    phase: &'static str,
    replies: [(usize, Reply); N],
    take: impl Fn(Reply) -> Result<T, Reply>,
) -> Result<[T; N], PhaseError> {
    let mut taken = Vec::with_capacity(N);
    for (agent, reply) in replies {
        taken.push(take(reply).map_err(|other| unexpected(phase, agent, &other))?);
    }
    taken.try_into().map_err(|_| unreachable!("one was taken of each"))
}
