//! An experiment as meant: cells, design and limits, and the order of its runs.

use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Factors;

/// The smallest sample: the 16-byte header alone.
pub const MIN_SIZE_BYTES: u64 = 16;

/// What a run takes beside its warm-up and its measured time: processes, discovery and collection, as seen on a host of two
/// cores over loopback. An estimate, before anything is known about this host.
pub const RUN_OVERHEAD_NS: u64 = 400_000_000;

/// An experiment as meant. It decides everything about its runs; nothing is looked up later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Its name: `characterize`, or that of a file or recipe.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// Every combination of factors that is measured.
    pub cells: Vec<Cell>,
    /// How often, how long, in which order.
    pub design: Design,
    /// How long each phase may take at most.
    pub limits: Limits,
    /// What the planner changed or left out, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One combination of factors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Unique within the experiment; letters, digits, `-`, `/` and `.`.
    pub id: String,
    /// The factors.
    pub factors: Factors,
}

/// How often, how long, in which order, under which conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Runs of each cell: passes over all cells, each in random order. With `precision` the most that may be made.
    pub blocks: u32,
    /// Seed of that order and of the payload.
    pub seed: u64,
    /// Time before measuring, with the same traffic.
    pub warm_up_ns: u64,
    /// Time of measuring.
    pub measure_ns: u64,
    /// Windows that the measured time is cut into, each with histograms of its own.
    pub windows: u32,
    /// Every byte of one in so many samples is checked at the reader; of the others the header.
    pub check_every: u32,
    /// Which cores the two ends run on.
    pub pin: Pin,
    /// Whether a spinner of the lowest priority keeps each core from idling.
    pub keep_awake: bool,
    /// Ids of the cells that others are compared with. Each of them is measured twice in every block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<String>,
    /// What to reach before the last block; absent where the number of blocks is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// What all runs together may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
}

/// The precision that is wanted of every comparison with a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precision {
    /// Half the width of the 95 % interval of a ratio, in percent.
    pub half_width_pct: f64,
    /// Blocks before the first judgement.
    pub pilot_blocks: u32,
}

/// Which cores the agents of a run may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// The scheduler decides.
    None,
    /// Writer (or pinger) on the first of these, reader (or ponger) on the second.
    Cores(Vec<u32>, Vec<u32>),
}

/// Time limits of the phases. A phase that takes longer fails the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// From spawn to hello.
    pub hello_ns: u64,
    /// Opening the entities.
    pub configure_ns: u64,
    /// Until both ends are matched.
    pub match_ns: u64,
    /// What a phase of traffic may take beyond its planned time.
    pub grace_ns: u64,
    /// From the last write until the reader gives up waiting.
    pub drain_ns: u64,
    /// Handing over what was recorded.
    pub report_ns: u64,
    /// From `exit` until the process is killed.
    pub exit_ns: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            hello_ns: 10 * SECOND,
            configure_ns: 20 * SECOND,
            match_ns: 10 * SECOND,
            grace_ns: 10 * SECOND,
            drain_ns: 5 * SECOND,
            report_ns: 30 * SECOND,
            exit_ns: 5 * SECOND,
        }
    }
}

/// One run of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledRun {
    /// Its number, from 1, in the order of execution.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    /// Index into [`Experiment::cells`].
    pub cell: usize,
    /// Whether it is the second run of a baseline cell in its block.
    pub twin: bool,
}

impl Experiment {
    /// The runs in order: randomised complete blocks, each baseline cell twice in each of them; the same for the same seed.
    #[must_use]
    pub fn schedule(&self) -> Vec<ScheduledRun> {
        let mut random = ChaCha8Rng::seed_from_u64(self.design.seed);
        let mut runs = Vec::with_capacity(self.runs());
        for block in 1..=self.design.blocks {
            let twins = (0..self.cells.len()).filter(|&cell| self.is_baseline(&self.cells[cell].id));
            let mut order: Vec<(usize, bool)> = (0..self.cells.len())
                .map(|cell| (cell, false))
                .chain(twins.map(|cell| (cell, true)))
                .collect();
            order.shuffle(&mut random);
            for (cell, twin) in order {
                runs.push(ScheduledRun { number: runs.len() as u32 + 1, block, cell, twin });
            }
        }
        runs
    }

    /// Whether that cell is measured twice in each block.
    #[must_use]
    pub fn is_baseline(&self, cell: &str) -> bool {
        self.design.baseline.iter().any(|id| id == cell)
    }

    /// How many runs are planned of that cell.
    #[must_use]
    pub fn runs_of(&self, cell: &str) -> usize {
        self.design.blocks as usize * if self.is_baseline(cell) { 2 } else { 1 }
    }

    /// How many runs a block has.
    #[must_use]
    pub const fn runs_per_block(&self) -> usize {
        self.cells.len() + self.design.baseline.len()
    }

    /// How many runs are planned.
    #[must_use]
    pub const fn runs(&self) -> usize {
        self.runs_per_block() * self.design.blocks as usize
    }

    /// What all runs will take, about.
    #[must_use]
    pub fn expected_ns(&self) -> u64 {
        self.design.expected_run_ns().saturating_mul(self.runs() as u64)
    }
}

impl Design {
    /// What a run will take, about: its planned times, and [`RUN_OVERHEAD_NS`].
    #[must_use]
    pub const fn expected_run_ns(&self) -> u64 {
        self.warm_up_ns.saturating_add(self.measure_ns).saturating_add(RUN_OVERHEAD_NS)
    }
}

/// Whether a driver is given as a file rather than by name.
#[must_use]
pub fn is_driver_path(driver: &str) -> bool {
    driver.contains('/') || driver.ends_with(".so")
}
