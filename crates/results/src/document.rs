//! The schema. Fields carry their unit in the name; what was not measured is absent or null, never 0.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Experiment, Factors, Qos};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use crate::{
    Allocation, Batches, Block, Duet, Environment, Maximum, NoiseRule, Paced, PacedCell, Probes, Resumption,
    SearchCell, SearchRecord, SteadyState, Takes, Verdict,
};

/// The JSON Schema of a [`Document`]: the text of `schemas/result.schema.json`.
///
/// # Panics
/// Never: a schema is JSON.
#[must_use]
pub fn json_schema() -> String {
    // as it is written, so that a figure without a value is there as null, not left out
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Document>();
    schema.insert("title".to_owned(), "A result of ddsmark".into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// Version of the schema. Older ones still load.
pub const SCHEMA_VERSION: u32 = 2;

/// A result: everything that an experiment was, and everything that it measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Version of this schema.
    pub schema_version: u32,
    /// What measured.
    pub tool: Tool,
    /// Where.
    pub host: Host,
    /// The experiment as meant.
    pub experiment: Experiment,
    /// What each driver said of itself, by its name in the factors.
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Whether all of it was measured.
    pub state: State,
    /// What outside the experiment may decide its figures, field by field. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// When a block counts as noisy, and what becomes of it. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_rule: Option<NoiseRule>,
    /// How many blocks there were to be, and why so many. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Allocation>,
    /// What rates in percent are percent of, measured before the first block. Absent without such rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maxima: Vec<Maximum>,
    /// The blocks that were begun, and the noise around them. Empty in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// Where it was taken up again after an interruption.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumption>,
    /// The cells, in the order of the experiment.
    pub cells: Vec<Cell>,
    /// What the figures say, in words.
    pub findings: Vec<Finding>,
    /// What may be claimed: each cell against its baseline, and the baseline against itself. Empty where the experiment
    /// has no baseline, and in older results.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
    /// What limits the whole result.
    pub warnings: Vec<Warning>,
}

/// What measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `ddsmark`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The command line, word by word.
    pub command_line: Vec<String>,
}

/// Where it was measured, and in which state the host was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Kernel name, release and version.
    pub kernel: String,
    /// Distribution.
    pub os: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical processors that this process may use.
    pub cpus: u32,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Kind of virtual machine or container, where the host says so.
    pub virtualization: Option<String>,
    /// The kernel's clock source; `tsc` is quick.
    pub clock_source: Option<String>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Median cost of one read of the clock that stamps samples.
    pub clock_read_ns: Option<u64>,
    /// Kernel settings that decide figures: `net.core.rmem_max` and the like.
    pub sysctls: BTreeMap<String, String>,
    /// Speeds of the network interfaces that have one, in 10^6 bit/s. The loopback interface has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub link_mbps: BTreeMap<String, u64>,
    /// When the experiment began, ns since 1970 (UTC).
    pub started_unix_ns: u64,
}

/// Whether all of an experiment was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All runs were made (some may have failed).
    Complete,
    /// Stopped before the last run, by a signal or by an error.
    Interrupted,
}

/// One cell: its runs, and what they say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MeasuredCell")]
pub struct Cell {
    /// As in the experiment.
    pub id: String,
    /// The factors; with the rate that a share of a maximum came to.
    pub factors: Factors,
    /// Its runs, in the order of execution, failed ones too.
    pub runs: Vec<Run>,
    /// Whether its figures are under duet interference: each run was made beside another. They hold for this result only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub under_duet_interference: bool,
    /// Of all samples of all valid runs, by kind: `rtt`, `one_way_out`, `one_way_back`, `write_call`; of the workload `paced`:
    /// `service`, `response`, `send_lag`.
    pub latency: BTreeMap<String, Latency>,
    /// Rates: medians of the runs'. Counts: sums over the runs.
    pub throughput: Option<Throughput>,
    /// Of the workload `paced`: what was planned, and by how many runs the sender held it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<PacedCell>,
    /// Of the workload `search`: what was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchCell>,
    /// Median of the runs'.
    pub cpu_ns_per_sample: Option<Cpu>,
    /// QoS in force, read back: by `writer` and `reader`. Absent where runs differ.
    pub effective_qos: BTreeMap<String, Qos>,
    /// Settings in force, read back, by entity and name. Those that runs differ in are left out.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// What limits these figures.
    pub warnings: Vec<Warning>,
}

/// One run: fresh processes, one cell, measured once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its number in the order of execution, from 1.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    /// Whether it is the second run of a baseline cell in its block: against the first one it shows how far the same thing
    /// differs from itself.
    #[serde(default, skip_serializing_if = "is_false")]
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

/// Of a field that is left out where it says nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) const fn is_false(value: &bool) -> bool {
    !*value
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

/// A distribution of latencies of one kind, each in ns of that kind, never halved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Samples.
    pub n: u64,
    /// Mean (exact).
    pub mean_ns: f64,
    /// Standard deviation of the samples (exact).
    pub sd_ns: f64,
    /// Smallest (exact).
    pub min_ns: u64,
    /// Largest (exact).
    pub max_ns: u64,
    /// Median (within 0.1 %, as all quantiles); null where n is too small to support it.
    pub p50_ns: Option<u64>,
    /// 90 %.
    pub p90_ns: Option<u64>,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p99_9_ns: Option<u64>,
    /// 99.99 %.
    pub p99_99_ns: Option<u64>,
    /// 99.9999 %.
    pub p99_9999_ns: Option<u64>,
}

/// Throughput of all writers to all readers. Rates of the workload `paced` are over the measured time, or up to the last
/// sample where that came later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// Samples that the writers tried to write, over the writers' measured time.
    pub offered_sps: f64,
    /// Samples that the middleware took, over the same time.
    pub accepted_sps: f64,
    /// Distinct samples that readers got, over the readers' own window, from the first take to the last, without those of
    /// the first.
    pub delivered_sps: f64,
    /// Payload of these, in 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Samples accepted.
    pub sent: u64,
    /// Distinct samples delivered.
    pub delivered: u64,
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

/// What one reader got of one writer, or a ponger of a pinger: `sent = delivered + lost + undelivered`, checked.
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

/// CPU time (user and system, all threads) per sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Of the writer's (pinger's) process, per sample accepted (ping sent).
    pub writer: f64,
    /// Of the reader's (ponger's) process, per sample delivered (ping echoed).
    pub reader: f64,
}

/// Traffic of a network interface while measuring, with everything else that used it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireBytes {
    /// The interface.
    pub interface: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
}

/// One process of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecord {
    /// `writer`, `reader`, `pinger` or `ponger`.
    pub role: String,
    /// Process id.
    pub pid: u32,
    /// Cores that it was allowed.
    pub cpus: Vec<u32>,
    /// What it used while measuring.
    pub usage: Usage,
    /// Datagram counters of its network namespace, while measuring.
    pub sockets: Option<Sockets>,
    /// Traffic of the interface, while measuring.
    pub interface: Option<Interface>,
    /// The middleware's own counters by entity (`writer`, `reader`), from its opening to the end of the drain.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// Settings in force by entity (`participant`, `writer`, `reader`), read back.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
}

/// What a process used while measuring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// The time over which it was measured.
    pub elapsed_ns: u64,
    /// CPU time in user space, all threads.
    pub user_ns: u64,
    /// CPU time in the kernel, all threads.
    pub system_ns: u64,
    /// Context switches by waiting.
    pub voluntary_switches: u64,
    /// Context switches by force.
    pub involuntary_switches: u64,
    /// Time in which its threads could have run, and waited for a core. Absent where the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
    /// The core that its driving thread was on when measuring ended. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// Page faults served without a disk.
    pub minor_faults: u64,
    /// Page faults served from a disk.
    pub major_faults: u64,
    /// Largest resident memory since the process began.
    pub max_resident_bytes: u64,
}

/// UDP counters of a network namespace (`/proc/self/net/snmp`), as differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sockets {
    /// Datagrams delivered to sockets.
    pub in_datagrams: u64,
    /// Datagrams dropped, for any reason.
    pub in_errors: u64,
    /// Datagrams dropped because the receive buffer was full.
    pub receive_buffer_errors: u64,
    /// Datagrams not sent because the send buffer was full.
    pub send_buffer_errors: u64,
    /// What left by multicast, everybody's. Absent where the kernel does not say, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multicast: Option<MulticastSent>,
}

/// What a network namespace sent by multicast over IPv4 and IPv6 (`/proc/self/net/netstat` and `snmp6`), as differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MulticastSent {
    /// Packets of IP.
    pub packets: u64,
    /// Their bytes, with the headers of IP and UDP.
    pub bytes: u64,
}

/// Counters of a network interface, as differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
}

/// What the figures of these runs say, in words, with its numbers. It describes; it claims nothing about other runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Which.
    pub kind: FindingKind,
    /// What binds there; only where `kind` says that something does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// In words.
    pub text: String,
    /// Ids of the cells that it rests on.
    pub cells: Vec<String>,
    /// Its numbers. Each name ends in its unit, or says what is counted.
    pub numbers: BTreeMap<String, f64>,
}

/// The closed set of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// From some size on, throughput stays on one level. `limits` says what binds there.
    Plateau,
    /// Throughput is highest at the largest size, alone.
    StillGrows,
    /// Throughput falls again towards the largest size.
    FallsAgain,
    /// Sides are compared of which not all guarantee delivery, and samples were lost.
    LossWithoutGuarantee,
    /// Sides are compared of which not all guarantee delivery, and nothing was lost.
    NoLossWithoutGuarantee,
    /// Batching delivers more samples/s.
    BatchingGains,
    /// Batching delivers fewer samples/s.
    BatchingCosts,
    /// The round trip takes longer as samples grow.
    LatencyGrows,
    /// The round trip takes the same at all sizes.
    LatencyFlat,
    /// A middleware's round trip takes longer than that of the bare socket.
    RttAdded,
    /// A middleware's round trip takes less than that of the bare socket.
    RttSaved,
    /// What it takes longer is the same at all sizes.
    RttAddedConstant,
    /// What it takes longer differs between sizes.
    RttAddedVaries,
    /// Up to some load the 99 % response stays within twice that of the lowest one; beyond it does not.
    Knee,
    /// At all loads the 99 % response stays within twice that of the lowest one.
    NoKnee,
    /// From some load on fewer samples are accepted than were planned.
    FallsShort,
    /// At all loads as many samples are accepted as were planned.
    KeepsUp,
    /// Under load some ways to batch reach higher rates, and others have lower latency: none is best at both.
    BatchingFront,
    /// Under load one way to batch is beaten by none in rate and latency.
    BatchingOneBest,
}

/// What throughput runs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The writer's process uses all of a core, and what it sends arrives.
    WriterCpu,
    /// The reader's process uses all of a core.
    ReaderCpu,
    /// The kernel drops datagrams at a full socket buffer.
    BufferDrops,
    /// The interface carries all that its speed allows.
    LineRate,
    /// None of these.
    Unknown,
}

/// What limits a figure: one of a closed set, with the words for this case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Which.
    pub kind: WarningKind,
    /// In words, with the next step where there is one.
    pub text: String,
}

/// The closed set of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Runs failed.
    RunsFailed,
    /// Runs contradict themselves and were left out.
    RunsInvalid,
    /// Samples were lost.
    Loss,
    /// The kernel dropped datagrams at a full socket buffer.
    BufferDrops,
    /// Socket buffers are smaller than asked for.
    Buffers,
    /// Samples came that are not of this run.
    Foreign,
    /// Samples were damaged.
    Corrupt,
    /// Samples came again or out of order.
    Order,
    /// The runs of a cell differ widely.
    Spread,
    /// Runs of a cell did not keep their level while measured.
    NotSteady,
    /// The sender was late: response times are not a property of the middleware.
    SenderLimited,
    /// Planned samples were not tried before the measured time ended.
    Unsent,
    /// A search did not come to two bounds, or what is sustained changes from trial to trial.
    Search,
    /// The middleware refused or timed out writes.
    WritesRefused,
    /// A part of the samples could not be joined or recorded.
    Incomplete,
    /// The host is not as it should be for measuring.
    Host,
    /// Absolute figures are under duet interference.
    Duet,
    /// Over half of the blocks were noisy.
    Noisy,
    /// It was taken up again although something differed.
    Mixed,
}
