//! Simulated systems of known capacity.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use statrs::distribution::{ContinuousCDF as _, Normal};
use stats::search::{Budget, Goal, GoalOutcome, Loads, Search, Trial, TrialOutcome};

/// Share of the capacity above which samples are late.
pub const LATE_FROM: f64 = 0.8;
/// Budget above the need of any of these searches; limits one that does not end.
pub const AMPLE: Budget = Budget { trials: 2_000, duration_ns: u64::MAX };

/// Disturbances of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    pub name: &'static str,
    /// Relative standard deviation of the capacity between trials.
    pub spread: f64,
    /// Stalls per second. Each one delays or loses the samples of 50 ms, at any load.
    pub stalls: f64,
}

pub const NOISES: [Noise; 4] = [
    Noise { name: "none", spread: 0.0, stalls: 0.0 },
    Noise { name: "capacity 0.3 %", spread: 0.003, stalls: 0.0 },
    Noise { name: "and a stall in 100 s", spread: 0.003, stalls: 0.01 },
    Noise { name: "capacity 1 %, a stall in 50 s", spread: 0.01, stalls: 0.02 },
];

/// Queue of a reliable flow, in seconds at the capacity. When it is full, the writer blocks.
const QUEUE_SECONDS: f64 = 0.005;
/// Duration of a stall in s.
const STALL_SECONDS: f64 = 0.05;
/// Number of windows of a trial, as in the product.
const WINDOWS: u32 = 50;
/// Mean of the exponential noise of a window's median send lag, in ns.
const LAG_NOISE_NS: f64 = 5_000.0;

/// Effect of a load above the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Samples are lost.
    BestEffort,
    /// Samples wait in a queue, then the writer blocks: samples are late or unsent.
    Reliable,
}

/// Simulated system of known capacity.
pub struct System {
    capacity_sps: f64,
    noise: Noise,
    random: ChaCha8Rng,
}

impl System {
    pub fn new(capacity_sps: f64, noise: Noise, seed: u64) -> Self {
        Self { capacity_sps, noise, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Returns the capacity during a trial, and whether there is a stall.
    fn draw(&mut self, trial: Trial) -> (f64, bool) {
        let seconds = trial.duration_ns as f64 / 1e9;
        let normal = Normal::standard().inverse_cdf(self.random.random_range(1e-12..1.0));
        let capacity = self.capacity_sps * (1.0 + self.noise.spread * normal);
        (capacity, self.random.random_bool(1.0 - (-self.noise.stalls * seconds).exp()))
    }

    /// Returns exact violation ratios for `ndr`, `pdr` and `slo` (lost, lost, late), for tests of the search
    /// itself.
    pub fn ratios(&mut self, trial: Trial) -> [f64; 3] {
        let (capacity, stalled) = self.draw(trial);
        let stall = if stalled { STALL_SECONDS / (trial.duration_ns as f64 / 1e9) } else { 0.0 };
        let over = |capacity: f64| (1.0 - capacity / trial.load_sps).max(stall).clamp(0.0, 1.0);
        [over(capacity), over(capacity), over(capacity * LATE_FROM)]
    }

    /// Returns the violation ratios of a simulated trial by the product's rule, for `ndr`, `pdr` and `slo`.
    pub fn judged(&mut self, flow: Flow, trial: Trial) -> [f64; 3] {
        let seconds = trial.duration_ns as f64 / 1e9;
        let load = trial.load_sps;
        let (capacity, stalled) = self.draw(trial);
        let planned = (load * seconds).floor();
        let begin = self.random.random_range(0.0..1.0) * (seconds - STALL_SECONDS);
        let stall_end = if stalled { begin + STALL_SECONDS } else { begin };
        let stall = if stalled { STALL_SECONDS / seconds } else { 0.0 };
        // number of waiting samples at a time of the trial: those above the capacity, and the backlog of a stall
        let grows = (load - capacity).max(0.0);
        let stalled_samples = (stall_end - begin) * (load - grows);
        let waiting = |at: f64| {
            let stalled = if at < begin {
                0.0
            } else if at < stall_end {
                (at - begin) * (load - grows)
            } else {
                (stalled_samples - (at - stall_end) * (capacity - load).max(0.0)).max(0.0)
            };
            grows * at + stalled
        };
        let shown = match flow {
            Flow::BestEffort => {
                let lost = (1.0 - capacity / load).max(stall).clamp(0.0, 1.0) * planned;
                TrialOutcome { delivered: (planned - lost).floor() as u64, ..TrialOutcome::default() }
            }
            Flow::Reliable => {
                let queue = QUEUE_SECONDS * capacity;
                // the writer's lag is its unwritten backlog divided by the offered rate
                let lag_ns = |at: f64| (waiting(at) - queue).max(0.0) / load * 1e9;
                let unsent = ((waiting(seconds) - queue).max(0.0).floor() as u64).min(planned as u64);
                let late_ns = waiting(seconds).min(queue) / capacity * 1e9;
                let send_lag = (0..WINDOWS).map(|window| {
                    let at = (f64::from(window) + 0.5) * seconds / f64::from(WINDOWS);
                    let noise_ns = -LAG_NOISE_NS * self.random.random_range(1e-12..1.0_f64).ln();
                    (at * 1e9, lag_ns(at) + noise_ns)
                });
                TrialOutcome {
                    unsent,
                    delivered: planned as u64 - unsent,
                    late_ns: Some(late_ns as u64),
                    send_lag: send_lag.collect(),
                    ..TrialOutcome::default()
                }
            }
        };
        let shown = TrialOutcome { duration_ns: trial.duration_ns, planned: planned as u64, ..shown };
        let late = (1.0 - capacity * LATE_FROM / load).max(stall).clamp(0.0, 1.0);
        let in_time = (planned * (1.0 - late)).floor() as u64;
        let violation = shown.violation();
        [violation, violation, shown.violation_with_deadline(in_time)]
    }
}

pub fn goals() -> Vec<Goal> {
    vec![Goal::ndr(), Goal::pdr(), Goal::slo()]
}

/// Returns the highest load that meets each of these goals without disturbances.
pub fn truths(goals: &[Goal], capacity_sps: f64) -> [f64; 3] {
    let kept = [1.0, 1.0, LATE_FROM];
    std::array::from_fn(|index| capacity_sps * kept[index] / (1.0 - goals[index].loss_ratio))
}

/// Outcomes and cost of a search.
pub struct SearchResult {
    pub outcomes: [GoalOutcome; 3],
    pub trials: Vec<(Trial, Vec<f64>)>,
    pub seconds: f64,
}

pub fn search(
    goals: &[Goal],
    loads: Loads,
    budget: Budget,
    mut measure: impl FnMut(Trial) -> [f64; 3],
) -> SearchResult {
    let mut search = Search::new(goals.to_vec(), loads, budget).expect("goals and loads");
    let mut trials = Vec::new();
    while let Some(trial) = search.next_trial() {
        let ratios = measure(trial)[..goals.len()].to_vec();
        search.record(trial, &ratios).expect("asked for");
        trials.push((trial, ratios));
    }
    let seconds = trials.iter().map(|(trial, _)| trial.duration_ns as f64 / 1e9).sum();
    let outcomes = std::array::from_fn(|index| search.outcome(index.min(goals.len() - 1)));
    SearchResult { outcomes, trials, seconds }
}

/// Returns the relative distance of the true bound from the bounds found: 0 if inside, `None` without both bounds.
pub fn off(outcome: GoalOutcome, truth_sps: f64) -> Option<f64> {
    let GoalOutcome::Regular { lower, upper, .. } = outcome else { return None };
    Some((lower.load_sps / truth_sps - 1.0).max(1.0 - upper.load_sps / truth_sps).max(0.0))
}

/// Results of many searches on disturbed systems with capacities over 5 decades.
pub struct Campaign {
    /// For each goal: searches whose bounds contain the true value, and searches whose bounds miss it by at most a
    /// width.
    pub inside: [u32; 3],
    pub within_width: [u32; 3],
    pub mean_trials: f64,
    pub mean_seconds: f64,
}

pub fn campaign(goals: &[Goal], flow: Flow, noise: Noise, searches: u32) -> Campaign {
    let mut all = Campaign { inside: [0; 3], within_width: [0; 3], mean_trials: 0.0, mean_seconds: 0.0 };
    for seed in 0..searches {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(seed) + 1_000_000);
        let capacity_sps = 10.0_f64.powf(random.random_range(2.0..7.0));
        // the start from a run with back-pressure is close to the capacity, or far off
        let start_sps = capacity_sps * random.random_range(0.5..3.0);
        let loads = Loads { floor_sps: 10.0, ceiling_sps: 1e8, start_sps };
        let mut system = System::new(capacity_sps, noise, u64::from(seed));
        let found = search(goals, loads, AMPLE, |trial| system.judged(flow, trial));
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
