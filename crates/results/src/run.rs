//! One run: what was measured, what was counted, and how it ended.

use std::collections::BTreeMap;

use experiment::{Cell, Qos, ScheduledRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentRecord, Batches, Duet, IdleCost, Latency, Paced, Probes, SearchRecord, SteadyState, Takes, Usage,
    Warning, WireBytes,
};

/// One run: fresh processes, one cell, measured once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its number in the order of execution, from 1.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    /// Whether it is the second run of a baseline cell in its block: against the first one it shows how far the same thing
    /// differs from itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twin: bool,
    /// The run beside which it was made: then its absolute figures are under duet interference, and only its ratio to that
    /// run counts. Absent where it was made alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<Duet>,
    /// Its cell.
    pub cell: String,
    /// How it ended.
    pub state: RunState,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// When it began, ns since 1970 (UTC).
    pub started_unix_ns: u64,
    /// How long each phase took.
    pub phases_ns: BTreeMap<String, u64>,
    /// Latencies by kind, over all samples of the measured time.
    pub latency: BTreeMap<String, Latency>,
    /// Throughput.
    pub throughput: Option<Throughput>,
    /// Of the workload `paced`: what was planned, and whether the sender could hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<Paced>,
    /// Of the workload `search`: its trials, and what they came to. QoS and agents of such a run are those of its last trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
    /// Whether it kept its level while measured, by `rtt_p50`, `rtt_p99` or `response_p50`, `response_p99`, and `delivered`
    /// (samples per second). What its windows have too few samples for is absent, and where the plan itself has no level;
    /// so is all of it in older results.
    #[serde(default)]
    pub steady_state: BTreeMap<String, SteadyState>,
    /// Writes of pings and echoes that were not accepted at once. Of the workload `latency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping_retries: Option<PingRetries>,
    /// Pings sent and lost (latency), or per writer and reader (throughput).
    pub counted: Vec<Counted>,
    /// CPU time per sample at each end.
    pub cpu_ns_per_sample: Option<Cpu>,
    /// QoS in force, read back: by `writer` and `reader`.
    pub effective_qos: BTreeMap<String, Qos>,
    /// Traffic on the interface meanwhile, everybody's.
    pub wire: Option<WireBytes>,
    /// Datagrams that a full socket buffer dropped at the receiver, in the whole network namespace.
    pub udp_buffer_drops: Option<u64>,
    /// Bytes by which the environment of its processes was longer than the runner's: another number in each run, since where
    /// the stack begins may decide a figure. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_padding_bytes: Option<u32>,
    /// The processes of the run.
    pub agents: Vec<AgentRecord>,
    /// What limits these figures.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// Creates the record of a run of which nothing is measured yet: failed, until it is not.
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
            started_unix_ns,
            phases_ns: BTreeMap::new(),
            latency: BTreeMap::new(),
            throughput: None,
            paced: None,
            search: None,
            steady_state: BTreeMap::new(),
            ping_retries: None,
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
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Measured, and the samples reconcile.
    Valid,
    /// Measured, but the figures contradict each other; they take part in nothing.
    Invalid,
    /// Not measured, or not brought to its end: what figures it has take part in nothing.
    Failed,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The phase: `hello`, `configure`, `match` ...
    pub phase: String,
    /// The role of the agent concerned, where it is one.
    pub role: Option<String>,
    /// The error.
    pub error: String,
    /// The next step.
    pub hint: Option<String>,
    /// The last lines that the agent's process printed.
    pub last_words: Vec<String>,
}

/// Throughput of all writers to all readers. Rates of the workload `paced` are over the measured time at least.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// Samples that the writers tried to write, over the writers' measured time.
    pub offered_sps: f64,
    /// Samples that the middleware took, over the same time.
    pub accepted_sps: f64,
    /// Distinct samples that readers got within the writers' measured time, over that time. What came later is in `tail`.
    pub delivered_sps: f64,
    /// Payload of these, in 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Samples accepted.
    pub sent: u64,
    /// Distinct samples delivered.
    pub delivered: u64,
    /// Of the delivered: those that arrived within the writers' measured time, or later by no more than the quickest sample was on
    /// its way.
    #[serde(default)]
    pub delivered_in_time: u64,
    /// The others.
    #[serde(default)]
    pub tail: Tail,
    /// Samples that never came, leading and trailing ones too.
    pub lost: u64,
    /// Samples still under way to a reliable reader when the time limit of the drain was reached.
    pub undelivered: u64,
    /// `lost` of `sent`, in percent.
    pub lost_pct: f64,
    /// Samples that came again.
    pub duplicate: u64,
    /// Samples that came after a later one.
    pub out_of_order: u64,
    /// Samples that left together, where they were packed. Absent without batches, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Batches>,
    /// How many samples the readers' application was given at a time. Absent of listeners, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<Takes>,
    /// Samples that were sent back, where there were some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
}

/// Write calls of pings and echoes that were not accepted. A ping is tried again, and its round trip begins with its first attempt; an
/// echo is not, and its ping is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingRetries {
    /// Write calls of pings that timed out.
    pub timed_out: u64,
    /// Write calls of pings that were refused.
    pub refused: u64,
    /// Pings that were tried and never accepted: the last one of the run, or none. Counted as lost.
    pub unsent: u64,
    /// Write calls of echoes that timed out.
    pub echoes_timed_out: u64,
    /// Write calls of echoes that were refused.
    pub echoes_refused: u64,
}

/// Samples that were delivered too late for the rate: after the writers' measured time and that of the quickest sample on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tail {
    /// Number of these samples.
    pub samples: u64,
    /// Time from the end of the last write to the last arrival.
    pub ns: u64,
}

/// What one reader got of one writer, or a ponger of a pinger: `sent = delivered + lost + undelivered`, by definition of `lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// The writer's number.
    pub writer: u16,
    /// The reader's number.
    pub reader: u16,
    /// Samples accepted from the application.
    pub sent: u64,
    /// Distinct samples delivered, from the set of sequence numbers.
    pub delivered: u64,
    /// Missing, from the gaps between them.
    pub lost: u64,
    /// Of the missing: those that a lossless flow still owed when the drain ended.
    pub undelivered: u64,
    /// Came again.
    pub duplicate: u64,
    /// Came after a later one.
    pub out_of_order: u64,
    /// With another size, a damaged header, or damaged payload.
    pub corrupt: u64,
    /// Not of this run.
    pub foreign: u64,
    /// Samples of which every byte was checked; of the others the header.
    pub checked_in_full: u64,
}

/// CPU time (user and system, all threads) per sample, while traffic flowed ([`Usage`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Of the writer's (pinger's) process, per sample accepted (ping sent).
    pub writer: f64,
    /// Of the reader's (ponger's) process, per sample delivered (ping echoed).
    pub reader: f64,
    /// Idle cost of the writer's process that was subtracted, in percent of its CPU time. Absent where it was at most 5 %, and where
    /// the process waits by using its core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_idle_pct: Option<f64>,
    /// Idle cost of the reader's process that was subtracted, in percent of its CPU time; absent as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader_idle_pct: Option<f64>,
}

impl Cpu {
    /// Of the usage of both ends; none unless both have a figure.
    #[must_use]
    pub fn of(writer: &Usage, reader: &Usage) -> Option<Self> {
        let idle_pct = |usage: &Usage| match usage.idle_cost() {
            IdleCost::Share(share) => Some(100.0 * share),
            IdleCost::Negligible | IdleCost::BusyWait => None,
        };
        Some(Self {
            writer: writer.cpu_ns_per_sample()?,
            reader: reader.cpu_ns_per_sample()?,
            writer_idle_pct: idle_pct(writer),
            reader_idle_pct: idle_pct(reader),
        })
    }
}
