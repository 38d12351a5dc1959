//! Deadlines in a result: which samples of a flow missed them, and in how many runs a whole system met them.

use serde::{Deserialize, Serialize};

/// Deadline of a flow in a run, the samples that missed it, and the age of information at the reader.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeliness {
    /// Time from the intended send time of a sample within which it has to arrive, in ns.
    pub deadline_ns: u64,
    /// Share of the planned samples that may miss it, in percent.
    pub limit_pct: f64,
    /// Number of planned samples that the reader was to receive.
    pub planned: u64,
    /// Number of them that did not arrive within the deadline: late, lost, or never written.
    pub missed: u64,
    /// Whether at most the tolerated share missed it.
    pub is_met: bool,
    /// Mean age of information over the measurement, in ns: the time since the newest sample that had arrived was due. Its peaks,
    /// right before a newer sample arrived, are the latency `age`.
    pub mean_age_ns: f64,
    /// Number of whole periods of the QoS policy DEADLINE without an arrival. Absent without this policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<u64>,
}

/// Deadline of a flow over the valid runs of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellTimeliness {
    /// Time from the intended send time of a sample within which it has to arrive, in ns.
    pub deadline_ns: u64,
    /// Share of the planned samples that may miss it, in percent.
    pub limit_pct: f64,
    /// Number of planned samples that the reader was to receive: sum over the runs.
    pub planned: u64,
    /// Number of them that did not arrive within the deadline: sum over the runs.
    pub missed: u64,
    /// Number of runs with this flow.
    pub runs: u32,
    /// Number of runs that met the deadline.
    pub met_runs: u32,
    /// Largest share of the planned samples that missed the deadline in a run, in percent.
    pub worst_missed_pct: f64,
    /// Number of that run.
    pub worst_run: u32,
    /// Mean age of information: median over the runs, in ns.
    pub mean_age_ns: f64,
    /// Number of gaps: sum over the runs. Absent without the QoS policy DEADLINE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<u64>,
}

/// Whole system of flows over the runs of a cell: it is met in a run if each flow meets its deadline at each reader, and no process ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemOutcome {
    /// Number of valid runs, and of those in which a process ended.
    pub runs: u32,
    /// Number of runs in which each flow met its deadline.
    pub met_runs: u32,
    /// The other valid runs.
    pub not_met: Vec<NotMet>,
    /// Runs in which a process ended while the flows ran. Absent if there are none; results of earlier versions do not count them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<EndedProcess>,
}

/// Process of a system that ended, or stopped answering, while the flows ran. The run has failed: its flows did not meet their deadlines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedProcess {
    /// Number of the run.
    pub run: u32,
    /// Endpoint of the process, by id.
    pub endpoint: String,
    /// Names of the flows that the process wrote or read.
    pub flows: Vec<String>,
}

/// Run in which a system was not met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotMet {
    /// Number of the run.
    pub run: u32,
    /// Flow whose missed share is the largest multiple of its limit.
    pub flow: String,
    /// Its reader, by id.
    pub reader: String,
    /// Share of its planned samples that missed the deadline, in percent.
    pub missed_pct: f64,
    /// Number of flows that exceeded their limits.
    pub flows: u32,
    /// Datagrams that the kernels dropped at full receive buffers of the run's sockets. Absent if they do not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp_buffer_drops: Option<u64>,
}
