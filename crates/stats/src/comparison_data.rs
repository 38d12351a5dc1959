//! Paired or unpaired values of two cells, as input of a comparison.

use crate::{
    block::{Block, Run, log_ratios, logs},
    rank_sum::{RankSum, least_runs},
    referenced::{ReferencedRanks, ReferencedRun},
    signed_rank::{Interval, SignedRank, least_blocks},
};

/// Values of the two cells of a comparison, by design.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparisonData {
    /// Paired: both cells in each block, in random order. Disturbances of a block cancel.
    Blocks(Vec<Block>),
    /// Unpaired, without reference. A change of the host between the two measurements is part of the difference. A
    /// claim between two results therefore needs [`ComparisonData::Referenced`].
    Apart {
        /// Runs of the candidate cell.
        treatment: Vec<Run>,
        /// Runs of the baseline cell.
        baseline: Vec<Run>,
    },
    /// Unpaired, with reference values that measure how the host changed. A claim is made only where that change
    /// does not explain the difference.
    Referenced {
        /// Runs of the candidate cell.
        treatment: Vec<ReferencedRun>,
        /// Runs of the baseline cell.
        baseline: Vec<ReferencedRun>,
    },
}

impl ComparisonData {
    /// Returns the runs of the treatment, including those without a usable value.
    pub(crate) fn treatment(&self) -> Vec<Run> {
        match self {
            Self::Blocks(blocks) => blocks.iter().filter_map(|block| block.treatment).collect(),
            Self::Apart { treatment, .. } => treatment.clone(),
            Self::Referenced { treatment, .. } => treatment.iter().map(|run| run.run).collect(),
        }
    }

    /// Returns the runs of the baseline, including those without a usable value.
    pub(crate) fn baseline(&self) -> Vec<Run> {
        match self {
            Self::Blocks(blocks) => blocks.iter().filter_map(|block| block.baseline).collect(),
            Self::Apart { baseline, .. } => baseline.clone(),
            Self::Referenced { baseline, .. } => baseline.iter().map(|run| run.run).collect(),
        }
    }

    pub(crate) fn ranks(&self) -> Option<Ranks> {
        match self {
            Self::Blocks(blocks) => SignedRank::new(&log_ratios(blocks)).map(Ranks::Blocks),
            Self::Apart { treatment, baseline } => {
                RankSum::new(&logs(treatment), &logs(baseline)).map(Ranks::Apart)
            }
            Self::Referenced { treatment, baseline } => {
                ReferencedRanks::new(treatment, baseline).map(Ranks::Referenced)
            }
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
                let (treated, based) = (logs(treatment).len(), logs(baseline).len());
                (treated.min(based), treatment.len() - treated + baseline.len() - based)
            }
            Self::Referenced { treatment, baseline } => {
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
            Self::Apart { .. } | Self::Referenced { .. } => {
                self.treatment().iter().chain(&self.baseline()).filter(|run| !run.steady).count()
            }
        }
    }

    /// Returns the minimum number of blocks, or of runs on each side, for a claim of this level.
    pub(crate) fn least(&self, level: f64) -> usize {
        match self {
            Self::Blocks(_) => least_blocks(level),
            Self::Apart { .. } | Self::Referenced { .. } => least_runs(level),
        }
    }
}

/// Ranks of any design.
pub(crate) enum Ranks {
    Blocks(SignedRank),
    Apart(RankSum),
    Referenced(ReferencedRanks),
}

impl Ranks {
    pub(crate) fn estimate(&self) -> f64 {
        match self {
            Self::Blocks(ranks) => ranks.estimate(),
            Self::Apart(ranks) => ranks.estimate(),
            Self::Referenced(ranks) => ranks.estimate(),
        }
    }

    pub(crate) fn interval(&self, level: f64) -> Option<Interval> {
        match self {
            Self::Blocks(ranks) => ranks.interval(level),
            Self::Apart(ranks) => ranks.interval(level),
            Self::Referenced(ranks) => ranks.interval(level),
        }
    }

    pub(crate) fn p_greater(&self, at: f64) -> f64 {
        match self {
            Self::Blocks(ranks) => ranks.p_greater(at),
            Self::Apart(ranks) => ranks.p_greater(at),
            Self::Referenced(ranks) => ranks.p_greater(at),
        }
    }

    pub(crate) fn p_less(&self, at: f64) -> f64 {
        match self {
            Self::Blocks(ranks) => ranks.p_less(at),
            Self::Apart(ranks) => ranks.p_less(at),
            Self::Referenced(ranks) => ranks.p_less(at),
        }
    }

    /// Returns the two-sided p-value: twice the smaller of the one-sided ones, at most 1.
    pub(crate) fn p_differs(&self, at: f64) -> f64 {
        (2.0 * self.p_greater(at).min(self.p_less(at))).min(1.0)
    }
}
