//! Record of an experiment's progress besides its runs: blocks, host noise, number of blocks and resumptions. Saved
//! in `DIR/course.json` while the experiment runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Maximum, Reference, Warning, WarningKind, format_value};

/// Progress of an experiment: number of blocks, noise around them, and resumptions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Course {
    /// Version of the schema.
    pub schema_version: u32,
    /// Rule by which a block counts as noisy, and whether noisy blocks are repeated. Fixed before the first block.
    pub noise_rule: NoiseRule,
    /// Number of blocks, and how it was decided.
    pub allocation: Allocation,
    /// Maximum rates that loads in percent refer to, measured before the first block.
    pub maxima: Vec<Maximum>,
    /// Blocks that were started, in the order of execution.
    pub blocks: Vec<Block>,
    /// Resumptions after an interruption.
    pub resumed: Vec<Resumption>,
}

impl Course {
    /// Returns whether the experiment has ended without an interruption.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.allocation.stopped_by.is_some_and(|why| why != StoppedBy::Interrupted)
    }

    /// Returns the warnings that apply to the whole result.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let noisy = self.blocks.iter().filter(|block| block.noisy).count();
        if over_half_noisy(&self.blocks) {
            let text = format!(
                "{noisy} of {} blocks were noisy: other work on this host takes part in the figures; a quiet host, or cores \
                 of its own, would show smaller differences",
                self.blocks.len()
            );
            warnings.push(Warning { kind: WarningKind::Noisy, text });
        }
        let failed: Vec<&String> =
            self.blocks.iter().filter_map(|block| block.reference_error.as_ref()).collect();
        if let Some(error) = failed.first() {
            let text = format!(
                "the reference failed in {} of {} blocks ({error}): no claim between this result and another rests on them",
                failed.len(),
                self.blocks.len()
            );
            warnings.push(Warning { kind: WarningKind::Reference, text });
        }
        let mixed = self.resumed.iter().filter(|resumption| !resumption.differences.is_empty());
        warnings.extend(mixed.map(|resumption| Warning {
            kind: WarningKind::Mixed,
            text: format!(
                "from run {} on it was measured in another environment: {}",
                resumption.first_run,
                resumption.differences.join("; ")
            ),
        }));
        warnings
    }
}

/// Returns whether more than half of the blocks were noisy.
#[must_use]
pub fn over_half_noisy(blocks: &[Block]) -> bool {
    2 * blocks.iter().filter(|block| block.noisy).count() > blocks.len()
}

/// Rule by which a block counts as noisy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseRule {
    /// A noise probe reads the clock in a loop. A gap between two reads that is longer than this, in ns, counts as
    /// stolen time.
    pub gap_ns: u64,
    /// Duration of each noise probe, in ns.
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

impl NoiseRule {
    /// Creates the rule with noise probes of this duration in ns.
    #[must_use]
    pub const fn new(probe_ns: u64, repeat_noisy: bool) -> Self {
        Self {
            gap_ns: 10_000,
            probe_ns,
            max_stolen_pct: 2.0,
            max_gap_per_rtt: 5.0,
            // a tenth of the share that lies above p99
            max_touched_pct: 0.1,
            repeat_noisy,
        }
    }

    /// Returns the reasons why a block with these probes is noisy; empty if it is not. `rtt_p50_ns` is the median
    /// RTT of the block, if it has latency runs.
    #[must_use]
    pub fn judge(&self, probes: &[&Probe], rtt_p50_ns: Option<f64>) -> Vec<String> {
        let mut reasons = Vec::new();
        let cores = || probes.iter().flat_map(|probe| &probe.cores);
        if let Some(worst) = cores().max_by(|a, b| a.stolen_pct.total_cmp(&b.stolen_pct))
            && worst.stolen_pct > self.max_stolen_pct
        {
            reasons.push(format!("{} % of core {} was stolen", format_value(worst.stolen_pct), worst.core));
        }
        reasons.extend(rtt_p50_ns.and_then(|rtt| self.many_long_gaps(probes, rtt)));
        reasons
    }

    /// Each gap touches the one round trip in flight. The gaps of both probes are added, core by core.
    fn many_long_gaps(&self, probes: &[&Probe], rtt: f64) -> Option<String> {
        let probed_ns: u64 = probes.iter().map(|probe| probe.length_ns).sum();
        let limit = (self.max_gap_per_rtt * rtt).max(self.gap_ns as f64);
        // gaps are counted in steps of powers of two
        let step = (limit / self.gap_ns as f64).log2() as usize;
        let mut long: BTreeMap<u32, u64> = BTreeMap::new();
        for core in probes.iter().flat_map(|probe| &probe.cores) {
            *long.entry(core.core).or_default() += core.longer.get(step).copied().unwrap_or(0);
        }
        let (core, gaps) = long.into_iter().max_by_key(|(_, gaps)| *gaps)?;
        let touched_pct = 100.0 * gaps as f64 * rtt / probed_ns.max(1) as f64;
        (touched_pct > self.max_touched_pct).then(|| {
            let longer_us = self.gap_ns as f64 * (1_u64 << step) as f64 / 1e3;
            format!(
                "{gaps} gaps of over {longer_us:.0} µs on core {core} in {} s touch {} % of round trips",
                format_value(probed_ns as f64 / 1e9),
                format_value(touched_pct)
            )
        })
    }
}

/// Number of blocks, and how it was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Allocation {
    /// Planned number of blocks, without repeated ones: the fixed number; for a precision target first the pilot,
    /// then the number derived from it.
    pub planned: u32,
    /// Number of blocks that the precision target needs according to the pilot, even if the time budget is too
    /// small. Absent for a fixed number of blocks, and before the end of the pilot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<u32>,
    /// Largest standard deviation in the pilot of log ratios to the baseline; without a baseline, of the logarithms
    /// of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot_log_sd: Option<f64>,
    /// Maximum number of blocks in the time budget, extrapolated from the duration of the pilot blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u32>,
    /// Number of completed blocks, without repeated ones.
    pub made: u32,
    /// Reason for the end of the experiment. Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
}

/// Reason for the end of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Noise probe just before the first run. Null if it was not possible.
    pub before: Option<Probe>,
    /// Noise probe just after the last run. Null if it was not possible, and if the block was interrupted.
    pub after: Option<Probe>,
    /// Counters of the host over the block. Null if the block was interrupted.
    pub host: Option<HostNoise>,
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

/// Noise probe: one thread spins on each core that runs use, at the same time, and finds gaps between reads of the
/// clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Planned duration, in ns.
    pub length_ns: u64,
    /// Outcome for each core.
    pub cores: Vec<CoreProbe>,
}

/// Outcome of a noise probe on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreProbe {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostNoise {
    /// CPU time that the hypervisor gave to other guests (steal), in percent of the time of all cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_pct: Option<f64>,
    /// CPU time in software interrupts, in percent of the time of all cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softirq_pct: Option<f64>,
    /// Time in which at least one task waited for a core (PSI `some`), in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_pct: Option<f64>,
    /// Number of packets that the kernel dropped before a socket, because the backlog of a core was full
    /// (`softnet_stat`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softnet_drops: Option<u64>,
    /// Number of received UDP datagrams dropped for any reason, in the network namespace of the runner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp_in_errors: Option<u64>,
    /// Number of received UDP datagrams dropped because a receive buffer was full, in the network namespace of the
    /// runner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp_receive_buffer_errors: Option<u64>,
    /// Minimum CPU frequency over the cores that runs use, at the end of the block, in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_frequency_khz: Option<u64>,
    /// Maximum CPU frequency over the cores that runs use, at the end of the block, in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frequency_khz: Option<u64>,
    /// Number of thermal throttling events on the cores that runs use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
    /// Maximum temperature over all thermal zones at the end of the block, in 1/1000 of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_temperature_millicelsius: Option<i64>,
}

/// Resumption of an interrupted experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// Time of the resumption, in ns since 1970-01-01 UTC.
    pub at_unix_ns: u64,
    /// Number of the first run after it.
    pub first_run: u32,
    /// Differences from the environment of the first run, one text each. Empty unless the resumption was forced.
    pub differences: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges a block with probes of 100 ms before and after it, each with these gaps on core 1 and none on core 0.
    fn judged(rule: &NoiseRule, longer: &[u64], max_gap_ns: u64, rtt: Option<f64>) -> Vec<String> {
        let core = |core, longer: &[u64], max_gap_ns| CoreProbe {
            core,
            gaps: longer.first().copied().unwrap_or(0),
            max_gap_ns,
            stolen_pct: 1.0,
            longer: longer.to_vec(),
        };
        let probe =
            Probe { length_ns: 100_000_000, cores: vec![core(0, &[], 9_000), core(1, longer, max_gap_ns)] };
        rule.judge(&[&probe, &probe], rtt)
    }

    #[test]
    fn long_gaps_count_by_the_round_trips_that_they_touch() {
        let rule = NoiseRule::new(100_000_000, false);
        let rtt = Some(20_000.0);
        // long gaps are over 80 us: 2 x 5 of them touch 0.1 % of 10,000 round trips, 2 x 6 more
        assert_eq!(judged(&rule, &[36, 20, 9, 5, 1], 300_000, rtt), Vec::<String>::new());
        assert_eq!(
            judged(&rule, &[36, 20, 9, 6, 1], 300_000, rtt),
            ["12 gaps of over 80 µs on core 1 in 0.200 s touch 0.120 % of round trips"]
        );
        // longer RTT: fewer gaps are long, and each touches one of fewer round trips
        assert_eq!(judged(&rule, &[36, 20, 9, 6, 1], 300_000, Some(40_000.0)), Vec::<String>::new());
        assert_eq!(judged(&rule, &[36, 20, 9, 6, 3], 300_000, Some(40_000.0)).len(), 1);
        // RTT shorter than the gap limit
        assert_eq!(judged(&rule, &[36], 12_000, Some(1_000.0)), Vec::<String>::new());
        assert_eq!(judged(&rule, &[200], 12_000, Some(1_000.0)).len(), 1);
        assert_eq!(judged(&rule, &[36, 20, 9, 6, 1], 300_000, None), Vec::<String>::new());
    }

    #[test]
    fn what_is_stolen_of_a_core_makes_a_block_noisy_whatever_its_gaps() {
        let rule = NoiseRule { max_stolen_pct: 0.9, ..NoiseRule::new(100_000_000, false) };
        assert_eq!(judged(&rule, &[1], 12_000, None), ["1.00 % of core 1 was stolen"]);
    }
}
