//! The figures of two cells as they were measured: in common blocks, or apart.

use crate::{
    Block, Interval, RankSum, ReferencedRun, Run, SignedRank, bca, hodges_lehmann, least_blocks, least_runs,
    log_ratios, referenced::ReferencedRanks, sample_sd,
};

/// What is held against each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Sides {
    /// Both in each block, in drawn order: what disturbs a block cancels.
    Blocks(Vec<Block>),
    /// One after the other. What changed between the two is in the difference, whatever it was.
    Apart {
        /// Runs of the cell that is judged.
        treatment: Vec<Run>,
        /// Runs of the cell that it is held against.
        baseline: Vec<Run>,
    },
    /// One after the other, with figures of a reference that show how the host changed.
    Referenced {
        /// Runs of the cell that is judged.
        treatment: Vec<ReferencedRun>,
        /// Runs of the cell that it is compared with.
        baseline: Vec<ReferencedRun>,
    },
}

impl Sides {
    /// Runs of the treatment, those without a usable figure too.
    pub(crate) fn treatment(&self) -> Vec<Run> {
        match self {
            Self::Blocks(blocks) => blocks.iter().filter_map(|block| block.treatment).collect(),
            Self::Apart { treatment, .. } => treatment.clone(),
            Self::Referenced { treatment, .. } => treatment.iter().map(|run| run.run).collect(),
        }
    }

    /// Runs of the baseline.
    pub(crate) fn baseline(&self) -> Vec<Run> {
        match self {
            Self::Blocks(blocks) => blocks.iter().filter_map(|block| block.baseline).collect(),
            Self::Apart { baseline, .. } => baseline.clone(),
            Self::Referenced { baseline, .. } => baseline.iter().map(|run| run.run).collect(),
        }
    }

    pub(crate) fn ranks(&self) -> Option<Ranks> {
        match self {
            Self::Blocks(blocks) => SignedRank::of(&log_ratios(blocks)).map(Ranks::Blocks),
            Self::Apart { treatment, baseline } => {
                RankSum::of(&logs(treatment), &logs(baseline)).map(Ranks::Apart)
            }
            Self::Referenced { treatment, baseline } => {
                ReferencedRanks::new(treatment, baseline).map(Ranks::Referenced)
            }
        }
    }

    /// The relative change, 0.05 for 5 % more, and the interval of it that a claim of this level rests on; none where there are
    /// too few for such a claim.
    #[must_use]
    pub fn change(&self, level: f64) -> Option<(f64, Interval)> {
        let ranks = self.ranks()?;
        Some((ranks.estimate().exp_m1(), ranks.interval(level)?.map(f64::exp_m1)))
    }

    /// How many it rests on: pairs, or runs of the smaller side; and how many of them miss a figure.
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

    /// Blocks, or runs, with a run that had no steady state.
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

    /// From how many blocks on, or runs on each side, there may be a claim of this level.
    pub(crate) fn least(&self, level: f64) -> usize {
        match self {
            Self::Blocks(_) => least_blocks(level),
            Self::Apart { .. } | Self::Referenced { .. } => least_runs(level),
        }
    }

    /// The bootstrap over blocks; none where there are no blocks.
    pub(crate) fn bootstrap(&self, level: f64, resamples: usize, seed: u64) -> Option<Interval> {
        let Self::Blocks(blocks) = self else { return None };
        let middle = |values: &[f64]| hodges_lehmann(values).unwrap_or(0.0);
        bca(&log_ratios(blocks), middle, level, resamples, seed)
    }
}

/// The logarithms of the figures that have one.
pub(crate) fn logs(runs: &[Run]) -> Vec<f64> {
    runs.iter().filter_map(Run::usable).map(f64::ln).collect()
}

/// The standard deviation within two groups.
pub(crate) fn pooled_sd(treatment: &[f64], baseline: &[f64]) -> Option<f64> {
    let freedom = |values: &[f64]| values.len().saturating_sub(1) as f64;
    let squares = |values: &[f64]| Some(sample_sd(values)?.powi(2) * freedom(values));
    let all = squares(treatment)? + squares(baseline)?;
    Some((all / (freedom(treatment) + freedom(baseline))).sqrt())
}

/// The ranks of either design.
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

    /// Twice the smaller of the one-sided ones.
    pub(crate) fn p_differs(&self, at: f64) -> f64 {
        (2.0 * self.p_greater(at).min(self.p_less(at))).min(1.0)
    }
}
