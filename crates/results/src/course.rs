//! How an experiment went beside its runs: its blocks and the noise around them, how many there were to be and why, and
//! where it was taken up again. Kept in `DIR/course.json` while it goes on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Maximum, Reference, Warning, WarningKind, format_micros, format_value};

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Course {
    /// Version of the schema.
    pub schema_version: u32,
    /// When a block counts as noisy, and what becomes of it. Fixed before the first block.
    pub noise_rule: NoiseRule,
    /// How many blocks, and why so many.
    pub allocation: Allocation,
    /// What rates in percent are percent of, measured before the first block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maxima: Vec<Maximum>,
    /// Blocks that were begun, in the order of execution.
    pub blocks: Vec<Block>,
    /// Where it was taken up again after an interruption.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Resumption>,
}

impl Course {
    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.allocation.stopped_by.is_some_and(|why| why != StoppedBy::Interrupted)
    }

    /// What it says about the whole result.
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

/// Whether more than half of these blocks were noisy.
#[must_use]
pub fn over_half_noisy(blocks: &[Block]) -> bool {
    2 * blocks.iter().filter(|block| block.noisy).count() > blocks.len()
}

/// When a block counts as noisy, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseRule {
    /// A probe reads the clock without a pause; time between two readings counts as stolen if it is longer than this.
    pub gap_ns: u64,
    /// How long each probe lasts.
    pub probe_ns: u64,
    /// Noisy if a probe before or after it found more than this stolen on a core, in percent of its time ...
    pub max_stolen_pct: f64,
    /// ... or too many gaps of more than so many times the median RTT of the block: the median of its latency runs' medians.
    pub max_gap_per_rtt: f64,
    /// Of all round trips, one after the other, such gaps may touch so many, in percent. Absent in older results: there one such
    /// gap was too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_touched_pct: Option<f64>,
    /// Whether a noisy block is made once more at the end. Both stay in the result. Blocks are not made again where over half
    /// of them are noisy: then that is how the host is.
    pub repeat_noisy: bool,
}

impl NoiseRule {
    /// The rule, with probes of this length.
    #[must_use]
    pub const fn new(probe_ns: u64, repeat_noisy: bool) -> Self {
        Self {
            gap_ns: 10_000,
            probe_ns,
            max_stolen_pct: 2.0,
            max_gap_per_rtt: 5.0,
            // a tenth of what p99 leaves above it
            max_touched_pct: Some(0.1),
            repeat_noisy,
        }
    }

    /// Why a block with these probes is noisy, in words; empty if it is not. `rtt_p50_ns` is the median RTT of the block, if
    /// it has latency runs.
    #[must_use]
    pub fn judge(&self, probes: &[&Probe], rtt_p50_ns: Option<f64>) -> Vec<String> {
        let mut reasons = Vec::new();
        let cores = || probes.iter().flat_map(|probe| &probe.cores);
        if let Some(worst) = cores().max_by(|a, b| a.stolen_pct.total_cmp(&b.stolen_pct))
            && worst.stolen_pct > self.max_stolen_pct
        {
            reasons.push(format!("{} % of core {} was stolen", format_value(worst.stolen_pct), worst.core));
        }
        reasons.extend(rtt_p50_ns.and_then(|rtt| match self.max_touched_pct {
            Some(most) => self.many_long_gaps(probes, rtt, most),
            None => self.one_long_gap(probes, rtt),
        }));
        reasons
    }

    /// Each gap touches the one round trip that is under way. Both probes of a block are taken together, core by core.
    fn many_long_gaps(&self, probes: &[&Probe], rtt: f64, most_pct: f64) -> Option<String> {
        let probed_ns: u64 = probes.iter().map(|probe| probe.length_ns).sum();
        let limit = (self.max_gap_per_rtt * rtt).max(self.gap_ns as f64);
        // gaps are counted from powers of two on
        let step = (limit / self.gap_ns as f64).log2() as usize;
        let mut long: BTreeMap<u32, u64> = BTreeMap::new();
        for core in probes.iter().flat_map(|probe| &probe.cores) {
            *long.entry(core.core).or_default() += core.longer.get(step).copied().unwrap_or(0);
        }
        let (core, gaps) = long.into_iter().max_by_key(|(_, gaps)| *gaps)?;
        let touched_pct = 100.0 * gaps as f64 * rtt / probed_ns.max(1) as f64;
        (touched_pct > most_pct).then(|| {
            let longer_us = self.gap_ns as f64 * (1_u64 << step) as f64 / 1e3;
            format!(
                "{gaps} gaps of over {longer_us:.0} µs on core {core} in {} s touch {} % of round trips",
                format_value(probed_ns as f64 / 1e9),
                format_value(touched_pct)
            )
        })
    }

    /// As older results were judged.
    fn one_long_gap(&self, probes: &[&Probe], rtt: f64) -> Option<String> {
        let cores = probes.iter().flat_map(|probe| &probe.cores);
        let worst = cores.max_by_key(|core| core.max_gap_ns)?;
        (worst.max_gap_ns as f64 > self.max_gap_per_rtt * rtt).then(|| {
            format!(
                "a gap of {} µs on core {} is {} times the median RTT",
                format_micros(worst.max_gap_ns as f64),
                worst.core,
                format_value(worst.max_gap_ns as f64 / rtt)
            )
        })
    }
}

/// How many blocks there are to be, and why so many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Allocation {
    /// Blocks to make, without those that are made again: the fixed number; or with a precision first the pilot, then what
    /// follows from it.
    pub planned: u32,
    /// Blocks that the precision needs by the pilot, also where there is no time for them. Absent where the number is fixed, and
    /// before the pilot is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<u32>,
    /// The largest standard deviation of the logarithms that the pilot's figures gave: of ratios to the baseline, or without
    /// one of the figures themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot_log_sd: Option<f64>,
    /// The most blocks that the time budget had room for, by the measured time of the pilot's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u32>,
    /// Blocks that were made to their end, without those that were made again.
    pub made: u32,
    /// Why it ended there; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
}

/// Why no more blocks were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// The number was fixed, and they are made.
    Fixed,
    /// Those that the wanted precision needs are made.
    Precision,
    /// There was no time for more.
    Budget,
    /// By a signal or an error.
    Interrupted,
}

/// One pass over all cells, and the noise around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// Its number, from 1, as in its runs.
    pub number: u32,
    /// The block that it makes again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Whether it was disturbed, by the rule of the result.
    pub noisy: bool,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Number of its first run.
    pub first_run: u32,
    /// Whether all of its runs were made.
    pub complete: bool,
    /// How long it took, with its probes. Absent while it goes on, and if it was interrupted.
    pub took_ns: Option<u64>,
    /// Just before its first run. Absent if it could not be made.
    pub before: Option<Probe>,
    /// Just after its last run.
    pub after: Option<Probe>,
    /// What the host counted meanwhile. Absent if it was interrupted.
    pub host: Option<HostNoise>,
    /// Reference measured just before the first run. Absent with `--no-reference`, and if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_before: Option<Reference>,
    /// Reference measured just after the last run. Absent with `--no-reference`, if it failed, and if the block was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_after: Option<Reference>,
    /// Error of a reference that could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_error: Option<String>,
}

/// Spinning on every core that runs use, all at once, and looking for gaps between two readings of the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// How long.
    pub length_ns: u64,
    /// What was found, by core.
    pub cores: Vec<CoreProbe>,
}

/// What a probe found on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreProbe {
    /// The core.
    pub core: u32,
    /// Gaps longer than the rule allows.
    pub gaps: u64,
    /// The longest time between two readings, be it such a gap or not.
    pub max_gap_ns: u64,
    /// All such gaps together, in percent of the probe.
    pub stolen_pct: f64,
    /// How many gaps were longer than once, 2, 4, 8 ... times what the rule allows, without trailing zeros. Empty in older
    /// results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub longer: Vec<u64>,
}

/// What the host counted during a block: everybody's, not only ddsmark's. What it does not say is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostNoise {
    /// Time that the hypervisor gave to others, in percent of all cores' time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_pct: Option<f64>,
    /// Time in software interrupts, in percent of all cores' time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softirq_pct: Option<f64>,
    /// Time in which something waited for a core (`some` of PSI), in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_pct: Option<f64>,
    /// Packets that the kernel dropped between interface and socket for want of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softnet_drops: Option<u64>,
    /// Datagrams dropped for any reason, in the runner's network namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp_in_errors: Option<u64>,
    /// Datagrams dropped because a receive buffer was full, there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp_receive_buffer_errors: Option<u64>,
    /// Lowest frequency of a core that runs use, at the end of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_frequency_khz: Option<u64>,
    /// Highest such frequency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frequency_khz: Option<u64>,
    /// How often cores were slowed down for heat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
    /// Highest temperature of a thermal zone at the end of the block, in 1/1000 of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_temperature_millicelsius: Option<i64>,
}

/// An experiment was taken up again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// When, ns since 1970 (UTC).
    pub at_unix_ns: u64,
    /// The first run that was made after it.
    pub first_run: u32,
    /// What differed from the environment of the first run, in words: only where that was forced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probes of 100 ms before and after a block; in each these gaps on core 1, and none on core 0.
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
        // over 80 us: 2 x 5 of 10,000 round trips are a tenth of a percent, 2 x 6 are more
        assert_eq!(judged(&rule, &[36, 20, 9, 5, 1], 300_000, rtt), Vec::<String>::new());
        assert_eq!(
            judged(&rule, &[36, 20, 9, 6, 1], 300_000, rtt),
            ["12 gaps of over 80 µs on core 1 in 0.200 s touch 0.120 % of round trips"]
        );
        // longer round trips: fewer gaps are long, and each touches one of fewer
        assert_eq!(judged(&rule, &[36, 20, 9, 6, 1], 300_000, Some(40_000.0)), Vec::<String>::new());
        assert_eq!(judged(&rule, &[36, 20, 9, 6, 3], 300_000, Some(40_000.0)).len(), 1);
        // shorter ones than the limit of a gap
        assert_eq!(judged(&rule, &[36], 12_000, Some(1_000.0)), Vec::<String>::new());
        assert_eq!(judged(&rule, &[200], 12_000, Some(1_000.0)).len(), 1);
        assert_eq!(judged(&rule, &[36, 20, 9, 6, 1], 300_000, None), Vec::<String>::new());
    }

    #[test]
    fn by_an_older_rule_one_long_gap_is_too_many() {
        let older = r#"{"gap_ns": 10000, "probe_ns": 100000000, "max_stolen_pct": 2.0, "max_gap_per_rtt": 5.0,
                        "repeat_noisy": true}"#;
        let rule: NoiseRule = serde_json::from_str(older).expect("an older rule");
        assert_eq!(judged(&rule, &[], 99_000, Some(20_000.0)), Vec::<String>::new());
        assert_eq!(
            judged(&rule, &[], 300_000, Some(20_000.0)),
            ["a gap of 300 µs on core 1 is 15.0 times the median RTT"]
        );
    }

    #[test]
    fn what_is_stolen_of_a_core_makes_a_block_noisy_whatever_its_gaps() {
        let rule = NoiseRule { max_stolen_pct: 0.9, ..NoiseRule::new(100_000_000, false) };
        assert_eq!(judged(&rule, &[1], 12_000, None), ["1.00 % of core 1 was stolen"]);
    }
}
