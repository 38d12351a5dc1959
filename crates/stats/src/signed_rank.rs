//! Location of paired differences, with exact tests: Hodges-Lehmann estimate and Wilcoxon signed-rank test.
//!
//! The Walsh averages are the means of all pairs of values, including each value with itself: `n (n + 1) / 2` of
//! them. Their median is the Hodges-Lehmann estimate. The number of them above a point is Wilcoxon's signed-rank
//! statistic for that point (Tukey). One sorted list therefore gives estimate, tests and interval, which never
//! contradict each other: a point lies outside of the closed interval exactly if the test at that point rejects at
//! the interval's level.
//!
//! Assumptions: the values come from independent blocks and are symmetric around the point. In randomised blocks
//! the order of the two runs is random. Without an effect each log ratio is therefore as likely as its negative,
//! whatever drifts.
//!
//! Ties and zeros: a Walsh average on the tested point counts against the claim, on either side, as if ties were
//! broken in the worst way. The level is never exceeded, but with many ties the test is conservative. Values closer
//! than 1e-12 are tied.
//!
//! Sources: Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 3rd edition, 2014, sections 3.1 to
//! 3.3; J. L. Hodges and E. L. Lehmann, *Estimates of Location Based on Rank Tests*, Annals of Mathematical
//! Statistics 34, 1963; F. Wilcoxon, *Individual Comparisons by Ranking Methods*, Biometrics Bulletin 1, 1945.

use crate::spread::median;

/// Maximum distance at which a Walsh average and a tested point are tied.
pub(crate) const TIED: f64 = 1e-12;
/// Tolerance for levels given as decimal fractions.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound, included.
    pub low: f64,
    /// Upper bound, included.
    pub high: f64,
    /// Confidence level. Of a rank interval: at least the requested level, because ranks are discrete.
    pub level: f64,
}

impl Interval {
    /// Returns the interval with both bounds mapped by an increasing function.
    #[must_use]
    pub fn map(self, grows: impl Fn(f64) -> f64) -> Self {
        Self { low: grows(self.low), high: grows(self.high), level: self.level }
    }

    /// Returns half of its width.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Returns whether it contains `value`.
    #[must_use]
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Null distribution of the signed-rank statistic: `P(W <= w)` for each `w`.
#[derive(Clone, Debug)]
pub(crate) struct Null(Vec<f64>);

impl Null {
    /// Creates the distribution for `n` values. Each rank is in the sum with probability 1/2: one pass over all
    /// sums per rank.
    pub(crate) fn new(n: usize) -> Self {
        let mut probability = vec![0.0; n * (n + 1) / 2 + 1];
        probability[0] = 1.0;
        for rank in 1..=n {
            for sum in (0..=rank * (rank + 1) / 2).rev() {
                let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
                probability[sum] = f64::midpoint(probability[sum], with);
            }
        }
        let mut below = 0.0;
        for value in &mut probability {
            below += *value;
            *value = f64::min(below, 1.0);
        }
        Self(probability)
    }

    /// Returns `P(W <= sum)`.
    pub(crate) fn at_most(&self, sum: usize) -> f64 {
        self.0[sum.min(self.0.len() - 1)]
    }

    /// Returns the largest `c` with `P(W <= c) <= tail`.
    pub(crate) fn critical(&self, tail: f64) -> Option<usize> {
        self.0.partition_point(|below| *below <= tail + ROUNDING).checked_sub(1)
    }
}

/// Returns the minimum number of blocks with which a two-sided test at `1 - level` can reject, and an interval of
/// this level exists.
///
/// The most extreme outcome, all values on one side, has probability `2 / 2^n`: 6 blocks for 95 %, 11 if 40
/// comparisons share the 5 %.
///
/// # Panics
/// Panics if `level` is not between 0 and 1, both exclusive.
#[must_use]
pub fn least_blocks(level: f64) -> usize {
    assert!(level > 0.0 && level < 1.0, "{level} is not a confidence level");
    let mut n = 1;
    while 2.0_f64.powi(1 - n) > 1.0 - level + ROUNDING {
        n += 1;
    }
    usize::try_from(n).expect("it counts up from 1")
}

/// Ranks of values, one per block, for estimate, interval and tests of their location.
#[derive(Clone, Debug)]
pub struct SignedRank {
    n: usize,
    walsh: Vec<f64>,
    null: Null,
}

impl SignedRank {
    /// Creates the ranks; `None` without values. Time and memory grow with the square of the number of values.
    ///
    /// # Panics
    /// Panics if a value is not finite.
    #[must_use]
    pub fn new(values: &[f64]) -> Option<Self> {
        assert!(values.iter().all(|value| value.is_finite()), "there is no middle of {values:?}");
        let walsh = walsh_averages(values);
        (!values.is_empty()).then(|| Self { n: values.len(), walsh, null: Null::new(values.len()) })
    }

    /// Returns the number of values.
    #[must_use]
    pub const fn n(&self) -> usize {
        self.n
    }

    /// Returns the Hodges-Lehmann estimate.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        median(&self.walsh).expect("a value is its own Walsh average")
    }

    /// Returns the interval of at least this level; `None` with too few values: see [`least_blocks`].
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let c = self.null.critical((1.0 - level) / 2.0)?;
        let (low, high) = (self.walsh[c], self.walsh[self.walsh.len() - 1 - c]);
        Some(Interval { low, high, level: 1.0 - 2.0 * self.null.at_most(c) })
    }

    /// Returns the one-sided p-value of "the location is at most `at`"; the alternative is a greater location.
    #[must_use]
    pub fn p_greater(&self, at: f64) -> f64 {
        self.null.at_most(self.walsh.partition_point(|average| *average <= at + TIED))
    }

    /// Returns the one-sided p-value of "the location is at least `at`"; the alternative is a smaller location.
    #[must_use]
    pub fn p_less(&self, at: f64) -> f64 {
        self.null.at_most(self.walsh.len() - self.walsh.partition_point(|average| *average < at - TIED))
    }

    /// Returns the two-sided p-value of "the location is `at`": twice the smaller of the one-sided ones, at most 1.
    #[must_use]
    pub fn p_differs(&self, at: f64) -> f64 {
        (2.0 * self.p_greater(at).min(self.p_less(at))).min(1.0)
    }
}

fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let pairs =
        values.iter().enumerate().flat_map(|(i, left)| values[i..].iter().map(|right| left.midpoint(*right)));
    let mut averages: Vec<f64> = pairs.collect();
    averages.sort_unstable_by(f64::total_cmp);
    averages
}

#[cfg(test)]
#[path = "signed_rank_tests.rs"]
mod tests;
