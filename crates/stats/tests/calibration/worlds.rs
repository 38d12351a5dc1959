//! Simulated experiments with a known effect.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};
use stats::{Block, Run};

/// Disturbance of the runs of an experiment, in addition to a between-run CV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// No disturbance.
    Quiet,
    /// Drift: each run is 0.5 % slower than the previous one.
    Drift,
    /// Autocorrelation: a run keeps 0.8 of the previous run's deviation.
    Memory,
    /// Modes: 57 % of the runs at one level, 15 % at 1.08 times and the others at 1.45 times that level, like the
    /// flood around two devices in a published study on the cost of QoS policies.
    Modes,
    /// Student's t with 3 degrees of freedom.
    WideTails,
    /// Exponential above a lower limit.
    Skewed,
}

#[allow(dead_code, reason = "not all of them everywhere")]
pub const WORLDS: [World; 6] =
    [World::Quiet, World::Drift, World::Memory, World::Modes, World::WideTails, World::Skewed];

/// Number of runs after which the drift starts again.
const DRIFT_ENDS: f64 = 400.0;

/// Generator of successive experiments.
pub struct Rig {
    random: ChaCha8Rng,
    world: World,
    /// CV between runs of one cell.
    cv: f64,
    runs: f64,
    last: f64,
    in_one_order: bool,
}

impl Rig {
    pub fn new(seed: u64, world: World, cv: f64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed), world, cv, runs: 0.0, last: 0.0, in_one_order: false }
    }

    /// Returns a generator with the wrong design: the baseline always comes first.
    #[allow(dead_code, reason = "the tables do not show it")]
    pub fn in_one_order(self) -> Self {
        Self { in_one_order: true, ..self }
    }

    pub fn uniform(&mut self) -> f64 {
        self.random.random_range(1e-12..1.0)
    }

    pub fn normal(&mut self) -> f64 {
        Normal::standard().inverse_cdf(self.uniform())
    }

    /// Returns a run of a cell whose true value is 100 µs.
    pub fn run(&mut self) -> f64 {
        self.runs = (self.runs + 1.0) % DRIFT_ENDS;
        let normal = self.normal();
        let off = match self.world {
            World::Quiet => self.cv * normal,
            World::Drift => self.cv * normal + 0.005 * self.runs,
            World::Memory => {
                self.last = 0.8 * self.last + 0.6 * normal;
                self.cv * self.last
            }
            World::Modes => {
                let mode = match self.uniform() {
                    share if share < 0.57 => 1.0_f64,
                    share if share < 0.72 => 1.08,
                    _ => 1.45,
                };
                self.cv * normal + mode.ln()
            }
            World::WideTails => {
                let t = StudentsT::new(0.0, 1.0, 3.0).expect("a distribution");
                self.cv * t.inverse_cdf(self.uniform())
            }
            World::Skewed => -self.cv * self.uniform().ln(),
        };
        100.0 * off.exp()
    }

    #[allow(dead_code, reason = "not all who draw runs want blocks")]
    /// Returns the blocks of an experiment, in random order within each block; `effect` is the true relative
    /// change.
    pub fn blocks(&mut self, blocks: usize, effect: f64) -> Vec<Block> {
        (0..blocks)
            .map(|_| {
                let (first, second) = (self.run(), self.run());
                let (treatment, baseline) = if !self.in_one_order && self.uniform() < 0.5 {
                    (first, second)
                } else {
                    (second, first)
                };
                let run = |value| Some(Run { value, steady: true });
                Block { treatment: run(treatment * (1.0 + effect)), baseline: run(baseline) }
            })
            .collect()
    }
}
