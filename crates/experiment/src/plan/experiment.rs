//! Plan of an experiment: cells, design, limits, and the order of its runs.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::{
    factors::{Aspect, Factors, Workload, aspects},
    plan::{
        design::{Design, RUN_OVERHEAD_NS},
        limits::Limits,
        published::Published,
        run_overhead::run_overhead_ns,
        search::Search,
    },
};

/// Plan of an experiment. It determines all of its runs.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name: `characterize`, or the name of the file or recipe.
    pub name: String,
    /// Question that the experiment answers.
    pub question: String,
    /// Cells: all combinations of factors that are measured.
    pub cells: Vec<Cell>,
    /// Number, duration and order of runs.
    pub design: Design,
    /// Maximum duration of each phase of a run.
    pub limits: Limits,
    /// Search for the highest sustained rates, if a cell has the workload `search`.
    pub search: Option<Search>,
    /// The two variants of an interleaved comparison.
    pub variants: Option<Variants>,
    /// Published figures that the measured values are shown beside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// Changes and omissions by the planner, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Cell: one combination of factors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Id, unique within the experiment; letters, digits, `-`, `/`, `.`, `@` and `+`.
    pub id: String,
    /// Factors of the cell.
    pub factors: Factors,
}

/// Purpose of a stream of random numbers.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Block = 1,
    Padding = 2,
    Half = 3,
    Maximum = 4,
}

/// Partner of a run in a duet, and the half of the cores that the run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuetSlot {
    /// Number of the partner run.
    pub partner: u32,
    /// Index into [`Pin::halves`](crate::Pin::halves); the partner has the other one. Swapped in every block.
    pub half: usize,
}

/// Two variants of an experiment. Every cell belongs to one of them, and its id starts with `A/` or `B/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variants {
    /// Command-line arguments of the baseline, A.
    pub a: String,
    /// Command-line arguments of the candidate, B.
    pub b: String,
    /// Ids of the cells of B, each with the id of its counterpart in A.
    pub counterparts: BTreeMap<String, String>,
}

/// Run of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledRun {
    /// Number, from 1, in the order of execution.
    pub number: u32,
    /// Number of its block, from 1.
    pub block: u32,
    /// Index into [`Plan::cells`].
    pub cell: usize,
    /// Whether it is the second run of a baseline cell in its block; with duets, of the cell beside itself.
    pub twin: bool,
    /// The run that is made at the same time, if any. The two are consecutive.
    pub duet: Option<DuetSlot>,
}

impl Plan {
    /// Returns the runs in order: randomized complete blocks with two runs of each baseline cell, or duets. A random order
    /// depends only on the seed.
    #[must_use]
    pub fn schedule(&self) -> Vec<ScheduledRun> {
        let mut random = ChaCha8Rng::seed_from_u64(self.design.seed);
        let mut runs = Vec::with_capacity(self.runs());
        for block in 1..=self.design.blocks {
            runs.extend(self.one_block(&mut random, block, runs.len() as u32 + 1));
        }
        runs
    }

    /// Returns the runs of a block beyond the schedule, numbered from `first_run`. The order depends only on the
    /// seed.
    #[must_use]
    pub fn block_again(&self, block: u32, first_run: u32) -> Vec<ScheduledRun> {
        self.one_block(&mut self.stream(Stream::Block, block), block, first_run)
    }

    /// Returns the padding of the environment of a run's processes, 0 to 4095 bytes; depends only on the seed. It
    /// moves the start of their stacks, which can affect measurements (Mytkowicz et al., *Producing Wrong Data
    /// Without Doing Anything Obviously Wrong*, ASPLOS 2009).
    #[must_use]
    pub fn environment_padding_bytes(&self, run: u32) -> u32 {
        self.stream(Stream::Padding, run).random_range(0..4096)
    }

    /// Returns an independent random number generator for a purpose and a block or run.
    pub(crate) fn stream(&self, stream: Stream, number: u32) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.design.seed);
        random.set_stream((stream as u64) << 32 | u64::from(number));
        random
    }

    fn one_block(&self, random: &mut ChaCha8Rng, block: u32, first_run: u32) -> Vec<ScheduledRun> {
        if self.design.duet {
            return self.block_of_duets(random, block, first_run);
        }
        let has_second_tier = self.design.second_tier.as_ref().is_some_and(|tier| block <= tier.blocks);
        let measured = (0..self.cells.len())
            .filter(|&cell| has_second_tier || !self.is_of_second_tier(&self.cells[cell].id));
        let twins = (0..self.cells.len()).filter(|&cell| self.is_baseline(&self.cells[cell].id));
        let mut order: Vec<(usize, bool)> =
            measured.map(|cell| (cell, false)).chain(twins.map(|cell| (cell, true))).collect();
        self.design.order.arrange(&mut order, random);
        let numbered = order.into_iter().zip(first_run..);
        numbered
            .map(|((cell, twin), number)| ScheduledRun { number, block, cell, twin, duet: None })
            .collect()
    }

    /// Returns each compared cell with its baseline cell: the one of the same workload that agrees with it in every
    /// factor in which the baseline cells differ from each other. A cell without such a baseline cell is not
    /// compared, nor is one of the second tier. With two variants: each cell of B with its counterpart in A.
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
        self.compared(|id| self.is_baseline(id), |id| !self.is_of_second_tier(id))
    }

    /// Returns the selected cells with the one of these baseline cells that each is compared with.
    pub(crate) fn compared(
        &self,
        is_baseline: impl Fn(&str) -> bool,
        is_selected: impl Fn(&str) -> bool,
    ) -> Vec<(&Cell, &Cell)> {
        let baseline: Vec<&Cell> = self.cells.iter().filter(|cell| is_baseline(&cell.id)).collect();
        let fixed: Vec<Aspect<'_>> = aspects(&baseline.iter().map(|cell| &cell.factors))
            .into_iter()
            .filter(|aspect| {
                aspect.is_of_baseline()
                    || baseline.iter().any(|cell| !aspect.same(&cell.factors, &baseline[0].factors))
            })
            .collect();
        let of = |cell: &Cell| {
            let agrees = |b: &&&Cell| fixed.iter().all(|aspect| aspect.same(&b.factors, &cell.factors));
            baseline.iter().find(agrees).copied()
        };
        let others = self.cells.iter().filter(|cell| !is_baseline(&cell.id) && is_selected(&cell.id));
        others.filter_map(|cell| Some((cell, of(cell)?))).collect()
    }

    /// Returns whether a cell is a baseline cell.
    #[must_use]
    pub fn is_baseline(&self, cell: &str) -> bool {
        self.design.baseline.iter().any(|id| id == cell)
    }

    /// Returns the number of planned runs of a cell.
    #[must_use]
    pub fn runs_of(&self, cell: &str) -> usize {
        let in_block = if self.design.duet {
            let sides = self.duets().into_iter().flat_map(|(cell, baseline)| [cell, baseline]);
            sides.filter(|&side| self.cells[side].id == cell).count()
        } else if let Some(tier) = self.design.second_tier.as_ref().filter(|_| self.is_of_second_tier(cell)) {
            return tier.blocks as usize;
        } else {
            1 + usize::from(self.is_baseline(cell))
        };
        self.design.blocks as usize * in_block
    }

    /// Returns the number of runs of a block without the second tier.
    #[must_use]
    pub fn runs_per_block(&self) -> usize {
        if self.design.duet {
            return 2 * self.duets().len();
        }
        let second = self.design.second_tier.as_ref().map_or(0, |tier| tier.cells.len());
        self.cells.len() - second + self.design.baseline.len()
    }

    /// Returns the number of planned runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs_before(self.design.blocks.saturating_add(1))
    }

    /// Returns the estimated duration of all runs in ns, including those that measure maxima.
    #[must_use]
    pub fn expected_ns(&self) -> u64 {
        let times = u64::from(self.design.blocks) + 1;
        let probing = self.between_blocks_ns().saturating_mul(times);
        let blocks = self.expected_block_ns().saturating_mul(u64::from(self.design.blocks));
        let second = self.design.second_tier.as_ref().map_or(0, |tier| {
            let each_ns = self.design.expected_runs_ns(tier.cells.len());
            each_ns.saturating_mul(u64::from(tier.blocks))
        });
        blocks.saturating_add(second).saturating_add(probing).saturating_add(self.expected_max_rates_ns())
    }

    /// Returns the duration of noise probe and reference together, in ns: before the first block and after each.
    #[must_use]
    pub fn between_blocks_ns(&self) -> u64 {
        let runs = self.runs_per_block();
        self.design.probe_ns(runs).saturating_add(self.design.reference_ns(runs))
    }

    /// Returns the estimated duration of the runs of a block in ns, without the second tier. A search is many trials.
    #[must_use]
    pub fn expected_block_ns(&self) -> u64 {
        let beside_a_twin = |cell: &Cell| 1 + u64::from(self.is_baseline(&cell.id));
        // What a run of the cell takes beyond any run; for a search, all of it.
        let own_ns = |cell: &Cell| match &self.search {
            Some(search) if cell.factors.workload == Workload::Search => {
                search.expected_ns(self.design.warm_up_ns, run_overhead_ns(&cell.factors.flows))
            }
            _ => {
                let extended_ns = self.design.of_cell(&cell.factors).measure_ns - self.design.measure_ns;
                extended_ns.saturating_add(run_overhead_ns(&cell.factors.flows) - RUN_OVERHEAD_NS)
            }
        };
        let first_tier = self.cells.iter().filter(|cell| !self.is_of_second_tier(&cell.id));
        let own = first_tier.map(|cell| own_ns(cell).saturating_mul(beside_a_twin(cell)));
        let runs_ns = self.design.expected_runs_ns(self.runs_per_block() - self.searches_per_block());
        own.fold(runs_ns, u64::saturating_add)
    }

    /// Returns the estimated time of a run in ns, besides warm-up and measurement: that of the cell with the longest.
    #[must_use]
    pub fn run_overhead_ns(&self) -> u64 {
        let of_cells = self.cells.iter().map(|cell| run_overhead_ns(&cell.factors.flows));
        of_cells.max().unwrap_or(RUN_OVERHEAD_NS)
    }

    /// Returns the number of searches in a block.
    #[must_use]
    pub fn searches_per_block(&self) -> usize {
        let searching = self.cells.iter().filter(|cell| cell.factors.workload == Workload::Search);
        searching.map(|cell| 1 + usize::from(self.is_baseline(&cell.id))).sum()
    }
}
