//! Systems whose capacity is known, to be searched.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use statrs::distribution::{ContinuousCDF as _, Normal};
use stats::search::{Budget, Goal, Loads, Outcome, Search, Trial};

/// The share of the capacity at which samples begin to come late.
pub const LATE_FROM: f64 = 0.8;
/// More than any of these searches takes; one that does not end is stopped by it.
pub const AMPLE: Budget = Budget { trials: 2_000, duration_ns: u64::MAX };

/// How a system is disturbed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    pub name: &'static str,
    /// Standard deviation of the capacity, relative, from trial to trial.
    pub spread: f64,
    /// Stalls in a second, each of which loses what 50 ms offer, at any load.
    pub stalls: f64,
}

pub const NOISES: [Noise; 4] = [
    Noise { name: "none", spread: 0.0, stalls: 0.0 },
    Noise { name: "capacity 0.3 %", spread: 0.003, stalls: 0.0 },
    Noise { name: "and a stall in 100 s", spread: 0.003, stalls: 0.01 },
    Noise { name: "capacity 1 %, a stall in 50 s", spread: 0.01, stalls: 0.02 },
];

/// What cannot be delivered of a load is lost.
pub struct System {
    capacity_sps: f64,
    noise: Noise,
    random: ChaCha8Rng,
}

impl System {
    pub fn new(capacity_sps: f64, noise: Noise, seed: u64) -> Self {
        Self { capacity_sps, noise, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Lost, lost, late: for `ndr`, `pdr` and `slo`.
    pub fn ratios(&mut self, trial: Trial) -> [f64; 3] {
        let seconds = trial.duration_ns as f64 / 1e9;
        let normal = Normal::standard().inverse_cdf(self.random.random_range(1e-12..1.0));
        let capacity = self.capacity_sps * (1.0 + self.noise.spread * normal);
        let stalled = self.random.random_bool(1.0 - (-self.noise.stalls * seconds).exp());
        let stall = if stalled { 0.05 / seconds } else { 0.0 };
        let over = |capacity: f64| (1.0 - capacity / trial.load_sps).max(stall).clamp(0.0, 1.0);
        [over(capacity), over(capacity), over(capacity * LATE_FROM)]
    }
}

pub fn goals() -> Vec<Goal> {
    vec![Goal::ndr(), Goal::pdr(), Goal::slo()]
}

/// The highest load that keeps each of these goals, as nothing but the capacity has it.
pub fn truths(goals: &[Goal], capacity_sps: f64) -> [f64; 3] {
    let kept = [1.0, 1.0, LATE_FROM];
    std::array::from_fn(|index| capacity_sps * kept[index] / (1.0 - goals[index].loss_ratio))
}

/// What a search found, and what it took.
pub struct Found {
    pub outcomes: [Outcome; 3],
    pub trials: Vec<(Trial, Vec<f64>)>,
    pub seconds: f64,
}

pub fn search(
    goals: &[Goal],
    loads: Loads,
    budget: Budget,
    mut measure: impl FnMut(Trial) -> [f64; 3],
) -> Found {
    let mut search = Search::new(goals.to_vec(), loads, budget).expect("goals and loads");
    let mut trials = Vec::new();
    while let Some(trial) = search.next_trial() {
        let ratios = measure(trial)[..goals.len()].to_vec();
        search.record(trial, &ratios).expect("asked for");
        trials.push((trial, ratios));
    }
    let seconds = trials.iter().map(|(trial, _)| trial.duration_ns as f64 / 1e9).sum();
    let outcomes = std::array::from_fn(|index| search.outcome(index.min(goals.len() - 1)));
    Found { outcomes, trials, seconds }
}

/// How far a true bound lies outside of those found, relative to it: 0 inside. None without both.
pub fn off(outcome: Outcome, truth_sps: f64) -> Option<f64> {
    let Outcome::Regular { lower, upper, .. } = outcome else { return None };
    Some((lower.load_sps / truth_sps - 1.0).max(1.0 - upper.load_sps / truth_sps).max(0.0))
}

/// Many searches in a disturbed system, of capacities over 5 decades.
pub struct Campaign {
    /// For each goal: searches in which the bounds hold the truth, and in which it is no farther than a width outside.
    pub inside: [u32; 3],
    pub within_width: [u32; 3],
    pub mean_trials: f64,
    pub mean_seconds: f64,
}

pub fn campaign(goals: &[Goal], noise: Noise, searches: u32) -> Campaign {
    let mut all = Campaign { inside: [0; 3], within_width: [0; 3], mean_trials: 0.0, mean_seconds: 0.0 };
    for seed in 0..searches {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(seed) + 1_000_000);
        let capacity_sps = 10.0_f64.powf(random.random_range(2.0..7.0));
        // a run with back-pressure tells the capacity well, or is far off
        let start_sps = capacity_sps * random.random_range(0.5..3.0);
        let loads = Loads { floor_sps: 10.0, ceiling_sps: 1e8, start_sps };
        let mut system = System::new(capacity_sps, noise, u64::from(seed));
        let found = search(goals, loads, AMPLE, |trial| system.ratios(trial));
        let truths = truths(goals, capacity_sps);
        for (index, goal) in goals.iter().enumerate() {
            let off = off(found.outcomes[index], truths[index]);
            all.inside[index] += u32::from(off == Some(0.0));
            all.within_width[index] += u32::from(off.is_some_and(|off| off <= goal.width));
        }
        all.mean_trials += found.trials.len() as f64 / f64::from(searches);
        all.mean_seconds += found.seconds / f64::from(searches);
    }
    all
}
