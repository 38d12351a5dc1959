//! Shift between two unpaired groups of runs, with exact tests: Hodges-Lehmann estimate and Wilcoxon rank-sum
//! (Mann-Whitney) test.
//!
//! The median of all differences between a value of one group and a value of the other is the Hodges-Lehmann
//! estimate. The number of differences above a point is the Mann-Whitney statistic for that point. One sorted list
//! therefore gives estimate, tests and interval, which never contradict each other, as with
//! [`SignedRank`](crate::SignedRank).
//!
//! Assumptions: values are independent, and one group is a shifted version of the other. Other changes between the
//! two groups are not removed, because their runs are not in random order within common blocks.
//!
//! Ties count against the claim, on either side; differences closer than 1e-12 are tied.
//!
//! Sources: Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 3rd edition, 2014, sections 4.1 to
//! 4.3; H. B. Mann and D. R. Whitney, *On a Test of Whether one of Two Random Variables is Stochastically Larger
//! than the Other*, Annals of Mathematical Statistics 18, 1947.

use crate::{
    signed_rank::{Interval, ROUNDING, TIED},
    spread::median,
};

/// Null distribution of the Mann-Whitney statistic: `P(U <= u)` for each `u`.
#[derive(Clone, Debug)]
pub(crate) struct Null(Vec<f64>);

impl Null {
    /// Creates the distribution for groups of these sizes by the recurrence of Mann and Whitney: the largest value
    /// belongs to the first group with probability `m / (m + n)`, and then exceeds all values of the second.
    pub(crate) fn new(m: usize, n: usize) -> Self {
        // probabilities[j]: for i values of the first group and j of the second, i being the current pass
        let mut passes: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
        for i in 1..=m {
            let mut next = vec![vec![1.0]];
            for j in 1..=n {
                let first = i as f64 / (i + j) as f64;
                let mut probability = vec![0.0; i * j + 1];
                for (u, p) in passes[j].iter().enumerate() {
                    probability[u + j] += first * p;
                }
                for (u, p) in next[j - 1].iter().enumerate() {
                    probability[u] += (1.0 - first) * p;
                }
                next.push(probability);
            }
            passes = next;
        }
        let mut below = 0.0;
        let cumulated = passes[n].iter().map(|p| {
            below += p;
            f64::min(below, 1.0)
        });
        Self(cumulated.collect())
    }

    /// Returns `P(U <= u)`.
    pub(crate) fn at_most(&self, u: usize) -> f64 {
        self.0[u.min(self.0.len() - 1)]
    }

    /// Returns the largest `c` with `P(U <= c) <= tail`.
    pub(crate) fn critical(&self, tail: f64) -> Option<usize> {
        self.0.partition_point(|below| *below <= tail + ROUNDING).checked_sub(1)
    }
}

/// Returns the minimum number of runs on each side with which a two-sided test at `1 - level` can reject: 4 for 95
/// %, 7 if 40 comparisons share the 5 %.
///
/// # Panics
/// Panics if `level` is not between 0 and 1, both exclusive.
#[must_use]
pub fn least_runs(level: f64) -> usize {
    assert!(level > 0.0 && level < 1.0, "{level} is not a confidence level");
    let mut runs = 1;
    // the most extreme outcome, all of one group above all of the other, is one of `orders` orders
    let mut orders = 2.0;
    while 2.0 / orders > 1.0 - level + ROUNDING {
        runs += 1;
        orders *= 2.0 * (2 * runs - 1) as f64 / runs as f64;
    }
    runs
}

/// Returns the sorted differences between each value of one group and each of the other.
fn differences(treatment: &[f64], baseline: &[f64]) -> Vec<f64> {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    assert!(finite(treatment) && finite(baseline), "there is no middle of {treatment:?} or {baseline:?}");
    let mut differences: Vec<f64> =
        treatment.iter().flat_map(|after| baseline.iter().map(move |before| after - before)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    differences
}

/// Ranks of two unpaired groups of values, for estimate, interval and tests of the shift between them.
#[derive(Clone, Debug)]
pub struct RankSum {
    runs: (usize, usize),
    differences: Vec<f64>,
    null: Null,
}

impl RankSum {
    /// Creates the ranks; `None` if one of the groups is empty.
    ///
    /// # Panics
    /// Panics if a value is not finite.
    #[must_use]
    pub fn new(treatment: &[f64], baseline: &[f64]) -> Option<Self> {
        let differences = differences(treatment, baseline);
        (!differences.is_empty()).then(|| Self {
            runs: (treatment.len(), baseline.len()),
            differences,
            null: Null::new(treatment.len(), baseline.len()),
        })
    }

    /// Creates the ranks of other values of groups of the same sizes.
    pub(crate) fn of_others(&self, treatment: &[f64], baseline: &[f64]) -> Self {
        assert_eq!((treatment.len(), baseline.len()), self.runs, "the distribution is of other sizes");
        Self { runs: self.runs, differences: differences(treatment, baseline), null: self.null.clone() }
    }

    /// Returns the number of values of treatment and baseline.
    #[must_use]
    pub const fn runs(&self) -> (usize, usize) {
        self.runs
    }

    /// Returns the Hodges-Lehmann estimate.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        median(&self.differences).expect("there are values on both sides")
    }

    /// Returns the interval of at least this level; `None` with too few values: see [`least_runs`].
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let c = self.null.critical((1.0 - level) / 2.0)?;
        let (low, high) = (self.differences[c], self.differences[self.differences.len() - 1 - c]);
        Some(Interval { low, high, level: 1.0 - 2.0 * self.null.at_most(c) })
    }

    /// Returns the one-sided p-value of "shifted by at most `at`"; the alternative is a larger shift.
    #[must_use]
    pub fn p_greater(&self, at: f64) -> f64 {
        self.null.at_most(self.differences.partition_point(|difference| *difference <= at + TIED))
    }

    /// Returns the one-sided p-value of "shifted by at least `at`"; the alternative is a smaller shift.
    #[must_use]
    pub fn p_less(&self, at: f64) -> f64 {
        let below = self.differences.partition_point(|difference| *difference < at - TIED);
        self.null.at_most(self.differences.len() - below)
    }
}

#[cfg(test)]
#[path = "rank_sum_tests.rs"]
mod tests;
