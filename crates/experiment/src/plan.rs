//! An experiment as meant: cells, design and limits, and the order of its runs.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Beside, Factors, Flow, Limits, Search, Variants, Workload, variables};

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
    /// How the highest rates that are sustained are searched for, where any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The two variants, where two are measured in alternating blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<Variants>,
    /// What the planner changed or left out, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One combination of factors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Unique within the experiment; letters, digits, `-`, `/`, `.`, `@` and `+`.
    pub id: String,
    /// The factors.
    pub factors: Factors,
}

/// How often, how long, in which order, under which conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Runs of each cell: passes over all cells, each in random order. With `precision` the most that may be made.
    pub blocks: u32,
    /// Seed of that order, and of the seeds of the runs.
    pub seed: u64,
    /// Time before measuring, with the same traffic.
    pub warm_up_ns: u64,
    /// Time of measuring.
    pub measure_ns: u64,
    /// Windows that the measured time is cut into, each with histograms of its own.
    pub windows: u32,
    /// Every byte of one in so many samples is checked at the reader; of the others the header.
    pub check_every: u32,
    /// In streams of samples every so manyth one is sent back, for round trips under load; absent: none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_every: Option<u32>,
    /// Which cores the two ends run on.
    pub pin: Pin,
    /// Whether a spinner of the lowest priority keeps each core from idling.
    pub keep_awake: bool,
    /// Whether each block measures a reference, a bare UDP socket, before and after its runs.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub reference: bool,
    /// Of the workload `paced`: whether the writer spins for the last part of a wait; else it only sleeps.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub spin: bool,
    /// Ids of the cells that others are compared with. Each of them is measured twice in every block; with `duet` beside
    /// itself, and beside each cell that is compared with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<String>,
    /// Whether each run is made at the same time as one of its baseline. Then only the ratio of the two counts: absolute
    /// figures are under duet interference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duet: bool,
    /// Whether a block that was disturbed by noise is made once more at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat_noisy: bool,
    /// What to reach before the last block; absent where the number of blocks is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// What all runs together may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
}

/// Of a field that is left out where it says nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_true(value: &bool) -> bool {
    *value
}

const fn yes() -> bool {
    true
}

/// The precision that is wanted of every comparison with a baseline; without a baseline, of every cell's own level.
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

/// What random numbers are for.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Block = 1,
    Padding = 2,
    Half = 3,
    Maximum = 4,
}

/// Whether cells agree in a factor, for each that can be written. What follows from these is none.
pub(crate) const SAME: &[fn(&Factors, &Factors) -> bool] = &[
    |a, b| a.workload == b.workload,
    |a, b| a.driver == b.driver,
    |a, b| a.transport == b.transport,
    |a, b| a.size_bytes == b.size_bytes,
    |a, b| a.load == b.load,
    // their policies follow from the profile
    |a, b| {
        let written = |factors: &Factors| {
            factors
                .flows
                .iter()
                .cloned()
                .map(|flow| Flow { qos: None, qos_of_ends: None, ..flow })
                .collect::<Vec<_>>()
        };
        written(a) == written(b)
    },
    |a, b| a.batch_bytes == b.batch_bytes && a.batching.is_turbo() == b.batching.is_turbo(),
    |a, b| a.receive == b.receive,
    |a, b| a.queues.send_samples == b.queues.send_samples,
    |a, b| a.queues.receive_samples == b.queues.receive_samples,
    |a, b| a.queues.send_buffer_bytes == b.queues.send_buffer_bytes,
    |a, b| a.queues.receive_buffer_bytes == b.queues.receive_buffer_bytes,
    |a, b| a.queues.receive_group == b.queues.receive_group,
    |a, b| a.queues.polling_delay_ns == b.queues.polling_delay_ns,
    |a, b| a.interface == b.interface,
    |a, b| a.multicast == b.multicast,
    |a, b| a.vendor_defaults == b.vendor_defaults,
    |a, b| a.profile == b.profile,
    |a, b| a.options == b.options,
];

/// One run of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledRun {
    /// Its number, from 1, in the order of execution.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    /// Index into [`Experiment::cells`].
    pub cell: usize,
    /// Whether it is the second run of a baseline cell in its block; with duets, of the cell beside itself.
    pub twin: bool,
    /// The run that is made at the same time, if there is one. The two follow each other.
    pub duet: Option<Beside>,
}

impl Experiment {
    /// The runs in order: randomised complete blocks, each baseline cell twice in each of them, or duets; the same for the
    /// same seed.
    #[must_use]
    pub fn schedule(&self) -> Vec<ScheduledRun> {
        let mut random = ChaCha8Rng::seed_from_u64(self.design.seed);
        let mut runs = Vec::with_capacity(self.runs());
        for block in 1..=self.design.blocks {
            runs.extend(self.one_block(&mut random, block, runs.len() as u32 + 1));
        }
        runs
    }

    /// The runs of a block that is made beyond the schedule, from this number on; the same for the same seed.
    #[must_use]
    pub fn block_again(&self, block: u32, first_run: u32) -> Vec<ScheduledRun> {
        self.one_block(&mut self.stream(Stream::Block, block), block, first_run)
    }

    /// By how many bytes the environment of a run's processes is longer; the same for the same seed. It moves where their
    /// stacks begin, which can decide figures (Mytkowicz et al., *Producing Wrong Data Without Doing Anything Obviously
    /// Wrong*, ASPLOS 2009), by up to a page.
    #[must_use]
    pub fn environment_padding_bytes(&self, run: u32) -> u32 {
        self.stream(Stream::Padding, run).random_range(0..4096)
    }

    /// Random numbers of their own for a block or run.
    pub(crate) fn stream(&self, stream: Stream, number: u32) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.design.seed);
        random.set_stream((stream as u64) << 32 | u64::from(number));
        random
    }

    fn one_block(&self, random: &mut ChaCha8Rng, block: u32, first_run: u32) -> Vec<ScheduledRun> {
        if self.design.duet {
            return self.block_of_duets(random, block, first_run);
        }
        let twins = (0..self.cells.len()).filter(|&cell| self.is_baseline(&self.cells[cell].id));
        let mut order: Vec<(usize, bool)> =
            (0..self.cells.len()).map(|cell| (cell, false)).chain(twins.map(|cell| (cell, true))).collect();
        order.shuffle(random);
        let numbered = order.into_iter().zip(first_run..);
        numbered
            .map(|((cell, twin), number)| ScheduledRun { number, block, cell, twin, duet: None })
            .collect()
    }

    /// Each cell that is compared, and the baseline cell that it is compared with: the one of its workload that agrees with it
    /// in every factor in which the baseline cells differ from each other. A cell that no baseline cell agrees with is not
    /// compared. Of two variants, each cell of B and its counterpart.
    #[must_use]
    pub fn comparisons(&self) -> Vec<(&Cell, &Cell)> {
        if let Some(variants) = &self.variants {
            let of = |id: &String| self.cells.iter().find(|cell| cell.id == *id);
            return self
                .cells
                .iter()
                .filter_map(|cell| Some((cell, of(variants.counterparts.get(&cell.id)?)?)))
                .collect();
        }
        let baseline: Vec<&Cell> = self.cells.iter().filter(|cell| self.is_baseline(&cell.id)).collect();
        let differing: Vec<fn(&Factors, &Factors) -> bool> = SAME
            .iter()
            .filter(|same| baseline.iter().any(|cell| !same(&cell.factors, &baseline[0].factors)))
            .copied()
            .collect();
        // each variable is a factor of its own
        let variables = variables::varied(baseline.iter().map(|cell| &cell.factors.env));
        let agree = |a: &Factors, b: &Factors| {
            differing.iter().all(|same| same(a, b))
                && variables.iter().all(|name| a.env.get(*name) == b.env.get(*name))
        };
        let of = |cell: &Cell| {
            let mut same_workload = baseline.iter().filter(|b| b.factors.workload == cell.factors.workload);
            same_workload.find(|b| agree(&b.factors, &cell.factors)).copied()
        };
        let others = self.cells.iter().filter(|cell| !self.is_baseline(&cell.id));
        others.filter_map(|cell| Some((cell, of(cell)?))).collect()
    }

    /// Whether that cell is measured twice in each block.
    #[must_use]
    pub fn is_baseline(&self, cell: &str) -> bool {
        self.design.baseline.iter().any(|id| id == cell)
    }

    /// How many runs are planned of that cell.
    #[must_use]
    pub fn runs_of(&self, cell: &str) -> usize {
        let in_block = if self.design.duet {
            let sides = self.duets().into_iter().flat_map(|(cell, baseline)| [cell, baseline]);
            sides.filter(|&side| self.cells[side].id == cell).count()
        } else {
            1 + usize::from(self.is_baseline(cell))
        };
        self.design.blocks as usize * in_block
    }

    /// How many runs a block has.
    #[must_use]
    pub fn runs_per_block(&self) -> usize {
        if self.design.duet { 2 * self.duets().len() } else { self.cells.len() + self.design.baseline.len() }
    }

    /// How many runs are planned.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs_per_block() * self.design.blocks as usize
    }

    /// What all runs will take, about, with those that measure maxima.
    #[must_use]
    pub fn expected_ns(&self) -> u64 {
        let times = u64::from(self.design.blocks) + 1;
        let probing = self.between_blocks_ns().saturating_mul(times);
        let blocks = self.expected_block_ns().saturating_mul(u64::from(self.design.blocks));
        blocks.saturating_add(probing).saturating_add(self.expected_maxima_ns())
    }

    /// Duration of the noise probe and the reference together: before the first block and after each.
    #[must_use]
    pub fn between_blocks_ns(&self) -> u64 {
        let runs = self.runs_per_block();
        self.design.probe_ns(runs).saturating_add(self.design.reference_ns(runs))
    }

    /// What the runs of a block will take, about: one that searches makes many trials.
    #[must_use]
    pub fn expected_block_ns(&self) -> u64 {
        let searches = self.searches_per_block();
        let each = self.search.as_ref().map_or(0, |search| {
            search.expected_ns(self.design.warm_up_ns, RUN_OVERHEAD_NS).saturating_mul(searches as u64)
        });
        self.design.expected_runs_ns(self.runs_per_block() - searches).saturating_add(each)
    }

    /// How many runs of a block are searches.
    #[must_use]
    pub fn searches_per_block(&self) -> usize {
        let searching = self.cells.iter().filter(|cell| cell.factors.workload == Workload::Search);
        searching.map(|cell| 1 + usize::from(self.is_baseline(&cell.id))).sum()
    }
}

impl Design {
    /// The seed of a run's own random numbers: its payload, and the times of a random plan. Were they the same in all runs, no
    /// interval over runs would hold the chance of the plan.
    #[must_use]
    pub const fn seed_of_run(&self, run: u32) -> u64 {
        self.seed.rotate_left(24) ^ run as u64
    }

    /// How long a probe for noise takes, before the first and after each block of so many runs: about 5 % of a block, 100 ms to
    /// 2 s.
    #[must_use]
    pub const fn probe_ns(&self, runs_per_block: usize) -> u64 {
        let share = self.expected_runs_ns(runs_per_block) / 20;
        if share < 100_000_000 {
            100_000_000
        } else if share > 2_000_000_000 {
            2_000_000_000
        } else {
            share
        }
    }

    /// Duration of a reference, before the first and after each block of so many runs: about 5 % of a block, 60 ms to 300 ms;
    /// 0 without one.
    #[must_use]
    pub const fn reference_ns(&self, runs_per_block: usize) -> u64 {
        let share = self.expected_runs_ns(runs_per_block) / 20;
        if !self.reference {
            0
        } else if share < 60_000_000 {
            60_000_000
        } else if share > 300_000_000 {
            300_000_000
        } else {
            share
        }
    }

    /// What a run will take, about: its planned times, and [`RUN_OVERHEAD_NS`].
    #[must_use]
    pub const fn expected_run_ns(&self) -> u64 {
        self.warm_up_ns.saturating_add(self.measure_ns).saturating_add(RUN_OVERHEAD_NS)
    }

    /// The same of so many runs: those of a duet take one time together.
    #[must_use]
    pub const fn expected_runs_ns(&self, runs: usize) -> u64 {
        let times = if self.duet { runs.div_ceil(2) } else { runs };
        self.expected_run_ns().saturating_mul(times as u64)
    }
}

/// Whether a driver is given as a file rather than by name.
#[must_use]
pub fn is_driver_path(driver: &str) -> bool {
    driver.contains('/') || driver.ends_with(".so")
}
