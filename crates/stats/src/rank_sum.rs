//! Shift between two unpaired groups of runs, with exact tests: Hodges-Lehmann estimate and Wilcoxon rank-sum
//! (Mann-Whitney) test.
//!
//! The median of all differences between a value of one group and a value of the other is the Hodges-Lehmann
//! estimate. The number of differences above a point is the Mann-Whitney statistic for that point.
//!
//! Assumptions: values are independent, and one group is a shifted version of the other. Other changes between the
//! two groups are not removed, because their runs are not in random order within common blocks.
//!
//! Sources: Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 3rd edition, 2014, sections 4.1 to
//! 4.3; H. B. Mann and D. R. Whitney, *On a Test of Whether one of Two Random Variables is Stochastically Larger
//! than the Other*, Annals of Mathematical Statistics 18, 1947.

use crate::null_distribution::{Null, ROUNDING};

/// Returns the distribution for groups of these sizes by the recurrence of Mann and Whitney: the largest value
/// belongs to the first group with probability `m / (m + n)`, and then exceeds all values of the second.
pub(crate) fn null(m: usize, n: usize) -> Null {
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
    Null::new(passes.swap_remove(n))
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

/// Returns the differences between each value of one group and each of the other.
pub(crate) fn differences(treatment: &[f64], baseline: &[f64]) -> Vec<f64> {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    assert!(finite(treatment) && finite(baseline), "there is no middle of {treatment:?} or {baseline:?}");
    treatment.iter().flat_map(|after| baseline.iter().map(move |before| after - before)).collect()
}

#[cfg(test)]
#[path = "rank_sum_tests.rs"]
mod tests;
