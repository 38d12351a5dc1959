//! Design of an experiment: number, duration, order and conditions of its runs.

use std::collections::BTreeMap;

use driver_abi::description::ReceiveMode;
use serde::{Deserialize, Serialize};

use crate::{
    ethernet::wire_bytes,
    factors::{Factors, Workload, content_filter::KeyFilter, group::ReceiveGroup},
    plan::{
        run_order::RunOrder, second_tier::SecondTier, thread_priorities::ThreadPriorities,
        threads::WritingThreads, writer_design::WriterDesign,
    },
    syntax::{host_spec::HostSpec, is_default},
};

/// Estimated duration of a run in ns besides warm-up and measurement: processes, discovery and collection, as seen
/// on a host with two cores over loopback.
pub(crate) const RUN_OVERHEAD_NS: u64 = 400_000_000;

/// Default of the warm-up of a run.
pub(crate) const WARM_UP_NS: u64 = 200_000_000;

/// Estimated duration of a sample in ns, a round trip or a write, as seen there.
const SAMPLE_NS: u64 = 50_000;

/// Number of arrivals from which on one more or less changes a rate by less than 1 %.
pub const LEAST_ARRIVALS: u64 = 100;

/// Number of samples, or batches, that a link of known rate carries in a measurement: with headers of the middleware, and while the
/// first one is still under way, at least [`LEAST_ARRIVALS`] arrive.
const PLANNED_ARRIVALS: u64 = LEAST_ARRIVALS * 12 / 10;

/// Longest measurement, in ns, to which a slow link extends a shorter one.
const LONGEST_EXTENDED_NS: u64 = 10_000_000_000;

/// Default distance of samples of which every byte is checked.
pub(crate) const CHECK_EVERY: u32 = 64;

/// Returns the number of windows of a run: 20 to 100, of 10 ms each unless limited by that range.
pub(crate) fn windows(measure_ns: u64) -> u32 {
    (measure_ns / 10_000_000).clamp(20, 100) as u32
}

/// Number, duration, order and conditions of runs.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Design {
    /// Number of blocks: each runs all cells once, in random order unless `order` is another. With `precision` the maximum.
    pub blocks: u32,
    /// Order of the runs of a block.
    #[serde(default, skip_serializing_if = "is_default")]
    pub order: RunOrder,
    /// Seed of the run order, and of the seeds of the runs.
    pub seed: u64,
    /// Warm-up of each run in ns, with the same traffic. With `warm_up_samples` the maximum.
    pub warm_up_ns: u64,
    /// Maximum number of samples of each writer in the warm-up, after which it ends; absent: no limit.
    pub warm_up_samples: Option<u64>,
    /// Measured time of each run in ns. With `samples` the maximum.
    pub measure_ns: u64,
    /// Maximum number of samples of each writer in the measured time, after which a run ends; absent: no limit.
    pub samples: Option<u64>,
    /// Number of windows of the measured time, each with its own histograms.
    pub windows: u32,
    /// Every byte of each Nth sample is checked at the reader; of the other samples, the header.
    pub check_every: u32,
    /// Every Nth sample of a stream is echoed, for round-trip times under load; absent: no echo probes.
    pub probe_every: Option<u32>,
    /// Other distances of echo probes, in samples, by the payload of the samples in bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probe_every_of_size: BTreeMap<u64, u32>,
    /// Whether a writer waits for the echo of each probe before it sends the next sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub await_echo: bool,
    /// Settings of the readers of each endpoint that serves the traffic, in their order; empty: those of the cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<ReaderDesign>,
    /// Settings of the writers of each endpoint that drives the traffic, in their order; empty: those of the cell and of this design.
    /// `measure_ns` is the longest of their times, and `samples` the largest of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writers: Vec<WriterDesign>,
    /// Receive mode of the readers of echoes of pings; absent: that of the cell.
    pub echo_receive: Option<ReceiveMode>,
    /// Whether latencies have values of the quantiles that their number of values does not support, marked as such.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsupported_quantiles: bool,
    /// Key of the only instance that is written; absent: all of them in turn.
    pub write_instance: Option<u32>,
    /// File with the bytes that samples carry after their headers; absent: a pattern.
    pub payload: Option<PayloadFile>,
    /// DDS domain of all runs; absent: a free one for each run.
    pub domain: Option<u32>,
    /// Whether the agents report their progress once per second while they measure. It takes CPU time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// CPU cores of the two endpoints.
    pub pin: Pin,
    /// Hosts of the experiment. Empty: the one that the runner is on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<PlannedHost>,
    /// Whether a spinning thread of the lowest priority keeps each core from idling.
    pub keep_awake: bool,
    /// Whether each block measures a reference, a bare UDP socket, before and after its runs.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub reference: bool,
    /// Whether each block has a noise probe before and after its runs.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub noise_probe: bool,
    /// Whether the writer of a planned load spins for the last part of a wait; otherwise it only sleeps.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub spin: bool,
    /// Threads that write the flows of an endpoint.
    #[serde(default, skip_serializing_if = "is_default")]
    pub threads: WritingThreads,
    /// Ids of the baseline cells. Each of them is measured twice in every block; with `duet` beside itself, and
    /// beside each cell that is compared with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<String>,
    /// Cells that are measured in the first blocks only, and support no claim.
    pub second_tier: Option<SecondTier>,
    /// Whether each run is made at the same time as a run of its baseline. Only their ratio is valid: absolute
    /// values are under duet interference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duet: bool,
    /// Whether a block that noise disturbed is repeated at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat_noisy: bool,
    /// Target precision; absent if the number of blocks is fixed.
    pub precision: Option<Precision>,
    /// Maximum duration of all runs together, in ns.
    pub budget_ns: Option<u64>,
}

impl Default for Design {
    /// Returns one block of runs of 1 s in one window, without warm-up, in which every byte is checked.
    fn default() -> Self {
        Self {
            blocks: 1,
            order: RunOrder::Random,
            seed: 1,
            warm_up_ns: 0,
            warm_up_samples: None,
            measure_ns: 1_000_000_000,
            samples: None,
            windows: 1,
            check_every: 1,
            probe_every: None,
            probe_every_of_size: BTreeMap::new(),
            await_echo: false,
            readers: Vec::new(),
            writers: Vec::new(),
            echo_receive: None,
            unsupported_quantiles: false,
            write_instance: None,
            payload: None,
            domain: None,
            progress: false,
            pin: Pin::None,
            hosts: Vec::new(),
            keep_awake: false,
            reference: true,
            noise_probe: true,
            spin: true,
            threads: WritingThreads::One,
            baseline: Vec::new(),
            second_tier: None,
            duet: false,
            repeat_noisy: false,
            precision: None,
            budget_ns: None,
        }
    }
}

/// Settings of the readers of an endpoint.
#[serde_with::skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReaderDesign {
    /// Receive mode.
    pub receive: ReceiveMode,
    /// Group of samples that the application gets together; absent: each sample at once.
    pub receive_group: Option<ReceiveGroup>,
    /// Keys of the samples that it receives; absent: all.
    pub content_filter: Option<KeyFilter>,
}

/// File with bytes of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PayloadFile {
    /// Path.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// Returns the estimated duration of a time in ns that a number of samples ends.
const fn ended_by(limit_ns: u64, samples: Option<u64>) -> u64 {
    match samples {
        Some(samples) if samples.saturating_mul(SAMPLE_NS) < limit_ns => samples * SAMPLE_NS,
        _ => limit_ns,
    }
}

/// Returns whether a field has its default and is not serialized.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_true(value: &bool) -> bool {
    *value
}

const fn yes() -> bool {
    true
}

/// Target precision of every comparison with a baseline; without a baseline, of every cell's own level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Precision {
    /// Half the width of the 95 % CI of a ratio, in percent.
    pub half_width_pct: f64,
    /// Number of blocks before the precision is first evaluated.
    pub pilot_blocks: u32,
}

/// CPU cores of the agents of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// No pinning.
    None,
    /// Cores of the writer (or pinger), and cores of the reader (or echo).
    Cores(Vec<u32>, Vec<u32>),
}

impl Design {
    /// Returns the settings of the writing endpoint with this index.
    #[must_use]
    pub fn writer(&self, index: usize) -> WriterDesign {
        let of_all = WriterDesign {
            size_bytes: None,
            batch_bytes: None,
            measure_ns: self.measure_ns,
            samples: self.samples,
        };
        self.writers.get(index).copied().unwrap_or(of_all)
    }

    /// Returns a note if the size of a cell is not that of the samples of all writers.
    pub(crate) fn note_on_sizes(&self) -> Option<String> {
        let sizes = self.writers.iter().zip(1..);
        let own = |(writer, number): (&WriterDesign, u32)| {
            Some(format!("those of writer-{number} have {} bytes", writer.size_bytes?))
        };
        let own: Vec<String> = sizes.filter_map(own).collect();
        (!own.is_empty())
            .then(|| format!("the size of a cell is not that of all samples: {}", own.join(", ")))
    }

    /// Returns the longest distance of echo probes in samples; `None` without probes.
    #[must_use]
    pub fn longest_probe_distance(&self) -> Option<u32> {
        self.probe_every_of_size.values().copied().chain(self.probe_every).max()
    }

    /// Returns the design of the runs of a cell: the measurement of a maximum rate over the links of a lab is extended so that these carry
    /// enough samples for a rate, up to 10 s. A longer one stays as it is.
    #[must_use]
    pub fn of_cell(&self, factors: &Factors) -> Self {
        let has_rate = factors.workload == Workload::Throughput || factors.is_pipelined();
        let link = factors.link.as_ref().filter(|_| has_rate);
        let sample_ns = link.and_then(|link| {
            let payload = factors.samples_per_flush().saturating_mul(factors.size_bytes);
            let bits = wire_bytes(link.mtu_bytes, payload)?.checked_mul(8_000_000_000)?;
            bits.checked_div(link.rate_bit_per_s?)
        });
        let least_ns = sample_ns.unwrap_or(0).saturating_mul(PLANNED_ARRIVALS).min(LONGEST_EXTENDED_NS);
        Self { measure_ns: self.measure_ns.max(least_ns), ..self.clone() }
    }

    /// Returns the seed of a run: of its payload, and of random send times. With one seed for all runs, a CI over
    /// runs would not include the variation between random plans.
    #[must_use]
    pub const fn seed_of_run(&self, run: u32) -> u64 {
        self.seed.rotate_left(24) ^ run as u64
    }

    /// Returns the duration of a noise probe in ns, before the first block and after each: about 5 % of a block,
    /// 100 ms to 2 s; 0 without a noise probe.
    #[must_use]
    pub fn probe_ns(&self, runs_per_block: usize) -> u64 {
        let share = self.expected_runs_ns(runs_per_block) / 20;
        if self.noise_probe { share.clamp(100_000_000, 2_000_000_000) } else { 0 }
    }

    /// Returns the duration of a reference in ns, before the first block and after each: about 5 % of a block, 60
    /// ms to 300 ms; 0 without a reference.
    #[must_use]
    pub fn reference_ns(&self, runs_per_block: usize) -> u64 {
        let share = self.expected_runs_ns(runs_per_block) / 20;
        if self.reference { share.clamp(60_000_000, 300_000_000) } else { 0 }
    }

    /// Returns the estimated duration of a run in ns: its planned times, which a number of samples may end earlier,
    /// and the rest of a run of a pair.
    #[must_use]
    pub const fn expected_run_ns(&self) -> u64 {
        let warm_up = ended_by(self.warm_up_ns, self.warm_up_samples);
        warm_up.saturating_add(ended_by(self.measure_ns, self.samples)).saturating_add(RUN_OVERHEAD_NS)
    }

    /// Returns the estimated duration of this many runs in ns; the two runs of a duet take the time of one.
    #[must_use]
    pub const fn expected_runs_ns(&self, runs: usize) -> u64 {
        let times = if self.duet { runs.div_ceil(2) } else { runs };
        self.expected_run_ns().saturating_mul(times as u64)
    }
}

/// Host of a plan.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedHost {
    /// Unique name.
    pub name: String,
    /// Way to reach it.
    pub at: HostSpec,
    /// Network interface that leads to the other hosts.
    pub interface: Option<String>,
    /// IPv4 addresses of its network interfaces, by which the others reach it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
    /// The same of IPv6.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ipv6_addresses: BTreeMap<String, String>,
    /// CPU cores of the endpoints on it, if they are not those of the design.
    pub pin: Option<Pin>,
    /// Priorities of the threads of its agents; absent: as the process of each has it.
    pub priorities: Option<ThreadPriorities>,
    /// Whether its writers of a planned load spin for the last part of a wait; absent: as the design has it.
    pub spin: Option<bool>,
}

impl PlannedHost {
    /// Creates a host without addresses, and with the cores, priorities and waits of the design.
    #[must_use]
    pub fn new(name: impl Into<String>, at: HostSpec, interface: Option<String>) -> Self {
        Self {
            name: name.into(),
            at,
            interface,
            addresses: BTreeMap::new(),
            ipv6_addresses: BTreeMap::new(),
            pin: None,
            priorities: None,
            spin: None,
        }
    }
}
