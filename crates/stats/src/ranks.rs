//! Rank tests of a location, or of a shift between two groups: estimate, interval and tests from one sorted list of points.
//!
//! The points are the Walsh averages of [`Ranks::of_blocks`], or the differences of [`Ranks::of_groups`]. Their median is the
//! Hodges-Lehmann estimate, and the number of them on one side of a value is the test statistic for that value. Estimate, tests
//! and interval therefore never contradict each other: a value lies outside of the closed interval exactly if the test at that
//! value rejects at the interval's level.
//!
//! A point on the tested value counts against the claim, on either side, as if ties were broken in the worst way. The level is
//! never exceeded, but with many ties the test is conservative. Points closer than 1e-12 to a value are tied with it.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use crate::{null_distribution::Null, rank_sum, signed_rank, spread::median};

/// Maximum distance at which a point and a tested value are tied.
const TIED: f64 = 1e-12;

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

/// Distributions of a family of comparisons: each is computed once, however many comparisons have values of these numbers.
#[derive(Debug, Default)]
pub(crate) struct Nulls {
    signed_ranks: RefCell<BTreeMap<usize, Arc<Null>>>,
    rank_sums: RefCell<BTreeMap<(usize, usize), Arc<Null>>>,
}

impl Nulls {
    /// Returns the distribution of the signed-rank statistic for `n` values.
    pub(crate) fn signed_rank(&self, n: usize) -> Arc<Null> {
        let mut known = self.signed_ranks.borrow_mut();
        Arc::clone(known.entry(n).or_insert_with(|| Arc::new(signed_rank::null(n))))
    }

    /// Returns the distribution of the rank-sum statistic for groups of these sizes.
    pub(crate) fn rank_sum(&self, m: usize, n: usize) -> Arc<Null> {
        let mut known = self.rank_sums.borrow_mut();
        Arc::clone(known.entry((m, n)).or_insert_with(|| Arc::new(rank_sum::null(m, n))))
    }
}

/// Ranks for estimate, interval and tests of a location or shift.
///
/// With several lists of points, a claim must hold for each of them: the p-value is the largest of all, and the interval the hull
/// of all. The estimate is that of the first.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// Lists of points, each ascending.
    axes: Vec<Vec<f64>>,
    null: Arc<Null>,
}

impl Ranks {
    /// Creates the ranks of values, one per block, for their location; `None` without values. Time and memory grow with the square
    /// of the number of values. Assumptions and sources: `signed_rank.rs`.
    ///
    /// # Panics
    /// Panics if a value is not finite.
    #[must_use]
    pub fn of_blocks(values: &[f64]) -> Option<Self> {
        Self::of_pairs(values, &Nulls::default())
    }

    /// Like [`of_blocks`](Self::of_blocks), with a distribution that other comparisons share.
    pub(crate) fn of_pairs(values: &[f64], nulls: &Nulls) -> Option<Self> {
        let axes = vec![sorted(signed_rank::walsh_averages(values))];
        (!values.is_empty()).then(|| Self { axes, null: nulls.signed_rank(values.len()) })
    }

    /// Creates the ranks of two unpaired groups, for the shift between them; `None` if one of them is empty. Assumptions and
    /// sources: `rank_sum.rs`.
    ///
    /// # Panics
    /// Panics if a value is not finite.
    #[must_use]
    pub fn of_groups(treatment: &[f64], baseline: &[f64]) -> Option<Self> {
        Self::of_axes(&[(treatment, baseline)], &Nulls::default())
    }

    /// Creates the ranks of two groups with several values for each of their members: a pair of groups for each axis, all of the
    /// same sizes.
    pub(crate) fn of_axes(groups: &[(&[f64], &[f64])], nulls: &Nulls) -> Option<Self> {
        let sizes = |(treatment, baseline): &(&[f64], &[f64])| (treatment.len(), baseline.len());
        let (m, n) = groups.first().map(sizes).filter(|(m, n)| *m > 0 && *n > 0)?;
        assert!(groups.iter().all(|of| sizes(of) == (m, n)), "the distribution is of other sizes");
        let axes =
            groups.iter().map(|(treatment, baseline)| sorted(rank_sum::differences(treatment, baseline)));
        Some(Self { axes: axes.collect(), null: nulls.rank_sum(m, n) })
    }

    /// Returns the Hodges-Lehmann estimate.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        median(&self.axes[0]).expect("there is a point")
    }

    /// Returns the interval of at least this level; `None` with too few values: see [`least_blocks`](crate::least_blocks) and
    /// [`least_runs`](crate::least_runs).
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let c = self.null.critical((1.0 - level) / 2.0)?;
        let low = self.axes.iter().map(|points| points[c]).fold(f64::INFINITY, f64::min);
        let high =
            self.axes.iter().map(|points| points[points.len() - 1 - c]).fold(f64::NEG_INFINITY, f64::max);
        Some(Interval { low, high, level: 1.0 - 2.0 * self.null.at_most(c) })
    }

    /// Returns the one-sided p-value of "at most `at`"; the alternative is a greater location or shift.
    #[must_use]
    pub fn p_greater(&self, at: f64) -> f64 {
        self.p(|points| points.partition_point(|point| *point <= at + TIED))
    }

    /// Returns the one-sided p-value of "at least `at`"; the alternative is a smaller location or shift.
    #[must_use]
    pub fn p_less(&self, at: f64) -> f64 {
        self.p(|points| points.len() - points.partition_point(|point| *point < at - TIED))
    }

    /// Returns the two-sided p-value of "`at`": twice the smaller of the one-sided ones, at most 1.
    #[must_use]
    pub fn p_differs(&self, at: f64) -> f64 {
        (2.0 * self.p_greater(at).min(self.p_less(at))).min(1.0)
    }

    /// Returns the p-value from the number of points that count against a claim.
    fn p(&self, against: impl Fn(&Vec<f64>) -> usize) -> f64 {
        self.null.at_most(self.axes.iter().map(against).max().unwrap_or(0))
    }
}

fn sorted(mut points: Vec<f64>) -> Vec<f64> {
    points.sort_unstable_by(f64::total_cmp);
    points
}
