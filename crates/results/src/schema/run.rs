//! Record of one run.

use std::collections::BTreeMap;

use experiment::{Cell, ScheduledRun};
use serde::{Deserialize, Serialize};

use crate::schema::{
    discovery::DiscoveryRecord,
    duet::Duet,
    endpoints::{EndpointRecord, IdleCost, Usage, WireBytes},
    flow::FlowRecord,
    late_join::LateJoinRecord,
    latency::Latency,
    link::LinkRecord,
    measurement::{Measurement, PingRetries, Throughput},
    paced::Paced,
    process::ProcessRecord,
    ring::Ring,
    search::SearchRecord,
    steady::SteadyState,
    warning::Warning,
};

/// Run: one cell, measured once with new processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
            started_unix_ns,
            ..Self::default()
        }
    }
}

/// Defines how to read and change the values that only some workloads have; `None` for other workloads.
macro_rules! values {
    ($($get:ident, $get_mut:ident: $type:ty, $pattern:pat => $doc:literal;)*) => {
        impl Measurement {
            $(
                #[doc = concat!("Returns ", $doc, ".")]
                #[must_use]
                pub const fn $get(&self) -> Option<&$type> {
                    if let $pattern = self { Some($get) } else { None }
                }

                #[doc = concat!("Returns ", $doc, ", to change them.")]
                #[must_use]
                pub const fn $get_mut(&mut self) -> Option<&mut $type> {
                    if let $pattern = self { Some($get) } else { None }
                }
            )*
        }

        impl Run {
            $(
                #[doc = concat!("Returns ", $doc, ".")]
                #[must_use]
                pub fn $get(&self) -> Option<&$type> {
                    self.measured.as_ref()?.$get()
                }

                #[doc = concat!("Returns ", $doc, ", to change them.")]
                #[must_use]
                pub fn $get_mut(&mut self) -> Option<&mut $type> {
                    self.measured.as_mut()?.$get_mut()
                }
            )*
        }
    };
}

values! {
    throughput, throughput_mut: Throughput, Measurement::Throughput { throughput } | Measurement::Paced { throughput, .. } =>
        "the rates and counts of delivery of the workloads `throughput` and `paced`";
    paced, paced_mut: Paced, Measurement::Paced { paced, .. } =>
        "the planned samples of the workload `paced`, and whether the sender kept its schedule";
    search, search_mut: SearchRecord, Measurement::Search { search } => "the trials and bounds of the workload `search`";
    discovery, discovery_mut: DiscoveryRecord, Measurement::Discovery { discovery } =>
        "times, traffic and memory of the workload `discovery`";
    ring, ring_mut: Ring, Measurement::Latency { ring: Some(ring), .. } => "the hops of a ring, and the time per hop";
    ping_retries, ping_retries_mut: PingRetries, Measurement::Latency { ping_retries, .. } =>
        "the write calls of the workload `latency` that were not accepted at once";
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Measured, and all counts are consistent.
    Valid,
    /// Measured, but its counts contradict each other. Excluded from all results over runs.
    Invalid,
    /// Not measured, or not completed. Any values it has are excluded from all results over runs. If a reader ended
    /// during the measurement, they are those of the other readers.
    #[default]
    Failed,
}

/// Cause of a failed run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// CPU time (user and system, all threads) per sample while traffic flowed, in ns.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuPerSample {
    /// CPU time of the writer's (pinger's) process, in ns per accepted sample (per ping sent).
    pub writer: f64,
    /// CPU time of the reader's (echo's) process, in ns per delivered sample (per ping echoed).
    pub reader: f64,
    /// Idle cost of the writer's process that was subtracted, in percent of its CPU time. Absent if it was at most
    /// 5 %, or if the process waits by spinning.
    pub writer_idle_pct: Option<f64>,
    /// Idle cost of the reader's process that was subtracted, in percent of its CPU time. Absent as for the writer.
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
