//! Record of an experiment's progress besides its runs: blocks, host noise, number of blocks and resumptions. Saved
//! in `DIR/log.json` while the experiment runs.

use experiment::Plan;
use serde::{Deserialize, Serialize};

use crate::schema::{max_rate::MaxRate, reference::Reference, running_experiment::RunningExperiment};

/// Progress of an experiment: number of blocks, noise around them, and resumptions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExperimentLog {
    /// Version of the schema.
    pub schema_version: u32,
    /// Rule by which a block counts as noisy, and whether noisy blocks are repeated. Fixed before the first block.
    pub noise_rule: NoiseRule,
    /// Number of blocks, and how it was decided.
    pub allocation: BlockAllocation,
    /// Maximum rates that loads in percent refer to, measured before the first block.
    pub max_rates: Vec<MaxRate>,
    /// Blocks that were started, in the order of execution.
    pub blocks: Vec<Block>,
    /// Resumptions after an interruption.
    pub resumed: Vec<Resumption>,
}

/// Rule by which a block counts as noisy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseRule {
    /// A noise probe reads the clock in a loop. A gap between two reads that is longer than this, in ns, counts as
    /// stolen time.
    pub gap_ns: u64,
    /// Duration of each noise probe, in ns; 0: no noise probe.
    pub probe_ns: u64,
    /// A block is noisy if a probe before or after it found more stolen time than this on a core, in percent of the
    /// probe.
    pub max_stolen_pct: f64,
    /// A gap is long if it exceeds this multiple of the block's median RTT, the median of the medians of its
    /// latency runs.
    pub max_gap_per_rtt: f64,
    /// A block is also noisy if long gaps touch more than this share of the round trips, in percent.
    pub max_touched_pct: f64,
    /// Whether a noisy block is repeated at the end. Both blocks stay in the result. No block is repeated if more
    /// than half of them are noisy, because that is then the normal state of the host.
    pub repeat_noisy: bool,
}

/// Number of blocks, and how it was decided.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockAllocation {
    /// Planned number of blocks, without repeated ones: the fixed number; for a precision target first the pilot,
    /// then the number derived from it.
    pub planned: u32,
    /// Number of blocks that the precision target needs according to the pilot, even if the time budget is too
    /// small. Absent for a fixed number of blocks, and before the end of the pilot.
    pub wanted: Option<u32>,
    /// Largest standard deviation in the pilot of log ratios to the baseline; without a baseline, of the logarithms
    /// of the values.
    pub pilot_log_sd: Option<f64>,
    /// Maximum number of blocks in the time budget, extrapolated from the duration of the pilot blocks.
    pub room: Option<u32>,
    /// Number of completed blocks, without repeated ones.
    pub made: u32,
    /// Reason for the end of the experiment. Absent while it runs.
    pub stopped_by: Option<StoppedBy>,
}

impl BlockAllocation {
    /// Returns the number of planned runs, including those of repeated blocks.
    #[must_use]
    pub fn runs(&self, experiment: &Plan, blocks: &[Block]) -> usize {
        let again = blocks.iter().filter(|block| block.repeats.is_some()).count() as u32;
        experiment.runs_before(self.planned + again + 1)
    }
}

/// Reason for the end of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// The fixed number of blocks is complete.
    Fixed,
    /// The blocks that the precision target needs are complete.
    Precision,
    /// The time budget is used up.
    Budget,
    /// Interrupted by a signal or an error.
    Interrupted,
}

/// Block: one pass over all cells, with the host noise around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// Number of the block, from 1.
    pub number: u32,
    /// Number of the noisy block that this one repeats. Absent if it repeats none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Whether the block was noisy by the noise rule of the result.
    pub noisy: bool,
    /// Reasons why the block was noisy. Empty if it was not.
    pub reasons: Vec<String>,
    /// Number of its first run.
    pub first_run: u32,
    /// Whether all of its runs were executed.
    pub complete: bool,
    /// Duration in ns, including its noise probes. Null while the block runs, and if it was interrupted.
    pub took_ns: Option<u64>,
    /// Noise and counters of each host.
    pub hosts: Vec<BlockHost>,
    /// Other experiments that ran on the hosts just before the first run or just after the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<RunningExperiment>,
}

/// Noise and counters of a host around a block. A host on the machine of an earlier one has counters only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockHost {
    /// Name of the host.
    pub host: String,
    /// Noise probe just before the first run. Null if it was not possible.
    pub before: Option<NoiseProbe>,
    /// Noise probe just after the last run. Null if it was not possible, and if the block was interrupted.
    pub after: Option<NoiseProbe>,
    /// Counters of the host over the block. Null if the block was interrupted.
    pub counters: Option<HostNoise>,
    /// Reference measured just before the first run. Absent with `--no-reference`, and if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_before: Option<Reference>,
    /// Reference measured just after the last run. Absent with `--no-reference`, if it failed, and if the block was
    /// interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_after: Option<Reference>,
    /// Error of a reference measurement that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_error: Option<String>,
}

impl Block {
    /// Returns the noise probes around it, host by host.
    pub fn probes(&self) -> impl Iterator<Item = &NoiseProbe> {
        self.hosts.iter().flat_map(|host| [&host.before, &host.after]).flatten()
    }

    /// Returns the counters of the hosts.
    pub fn counters(&self) -> impl Iterator<Item = &HostNoise> {
        self.hosts.iter().filter_map(|host| host.counters.as_ref())
    }

    /// Returns the first error of a reference measurement.
    #[must_use]
    pub fn reference_error(&self) -> Option<&String> {
        self.hosts.iter().find_map(|host| host.reference_error.as_ref())
    }
}

/// Noise probe: one thread spins on each core that runs use, at the same time, and finds gaps between reads of the
/// clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseProbe {
    /// Planned duration, in ns.
    pub length_ns: u64,
    /// Outcome for each core.
    pub cores: Vec<CoreNoise>,
}

/// Outcome of a noise probe on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreNoise {
    /// Number of the core.
    pub core: u32,
    /// Number of gaps longer than `gap_ns` of the noise rule.
    pub gaps: u64,
    /// Longest time between two reads of the clock, in ns.
    pub max_gap_ns: u64,
    /// Stolen time: sum of all gaps longer than `gap_ns`, in percent of the probe.
    pub stolen_pct: f64,
    /// Numbers of gaps longer than 1, 2, 4, 8 ... times `gap_ns`, without trailing zeros.
    pub longer: Vec<u64>,
}

/// Counters of the whole host over a block, including other programs. A counter that the host does not report is
/// absent.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostNoise {
    /// CPU time that the hypervisor gave to other guests (steal), in percent of the time of all cores.
    pub steal_pct: Option<f64>,
    /// CPU time in software interrupts, in percent of the time of all cores.
    pub softirq_pct: Option<f64>,
    /// Time in which at least one task waited for a core (PSI `some`), in percent.
    pub cpu_pressure_pct: Option<f64>,
    /// Number of packets that the kernel dropped before a socket, because the backlog of a core was full
    /// (`softnet_stat`).
    pub softnet_drops: Option<u64>,
    /// Number of received UDP datagrams dropped for any reason, in the network namespace of the runner.
    pub udp_in_errors: Option<u64>,
    /// Number of received UDP datagrams dropped because a receive buffer was full, in the network namespace of the
    /// runner.
    pub udp_receive_buffer_errors: Option<u64>,
    /// Minimum CPU frequency over the cores that runs use, at the end of the block, in kHz.
    pub min_frequency_khz: Option<u64>,
    /// Maximum CPU frequency over the cores that runs use, at the end of the block, in kHz.
    pub max_frequency_khz: Option<u64>,
    /// Number of thermal throttling events on the cores that runs use.
    pub throttled: Option<u64>,
    /// Maximum temperature over all thermal zones at the end of the block, in 1/1000 of a degree Celsius.
    pub max_temperature_millicelsius: Option<i64>,
}

/// Resumption of an interrupted experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumption {
    /// Time of the resumption, in ns since 1970-01-01 UTC.
    pub at_unix_ns: u64,
    /// Number of the first run after it.
    pub first_run: u32,
    /// Differences from the environment of the first run, one text each. Empty unless the resumption was forced.
    pub differences: Vec<String>,
}
