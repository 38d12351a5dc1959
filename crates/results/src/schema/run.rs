//! Record of one run.

use std::collections::BTreeMap;

use experiment::{Cell, ScheduledRun};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Batches, Duet, EndpointRecord, EndpointSpread, FlowRecord, IdleCost, LateJoinRecord, Latency, LinkRecord,
    Measurement, ProbeStats, ProcessRecord, SteadyState, TakeStats, Usage, Warning, WireBytes,
};

/// Run: one cell, measured once with new processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Run {
    /// Number of the run in the order of execution, from 1.
    pub number: u32,
    /// Number of its block, from 1.
    pub block: u32,
    /// Whether this is the second run of a baseline cell in its block. Compared with the first run, it gives the
    /// noise floor (A/A).
    pub twin: bool,
    /// Partner run that was executed at the same time. The absolute values are then under duet interference, and
    /// only the ratio to the partner is used. Absent if the run was executed alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<Duet>,
    /// Identifier of its cell.
    pub cell: String,
    /// Outcome of the run.
    pub state: RunState,
    /// Cause of the failure. Null if the run did not fail.
    pub failure: Option<Failure>,
    /// Failure of an agent after all agents had reported, when it closed its entities or exited. The values of the run are
    /// complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_failure: Option<Failure>,
    /// Start of the run, in ns since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// Links between the hosts, if they are those of a lab, as they were read back before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkRecord>,
    /// Duration of each phase, in ns, by phase name.
    pub phases_ns: BTreeMap<String, u64>,
    /// Latencies by kind, over all samples of the measurement.
    pub latency: BTreeMap<String, Latency>,
    /// Values that only the workload has. Null if the run failed before it had values.
    pub measured: Option<Measurement>,
    /// With `join = "late"`: what the late reader got, and what its joining cost the other readers. All other values are those
    /// of the other readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_join: Option<LateJoinRecord>,
    /// Steady-state class by metric: `rtt_p50`, `rtt_p99` or `response_p50`, `response_p99`, and `delivered`
    /// (samples/s). A metric is absent if its windows have too few samples, or if the load itself varies.
    pub steady_state: BTreeMap<String, SteadyState>,
    /// Flows: each writer with each of its readers, in the order of the plan.
    pub flows: Vec<FlowRecord>,
    /// CPU time per sample of each process, in ns.
    pub cpu_ns_per_sample: Option<CpuPerSample>,
    /// Traffic on the network interface at the reader (echo), including that of other programs. Of readers on several hosts: the
    /// sum over these hosts.
    pub wire: Option<WireBytes>,
    /// Datagrams that the kernels dropped at full receive buffers of the run's sockets: the sum over the processes of its endpoints.
    pub udp_buffer_drops: Option<u64>,
    /// Whether `udp_buffer_drops` includes those of other programs: a kernel did not list the sockets of the run, and counts only those
    /// of its network namespace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub udp_drops_of_all_programs: bool,
    /// Padding of the environment variables of its processes, in bytes. It differs between runs, because the start
    /// address of the stack can affect the values. Absent if the run failed before its processes were started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_padding_bytes: Option<u32>,
    /// Endpoints of the run, the driving ones first. Empty if nothing was reported.
    pub endpoints: Vec<EndpointRecord>,
    /// Processes of the endpoints, in the same order, each with its usage of CPU and memory.
    #[serde(default)]
    pub processes: Vec<ProcessRecord>,
    /// Warnings that apply to the values of this run.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// Creates the record of a run before it is measured, in state [`RunState::Failed`].
    #[must_use]
    pub fn blank(scheduled: ScheduledRun, cell: &Cell, started_unix_ns: u64) -> Self {
        Self {
            number: scheduled.number,
            block: scheduled.block,
            twin: scheduled.twin,
            duet: scheduled.duet.map(|beside| Duet { partner: beside.partner, side_by_side_pct: 0.0 }),
            cell: cell.id.clone(),
            state: RunState::Failed,
            failure: None,
            exit_failure: None,
            started_unix_ns,
            link: None,
            phases_ns: BTreeMap::new(),
            latency: BTreeMap::new(),
            measured: None,
            late_join: None,
            steady_state: BTreeMap::new(),
            flows: Vec::new(),
            cpu_ns_per_sample: None,
            wire: None,
            udp_buffer_drops: None,
            udp_drops_of_all_programs: false,
            environment_padding_bytes: None,
            endpoints: Vec::new(),
            processes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Measured, and all counts are consistent.
    Valid,
    /// Measured, but its counts contradict each other. Excluded from all results over runs.
    Invalid,
    /// Not measured, or not completed. Any values it has are excluded from all results over runs. If a reader ended
    /// during the measurement, they are those of the other readers.
    Failed,
}

/// Cause of a failed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Failure {
    /// Phase in which the run failed, for example `hello`, `configure` or `match`.
    pub phase: String,
    /// Endpoint that failed, by id. Null if no single endpoint is the cause.
    pub endpoint: Option<String>,
    /// Error message.
    pub error: String,
    /// Suggested next step. Null if there is none.
    pub hint: Option<String>,
    /// Last lines of output of the agent process.
    pub last_log_lines: Vec<String>,
}

/// Rates and counts from all writers to all readers. Counts are sums over the flows: with several readers, a sample
/// counts once for each of them. Rates are over the writers' measurement: from the first write to the end of the last
/// write. For the workload `paced` this time is at least as long as the planned measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Throughput {
    /// Offered rate: samples that the writers tried to write, in samples/s.
    pub offered_sps: f64,
    /// Accepted rate: samples that the middleware accepted, in samples/s.
    pub accepted_sps: f64,
    /// Delivered rate: distinct samples that arrived in time (`delivered_in_time`) at a reader, in samples/s. Of each flow at
    /// most the rate between the first and the last of them: n samples have n - 1 intervals. With several readers: the mean
    /// over them. Later arrivals are in `tail`.
    pub delivered_sps: f64,
    /// Goodput: payload of these samples, in 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Number of accepted samples, for each of their readers.
    pub sent: u64,
    /// Number of distinct samples delivered, including the tail.
    pub delivered: u64,
    /// Delivered samples that count for the rate: those that arrived before the end of the writers' measurement
    /// plus the shortest time from write to arrival.
    pub delivered_in_time: u64,
    /// Delivered samples that do not count for the rate.
    pub tail: Tail,
    /// Number of samples sent and never delivered, including the first and last ones.
    pub lost: u64,
    /// Number of samples accepted by a reliable flow and not delivered when the time limit of the drain was
    /// reached.
    pub undelivered: u64,
    /// `lost` in percent of `sent`.
    pub lost_pct: f64,
    /// Number of duplicates.
    pub duplicate: u64,
    /// Number of samples that arrived after a later one.
    pub out_of_order: u64,
    /// Batches that ddsmark flushed. Absent without batching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Batches>,
    /// Samples per take of the reader's application. Absent if the reader uses listeners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<TakeStats>,
    /// Echo probes. Absent without probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<ProbeStats>,
    /// Delivered rates of the readers. Absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<EndpointSpread>,
    /// Delivered rates of the writers. Absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writers: Option<EndpointSpread>,
}

/// Write calls of pings and echoes that were not accepted. A ping is retried, and its RTT starts at the first
/// attempt. An echo is not retried, and its ping counts as lost. A relay, in a ring with several samples in flight,
/// repeats its writes for a limited time, unless a thread of the driver writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PingRetries {
    /// Number of write calls of pings that timed out.
    pub timed_out: u64,
    /// Number of write calls of pings that were rejected.
    pub refused: u64,
    /// Number of pings never accepted: 0, or 1 for the last ping of the run. Counted as lost.
    pub unsent: u64,
    /// Number of write calls of echoes that timed out.
    pub echoes_timed_out: u64,
    /// Number of write calls of echoes that were rejected.
    pub echoes_refused: u64,
}

/// Delivered samples that do not count for the delivered rate: they arrived later than the end of the writers'
/// measurement plus the shortest time from write to arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tail {
    /// Number of these samples.
    pub samples: u64,
    /// Time from the end of the writers' measurement to the last arrival, in ns. Over the runs of a cell: the
    /// maximum.
    pub ns: u64,
}

/// CPU time (user and system, all threads) per sample while traffic flowed, in ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CpuPerSample {
    /// CPU time of the writer's (pinger's) process, in ns per accepted sample (per ping sent).
    pub writer: f64,
    /// CPU time of the reader's (echo's) process, in ns per delivered sample (per ping echoed).
    pub reader: f64,
    /// Idle cost of the writer's process that was subtracted, in percent of its CPU time. Absent if it was at most
    /// 5 %, or if the process waits by spinning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_idle_pct: Option<f64>,
    /// Idle cost of the reader's process that was subtracted, in percent of its CPU time. Absent as for the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader_idle_pct: Option<f64>,
}

impl CpuPerSample {
    /// Creates the record from the usage of the processes; `None` unless all have a CPU time per sample. With several
    /// writing or reading processes: the means over them.
    #[must_use]
    pub fn from_usage(writers: &[Usage], readers: &[Usage]) -> Option<Self> {
        let idle_pct = |usage: &Usage| match usage.idle_cost() {
            IdleCost::Share(share) => Some(100.0 * share),
            IdleCost::Negligible | IdleCost::BusyWait => None,
        };
        let mean =
            |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let cpu = |usages: &[Usage]| {
            usages.iter().map(Usage::cpu_ns_per_sample).collect::<Option<Vec<_>>>().and_then(mean)
        };
        let idle = |usages: &[Usage]| mean(usages.iter().filter_map(idle_pct).collect());
        Some(Self {
            writer: cpu(writers)?,
            reader: cpu(readers)?,
            writer_idle_pct: idle(writers),
            reader_idle_pct: idle(readers),
        })
    }
}
