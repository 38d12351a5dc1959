//! How far two groups of runs lie apart that are not paired, and how sure that is: Hodges-Lehmann and Wilcoxon (Mann and
//! Whitney), exact.
//!
//! All differences of a value of one group and a value of the other: their median is the estimate of Hodges and Lehmann,
//! and how many of them lie above a point is the statistic of Mann and Whitney for that point. So, as with
//! [`SignedRank`](crate::SignedRank), one sorted list gives estimate, tests and interval, which never contradict each other.
//!
//! What is assumed: values are independent, and one group is the other one moved. Nothing here removes what changed between
//! the two groups beside what is asked for: that the order of all runs was drawn, as within a block, is just what is missing.
//!
//! Ties count against the claim, on either side; differences closer than 1e-12 are tied.
//!
//! Sources: Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 3rd edition, 2014, sections 4.1 to 4.3; H. B.
//! Mann and D. R. Whitney, *On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other*, Annals
//! of Mathematical Statistics 18, 1947.

use crate::{
    Interval, median,
    signed_rank::{ROUNDING, TIED},
};

/// The distribution of the statistic of Mann and Whitney when nothing differs: `P(U <= u)` for each `u`.
#[derive(Clone, Debug)]
pub(crate) struct Null(Vec<f64>);

impl Null {
    /// Of groups of these sizes. Each value that is last in order is of the first group with probability `m / (m + n)`,
    /// and then lies above all of the second (Mann and Whitney's recurrence).
    pub(crate) fn of(m: usize, n: usize) -> Self {
        // probabilities[j]: of i values against j, for the i of this pass
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

    /// `P(U <= u)`.
    pub(crate) fn at_most(&self, u: usize) -> f64 {
        self.0[u.min(self.0.len() - 1)]
    }

    /// The largest `c` with `P(U <= c) <= tail`.
    pub(crate) fn critical(&self, tail: f64) -> Option<usize> {
        self.0.partition_point(|below| *below <= tail + ROUNDING).checked_sub(1)
    }
}

/// The least number of runs on each side with which a two-sided test at `1 - level` can reject: 4 for 95 %, 7 when 40
/// comparisons share the 5 %.
///
/// # Panics
/// If `level` is not between 0 and 1, both exclusive.
#[must_use]
pub fn least_runs(level: f64) -> usize {
    assert!(level > 0.0 && level < 1.0, "{level} is no level of confidence");
    let mut runs = 1;
    // all of one group above all of the other: one of so many orders
    let mut orders = 2.0;
    while 2.0 / orders > 1.0 - level + ROUNDING {
        runs += 1;
        orders *= 2.0 * (2 * runs - 1) as f64 / runs as f64;
    }
    runs
}

/// Sorted differences of each value of one group and each of the other.
fn differences(treatment: &[f64], baseline: &[f64]) -> Vec<f64> {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    assert!(finite(treatment) && finite(baseline), "there is no middle of {treatment:?} or {baseline:?}");
    let mut differences: Vec<f64> =
        treatment.iter().flat_map(|after| baseline.iter().map(move |before| after - before)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    differences
}

/// Two groups of values, and what their ranks say about how far one lies from the other.
#[derive(Clone, Debug)]
pub struct RankSum {
    runs: (usize, usize),
    differences: Vec<f64>,
    null: Null,
}

impl RankSum {
    /// How far `treatment` lies from `baseline`; none where one of them is empty.
    ///
    /// # Panics
    /// If a value is not finite.
    #[must_use]
    pub fn of(treatment: &[f64], baseline: &[f64]) -> Option<Self> {
        let differences = differences(treatment, baseline);
        (!differences.is_empty()).then(|| Self {
            runs: (treatment.len(), baseline.len()),
            differences,
            null: Null::of(treatment.len(), baseline.len()),
        })
    }

    /// Creates the ranks of other values of groups of the same sizes.
    pub(crate) fn of_others(&self, treatment: &[f64], baseline: &[f64]) -> Self {
        assert_eq!((treatment.len(), baseline.len()), self.runs, "the distribution is of other sizes");
        Self { runs: self.runs, differences: differences(treatment, baseline), null: self.null.clone() }
    }

    /// How many values, of treatment and baseline.
    #[must_use]
    pub const fn runs(&self) -> (usize, usize) {
        self.runs
    }

    /// The estimate of Hodges and Lehmann.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        median(&self.differences).expect("there are values on both sides")
    }

    /// The interval of at least this level; none with too few values: see [`least_runs`].
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let c = self.null.critical((1.0 - level) / 2.0)?;
        let (low, high) = (self.differences[c], self.differences[self.differences.len() - 1 - c]);
        Some(Interval { low, high, level: 1.0 - 2.0 * self.null.at_most(c) })
    }

    /// p-value of "moved by `at`" against "by more".
    #[must_use]
    pub fn p_greater(&self, at: f64) -> f64 {
        self.null.at_most(self.differences.partition_point(|difference| *difference <= at + TIED))
    }

    /// p-value of "moved by `at`" against "by less".
    #[must_use]
    pub fn p_less(&self, at: f64) -> f64 {
        let below = self.differences.partition_point(|difference| *difference < at - TIED);
        self.null.at_most(self.differences.len() - below)
    }
}

#[cfg(test)]
#[path = "rank_sum_tests.rs"]
mod tests;
