//! Noise rule of blocks, and the warnings of an experiment's progress.

use std::collections::BTreeMap;

use stats::format_value;

use crate::schema::{
    Block, BlockHost, ExperimentLog, NoiseProbe, NoiseRule, RunningExperiment, StoppedBy, Warning,
    WarningKind,
};

impl ExperimentLog {
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
                "{noisy} of {} blocks were noisy: other work on this host affects the values; a quiet host, or cores \
                 of its own, would show smaller differences",
                self.blocks.len()
            );
            warnings.push(Warning::new(WarningKind::Noisy, text));
        }
        warnings.extend(self.other_experiments());
        let failed: Vec<&String> = self.blocks.iter().filter_map(Block::reference_error).collect();
        if let Some(error) = failed.first() {
            let text = format!(
                "the reference failed in {} of {} blocks ({error}): no claim between this result and another rests on them",
                failed.len(),
                self.blocks.len()
            );
            warnings.push(Warning::new(WarningKind::Reference, text));
        }
        let mixed = self.resumed.iter().filter(|resumption| !resumption.differences.is_empty());
        warnings.extend(mixed.map(|resumption| {
            let text = format!(
                "from run {} on it was measured in another environment: {}",
                resumption.first_run,
                resumption.differences.join("; ")
            );
            Warning::new(WarningKind::Mixed, text)
        }));
        warnings
    }

    /// Returns a warning for each other experiment that ran on the host at the same time.
    fn other_experiments(&self) -> Vec<Warning> {
        let mut blocks: BTreeMap<&RunningExperiment, Vec<String>> = BTreeMap::new();
        for block in &self.blocks {
            for other in &block.others {
                blocks.entry(other).or_default().push(block.number.to_string());
            }
        }
        let warning = |(other, numbers): (&RunningExperiment, Vec<String>)| {
            let RunningExperiment { pid, directory, since } = other;
            let these = if numbers.len() == 1 { "block" } else { "blocks" };
            let text = format!(
                "another experiment ran on this host during {these} {}: process {pid}, with the results directory \
                 `{directory}`, since {since}; the two disturb each other: measure one after the other",
                numbers.join(", ")
            );
            Warning::new(WarningKind::OtherExperiment, text)
        };
        blocks.into_iter().map(warning).collect()
    }
}

/// Returns whether more than half of the blocks were noisy.
#[must_use]
pub fn over_half_noisy(blocks: &[Block]) -> bool {
    2 * blocks.iter().filter(|block| block.noisy).count() > blocks.len()
}

impl NoiseRule {
    /// Returns the reasons why a block is noisy, host by host; with several hosts, each names its host.
    #[must_use]
    pub fn judge_hosts(&self, block: &Block, rtt_p50_ns: Option<f64>) -> Vec<String> {
        let of_host = |host: &BlockHost| {
            let probes: Vec<&NoiseProbe> = [&host.before, &host.after].into_iter().flatten().collect();
            let name = (block.hosts.len() > 1).then(|| host.host.clone());
            let named = move |reason| match &name {
                Some(name) => format!("host `{name}`: {reason}"),
                None => reason,
            };
            self.judge(&probes, rtt_p50_ns).into_iter().map(named).collect::<Vec<_>>()
        };
        block.hosts.iter().flat_map(of_host).collect()
    }

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
    pub fn judge(&self, probes: &[&NoiseProbe], rtt_p50_ns: Option<f64>) -> Vec<String> {
        let mut reasons = Vec::new();
        let cores = || probes.iter().flat_map(|probe| &probe.cores);
        if let Some(worst) = cores().max_by(|a, b| a.stolen_pct.total_cmp(&b.stolen_pct))
            && worst.stolen_pct > self.max_stolen_pct
        {
            reasons.push(format!(
                "{} % of core {} went to other work",
                format_value(worst.stolen_pct),
                worst.core
            ));
        }
        reasons.extend(rtt_p50_ns.and_then(|rtt| self.many_long_gaps(probes, rtt)));
        reasons
    }

    /// Each gap touches the one round trip in flight. The gaps of both probes are added, core by core.
    fn many_long_gaps(&self, probes: &[&NoiseProbe], rtt: f64) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::CoreNoise;

    /// Judges a block with probes of 100 ms before and after it, each with these gaps on core 1 and none on core 0.
    fn judged(rule: &NoiseRule, longer: &[u64], max_gap_ns: u64, rtt: Option<f64>) -> Vec<String> {
        let core = |core, longer: &[u64], max_gap_ns| CoreNoise {
            core,
            gaps: longer.first().copied().unwrap_or(0),
            max_gap_ns,
            stolen_pct: 1.0,
            longer: longer.to_vec(),
        };
        let probe = NoiseProbe {
            length_ns: 100_000_000,
            cores: vec![core(0, &[], 9_000), core(1, longer, max_gap_ns)],
        };
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
    fn stolen_time_makes_a_block_noisy_whatever_its_gaps() {
        let rule = NoiseRule { max_stolen_pct: 0.9, ..NoiseRule::new(100_000_000, false) };
        assert_eq!(judged(&rule, &[1], 12_000, None), ["1.00 % of core 1 went to other work"]);
    }
}
