//! Reports of a run: what its agents returned, and what the runner observed.

use control::{AgentReport, Configured, Role};
use experiment::{Design, Factors, Qos, Workload};

/// Index of the serving agent, which echoes or receives.
pub const SERVING: usize = 0;
/// Index of the driving agent, which writes first.
pub const DRIVING: usize = 1;

/// Reports of a run that completed all phases up to the report.
#[derive(Clone, Debug)]
pub struct RunReports {
    /// Number of samples that the driving agent reported as sent after the measurement.
    pub sent: u64,
    /// Whether all samples of the writer were acknowledged.
    pub acknowledged: bool,
    /// Whether all samples arrived at the serving agent.
    pub arrived: bool,
    /// Agents at the indices [`SERVING`] and [`DRIVING`].
    pub agents: [AgentOutcome; 2],
}

impl RunReports {
    /// Returns the serving agent.
    #[must_use]
    pub const fn serving(&self) -> &AgentOutcome {
        &self.agents[SERVING]
    }

    /// Returns the driving agent.
    #[must_use]
    pub const fn driving(&self) -> &AgentOutcome {
        &self.agents[DRIVING]
    }
}

/// Identity, effective configuration and report of one agent.
#[derive(Clone, Debug)]
pub struct AgentOutcome {
    /// Role of the agent.
    pub role: Role,
    /// Process id.
    pub pid: u32,
    /// Effective configuration.
    pub configured: Configured,
    /// Measurements.
    pub report: AgentReport,
}

/// Returns the roles of a workload, at the indices [`SERVING`] and [`DRIVING`].
#[must_use]
pub const fn roles(workload: Workload) -> [Role; 2] {
    match workload {
        Workload::Latency => [Role::Echo, Role::Pinger],
        Workload::Throughput | Workload::Paced | Workload::Search => [Role::Reader, Role::Writer],
    }
}

/// Returns the probe interval of a stream in samples; `None` without probes.
#[must_use]
pub fn probe_every(factors: &Factors, design: &Design) -> Option<u32> {
    design.probe_every.filter(|_| factors.workload != Workload::Latency)
}

/// Returns the kinds of entities that a role opens. `probed`: samples of its stream are echoed.
#[must_use]
pub const fn entities(role: Role, probed: bool) -> &'static [&'static str] {
    match role {
        _ if probed => &["writer", "reader"],
        Role::Writer => &["writer"],
        Role::Reader => &["reader"],
        Role::Pinger | Role::Echo => &["writer", "reader"],
    }
}

/// Returns the name of an entity in reports: its kind, for further streams with their number.
#[must_use]
pub fn entity_name(kind: &str, stream: usize) -> String {
    if stream == 0 { kind.to_owned() } else { format!("{kind}-{}", stream + 1) }
}

/// Returns the policies that a cell requests of an entity of this kind.
#[must_use]
pub fn requested_qos(factors: &Factors, kind: &str, stream: usize) -> Qos {
    if kind == "writer" {
        factors.writer_qos(stream).of_writers()
    } else {
        factors.reader_qos(stream).of_readers()
    }
}
