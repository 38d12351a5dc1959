//! Noise probes: interruptions of cores between blocks.

use std::{
    thread,
    time::{Duration, Instant},
};

use results::{CoreNoise, NoiseProbe, NoiseRule};

use super::cores::pin_to;
use crate::barrier::RunBarrier;

/// Maximum time until the threads of a probe have started.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Spins on all cores at the same time and records gaps. Returns `None` if a core cannot be probed.
pub(crate) fn probe(cores: &[u32], rule: &NoiseRule) -> Option<NoiseProbe> {
    probe_on(cores, rule, |core| thread::Builder::new().name(format!("probe-{core}")))
}

/// Like [`probe`], with the builder of the thread of each core.
fn probe_on(cores: &[u32], rule: &NoiseRule, builder: impl Fn(u32) -> thread::Builder) -> Option<NoiseProbe> {
    if cores.is_empty() {
        return None;
    }
    let together = RunBarrier::new();
    // All join the barrier before the first thread starts. One that cannot be started leaves it.
    let members: Vec<_> = cores.iter().map(|&core| (core, together.join())).collect();
    let found: Vec<Option<CoreNoise>> = thread::scope(|scope| {
        let spinners = members.into_iter().map(|(core, member)| {
            builder(core).spawn_scoped(scope, move || {
                let settled = pin_to(&[core]).is_ok();
                (member.meet(START_LIMIT) && settled).then(|| spin(core, rule))
            })
        });
        let spinners: Vec<_> = spinners.collect();
        spinners.into_iter().map(|spinner| spinner.ok()?.join().ok()?).collect()
    });
    Some(NoiseProbe { length_ns: rule.probe_ns, cores: found.into_iter().collect::<Option<_>>()? })
}

fn spin(core: u32, rule: &NoiseRule) -> CoreNoise {
    let length = Duration::from_nanos(rule.probe_ns);
    let began = Instant::now();
    let mut gaps = Gaps::new(rule.gap_ns);
    let mut last = began;
    while last - began < length {
        let now = Instant::now();
        gaps.take((now - last).as_nanos() as u64);
        last = now;
    }
    gaps.core_noise(core, (last - began).as_nanos() as u64)
}

/// Statistics of the times between consecutive clock reads.
struct Gaps {
    limit_ns: u64,
    count: u64,
    /// Number of gaps per octave: element k counts gaps longer than 2^k limits, up to 2^(k+1) limits.
    octaves: [u64; 64],
    max_ns: u64,
    stolen_ns: u64,
}

impl Gaps {
    const fn new(limit_ns: u64) -> Self {
        Self { limit_ns, count: 0, octaves: [0; 64], max_ns: 0, stolen_ns: 0 }
    }

    fn take(&mut self, gap_ns: u64) {
        self.max_ns = self.max_ns.max(gap_ns);
        if gap_ns > self.limit_ns {
            self.count += 1;
            self.octaves[((gap_ns - 1) / self.limit_ns).ilog2() as usize] += 1;
            self.stolen_ns += gap_ns;
        }
    }

    fn core_noise(&self, core: u32, length_ns: u64) -> CoreNoise {
        let stolen_pct = 100.0 * self.stolen_ns as f64 / length_ns.max(1) as f64;
        let from = |octave: usize| self.octaves[octave..].iter().sum::<u64>();
        let longer = (0..self.octaves.len()).map(from).take_while(|gaps| *gaps > 0).collect();
        CoreNoise { core, gaps: self.count, max_gap_ns: self.max_ns, stolen_pct, longer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::cores::allowed_cores;

    const RULE: NoiseRule = NoiseRule::new(50_000_000, false);

    #[test]
    fn gaps_are_counted_from_the_limit_on_and_the_longest_is_kept() {
        let mut gaps = Gaps::new(10_000);
        for gap in [30, 10_000, 9_999, 40] {
            gaps.take(gap);
        }
        assert_eq!(
            gaps.core_noise(3, 1_000_000),
            CoreNoise { core: 3, gaps: 0, max_gap_ns: 10_000, stolen_pct: 0.0, longer: Vec::new() }
        );
        gaps.take(10_001);
        gaps.take(19_999);
        assert_eq!(
            gaps.core_noise(3, 1_000_000),
            CoreNoise { core: 3, gaps: 2, max_gap_ns: 19_999, stolen_pct: 3.0, longer: vec![2] }
        );
        // A gap of exactly a power of two belongs to the octave below.
        for gap in [20_000, 20_001, 40_000, 80_001] {
            gaps.take(gap);
        }
        assert_eq!(gaps.core_noise(3, 1_000_000).longer, [6, 3, 1, 1]);
    }

    #[test]
    fn probe_shows_work_on_its_core_and_rejects_an_unknown_core() {
        let core = allowed_cores()[0];
        let ended = std::sync::atomic::AtomicBool::new(false);
        let ready = std::sync::Barrier::new(2);
        let probed = thread::scope(|scope| {
            scope.spawn(|| {
                pin_to(&[core]).expect("pinned");
                ready.wait();
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            ready.wait();
            let probed = probe(&[core], &NoiseRule::new(200_000_000, false));
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
            probed.expect("a core that may be used")
        });
        // The probe and the other thread share the core: each gets about half of it.
        assert!(probed.cores[0].stolen_pct > 10.0 && probed.cores[0].gaps > 0, "{probed:?}");
        assert!(!RULE.judge(&[&probed], None).is_empty());
        assert_eq!(probe(&[4000], &RULE), None);
        assert_eq!(probe(&[], &RULE), None);
    }

    #[test]
    fn probe_without_a_thread_of_a_core_is_missing_as_a_whole() {
        let core = allowed_cores()[0];
        let probed = |largest_stack: usize| {
            let started = std::sync::atomic::AtomicUsize::new(0);
            probe_on(&[core, core], &RULE, |_| {
                let first = started.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
                thread::Builder::new().stack_size(if first { 1 << 20 } else { largest_stack })
            })
        };
        assert_eq!(probed(1 << 20).map(|probe| probe.cores.len()), Some(2));
        // no address space has room for this stack: the second thread cannot start
        assert_eq!(probed(1 << 60), None);
    }
}
