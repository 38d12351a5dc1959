//! Reports of a run: what its agents returned, and what the runner observed.

use control::{AgentReport, Configured, JoinTimes, MonotonicClock};
use experiment::{Endpoint, RunTopology};

/// Late join of a run, as the runner observed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateJoined {
    /// Endpoint that joined late, by id.
    pub reader: String,
    /// Planned times.
    pub times: JoinTimes,
    /// Time at which it and all writers were matched, in ns of the common clock.
    pub joined_ns: u64,
}

/// Reports of a run that completed all phases up to the report.
#[derive(Clone, Debug)]
pub struct RunReports {
    /// Agents, in the order of the endpoints of the run's topology.
    pub agents: Vec<AgentOutcome>,
    /// Endpoints whose agents ended during the measurement. All values are of the others.
    pub lost: Vec<Endpoint>,
    /// Reasons why times of the run are not valid: clocks that stepped.
    pub clock_faults: Vec<String>,
    /// Late join of the last reader; `None` if all joined together.
    pub join: Option<LateJoined>,
}

/// Names of the endpoints of a run in messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndpointNames {
    is_pair: bool,
    /// Whether the endpoints are on several hosts.
    is_over_hosts: bool,
}

impl EndpointNames {
    /// Returns the prefix of messages about an agent: empty in a pair.
    pub(crate) fn whose(self, agent: &AgentOutcome) -> String {
        if self.is_pair { String::new() } else { format!("{}: ", self.label(&agent.endpoint)) }
    }

    /// Returns the name of an endpoint: its id, and its host if the run has several, `reader@pi2`.
    pub(crate) fn label(self, endpoint: &Endpoint) -> String {
        if self.is_over_hosts { endpoint.label() } else { endpoint.id.clone() }
    }
}

impl RunReports {
    /// Returns the endpoints that reported.
    #[must_use]
    pub fn topology(&self) -> RunTopology {
        RunTopology { endpoints: self.agents.iter().map(|agent| agent.endpoint.clone()).collect() }
    }

    /// Returns the serving agents.
    pub fn all_serving(&self) -> impl Iterator<Item = &AgentOutcome> {
        self.agents.iter().filter(|agent| !agent.drives())
    }

    /// Returns the driving agents.
    pub fn all_driving(&self) -> impl Iterator<Item = &AgentOutcome> {
        self.agents.iter().filter(|agent| agent.drives())
    }

    /// Returns the first serving agent.
    ///
    /// # Panics
    /// Panics if there is none; each topology has one.
    #[must_use]
    pub fn serving(&self) -> &AgentOutcome {
        self.all_serving().next().expect("a serving agent")
    }

    /// Returns the first driving agent.
    ///
    /// # Panics
    /// Panics if there is none; each topology has one.
    #[must_use]
    pub fn driving(&self) -> &AgentOutcome {
        self.all_driving().next().expect("a driving agent")
    }

    /// Returns the processes of the run, each with its agents, in the order of the endpoints.
    pub(crate) fn processes(&self) -> Vec<Vec<&AgentOutcome>> {
        let members = self.topology().processes().into_iter();
        members.map(|members| members.into_iter().map(|agent| &self.agents[agent]).collect()).collect()
    }

    /// Returns the names of the endpoints in messages. Looks at all of them once.
    pub(crate) fn names(&self) -> EndpointNames {
        let mut hosts = self.agents.iter().map(|agent| &agent.endpoint).chain(&self.lost);
        let first = hosts.next();
        let is_over_hosts =
            hosts.any(|endpoint| first.is_some_and(|first| first.place.host != endpoint.place.host));
        EndpointNames { is_pair: self.is_pair(), is_over_hosts }
    }

    /// Returns whether the times of all agents are on one clock, with known errors, which one-way times require.
    #[must_use]
    pub fn on_one_clock(&self) -> bool {
        let mut agents = self.agents.iter();
        let first = agents.next();
        first.is_none_or(|first| {
            first.clock_error_ns.is_some() && agents.all(|agent| agent.error_between(first).is_some())
        })
    }

    /// Returns the number of samples that the driving agents reported as sent after the measurement.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.agents.iter().map(|agent| agent.sent).fold(0, u64::saturating_add)
    }

    /// Returns whether all samples of the writers were acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> bool {
        self.all_driving().all(|agent| agent.drained)
    }

    /// Returns whether all samples arrived at the serving agents.
    #[must_use]
    pub fn arrived(&self) -> bool {
        self.all_serving().all(|agent| agent.drained)
    }
}

/// Identity, effective configuration and report of one agent.
#[derive(Clone, Debug)]
pub struct AgentOutcome {
    /// Requested entities.
    pub endpoint: Endpoint,
    /// Process id.
    pub pid: u32,
    /// Clock that it reads.
    pub clock: MonotonicClock,
    /// Maximum error of its times on the common clock of the run, in ns; `None` if its clock is unknown.
    pub clock_error_ns: Option<u64>,
    /// Time from the request to match until all its entities were matched, in ns.
    pub matched_ns: u64,
    /// Effective configuration.
    pub configured: Configured,
    /// Number of samples that it reported as sent after the measurement; 0 for a serving agent.
    pub sent: u64,
    /// Whether the drain left no sample outstanding: all acknowledged (driving), or all received (serving).
    pub drained: bool,
    /// Measurements.
    pub report: AgentReport,
}

impl AgentOutcome {
    /// Returns the maximum error of a time that starts at one of two agents and ends at the other, in ns: 0 if they read
    /// the same clock; `None` if a clock is unknown.
    pub(crate) fn error_between(&self, other: &Self) -> Option<u64> {
        let sum = self.clock_error_ns?.checked_add(other.clock_error_ns?)?;
        Some(if self.clock.is_same(&other.clock) { 0 } else { sum })
    }

    pub(crate) fn drives(&self) -> bool {
        self.endpoint.role.drives()
    }
}
