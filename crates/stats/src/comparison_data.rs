//! Paired or unpaired values of two cells, as input of a comparison.

use crate::{
    block::{Block, log_ratios},
    rank_sum::least_runs,
    ranks::{Interval, Nulls, Ranks},
    referenced::{self, ReferencedRun},
    signed_rank::least_blocks,
};

/// Values of the two cells of a comparison, by design.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparisonData {
    /// Paired: both cells in each block, in random order. Disturbances of a block cancel.
    Blocks(Vec<Block>),
    /// Unpaired. Reference values measure how the host changed, and a claim is made only where that change does not
    /// explain the difference. Without them, a change of the host between the two measurements is part of the
    /// difference: a claim between two results needs them.
    Apart {
        /// Runs of the candidate cell.
        treatment: Vec<ReferencedRun>,
        /// Runs of the baseline cell.
        baseline: Vec<ReferencedRun>,
    },
}

impl ComparisonData {
    pub(crate) fn ranks(&self) -> Option<Ranks> {
        self.ranks_with(&Nulls::default())
    }

    /// Returns the ranks, with distributions that a family shares.
    pub(crate) fn ranks_with(&self, nulls: &Nulls) -> Option<Ranks> {
        match self {
            Self::Blocks(blocks) => Ranks::of_pairs(&log_ratios(blocks), nulls),
            Self::Apart { treatment, baseline } => referenced::ranks(treatment, baseline, nulls),
        }
    }

    /// Returns the relative change (0.05 for 5 % more) and the interval that a claim of this level rests on; `None`
    /// with too few blocks or runs for such a claim.
    #[must_use]
    pub fn change(&self, level: f64) -> Option<(f64, Interval)> {
        let ranks = self.ranks()?;
        Some((ranks.estimate().exp_m1(), ranks.interval(level)?.map(f64::exp_m1)))
    }

    /// Returns the number of complete pairs, or of usable runs of the smaller side, and the number of pairs or runs
    /// without a usable value.
    #[must_use]
    pub fn complete(&self) -> (usize, usize) {
        match self {
            Self::Blocks(blocks) => {
                let complete = log_ratios(blocks).len();
                (complete, blocks.len() - complete)
            }
            Self::Apart { treatment, baseline } => {
                let usable = |runs: &[ReferencedRun]| runs.iter().filter(|run| run.is_usable()).count();
                let (treated, based) = (usable(treatment), usable(baseline));
                (treated.min(based), treatment.len() - treated + baseline.len() - based)
            }
        }
    }

    /// Returns the number of blocks, or runs, with a run that has no steady state.
    pub(crate) fn unsteady(&self) -> usize {
        match self {
            Self::Blocks(blocks) => {
                let unsteady = |block: &&Block| {
                    [block.treatment, block.baseline].iter().flatten().any(|run| !run.steady)
                };
                blocks.iter().filter(unsteady).count()
            }
            Self::Apart { treatment, baseline } => {
                treatment.iter().chain(baseline).filter(|run| !run.run.steady).count()
            }
        }
    }

    /// Returns the minimum number of blocks, or of runs on each side, for a claim of this level.
    pub(crate) fn least(&self, level: f64) -> usize {
        match self {
            Self::Blocks(_) => least_blocks(level),
            Self::Apart { .. } => least_runs(level),
        }
    }
}
