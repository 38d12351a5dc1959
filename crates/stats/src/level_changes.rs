//! Changes of the level of a history: one value per result, in the order of time.
//!
//! A history without a change is exchangeable: all orders of its values are equally likely. The statistic is the
//! smallest p-value of an exact rank-sum test over all stretches of the history, each compared with the rest. A
//! stretch that reaches the end is one change; one in the middle is a change and its return (circular binary
//! segmentation). The probability of so small a minimum anywhere is at most the number of stretches times the p-value;
//! where this bound does not decide, it is the share of random orders with a minimum as small. A change is claimed if
//! this probability is at most the level, and if the values on its two sides differ at this level, too. The pieces
//! between the changes are tested in the same way, and share the level of the whole by their lengths. At the end, each
//! change is moved to the best place between its neighbours, and stays only if its sides still differ.
//!
//! A host that drifts is no such history. Each value therefore comes with reference values of the host, and a change
//! must be true of `x - β r` for every elasticity `β`, with the same sign: see [`ReferencedRun`](crate::ReferencedRun).
//!
//! All histories that are looked at share one level: pass [`simultaneous_level`](crate::simultaneous_level). The
//! probability of any false change among them is then at most 5 %.
//!
//! Limits: independent values on a host that the reference describes. The first test of a history is exact. The place
//! of a change is estimated, so that a piece beside it may contain some values of the other level.
//!
//! Sources: A. B. Olshen, E. S. Venkatraman, R. Lucito and M. Wigler, *Circular Binary Segmentation for the Analysis
//! of Array-Based DNA Copy Number Data*, Biostatistics 5, 2004 (stretches against the rest, by permutation); A. N.
//! Pettitt, *A Non-Parametric Approach to the Change-Point Problem*, Applied Statistics 28, 1979 (ranks); J. J. Goeman
//! and A. Solari, *The Sequential Rejection Principle of Familywise Error Control*, Annals of Statistics 38, 2010 (the
//! level of a history that changes passes to its pieces).

use std::{collections::BTreeMap, ops::Range};

use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};

use crate::{
    null_distribution::Null,
    rank_sum,
    ranks::{Interval, Nulls, Ranks},
    referenced::corrected,
};

/// Minimum number of values on each side of a change: one result, or two, is an outlier.
pub const LEAST_STRETCH: usize = 3;
/// Number of values that are tested: the newest.
pub const MOST_TESTED: usize = 100;
/// Number of random orders per reciprocal of the level, so that the probability is known near the level.
const ORDERS: f64 = 100.0;
/// Maximum number of looked-up stretches over all random orders of a length.
const MOST_LOOKUPS: f64 = 2e8;

/// Value of a result with the reference values of its host.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferencedValue {
    /// Value; positive and finite.
    pub value: f64,
    /// Reference values, the same in the same order for every value of a history; positive and finite.
    pub references: Vec<f64>,
}

/// Change of the level of a history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// Index of the first value after the change.
    pub at: usize,
    /// Hodges-Lehmann estimate of the ratio of the level after the change to that before it.
    pub ratio: f64,
    /// Interval of the ratio that holds for every elasticity; `None` with too few values between two changes.
    pub interval: Option<Interval>,
}

/// Test of histories, with the random orders of each length.
#[derive(Debug)]
pub struct LevelTest {
    /// Probability of a false change in one history.
    level: f64,
    scans: BTreeMap<usize, Scan>,
}

/// Stretches of histories of one length.
#[derive(Debug)]
struct Scan {
    stretches: Vec<Range<usize>>,
    /// Null distribution of the rank sum for stretches of each length, from the shortest on.
    nulls: Vec<Null>,
    /// Smallest p-values of random orders, ascending.
    minima: Vec<f64>,
}

impl LevelTest {
    /// Creates a test. `level` is the confidence level of one history, as for one of the intervals of
    /// [`simultaneous_level`](crate::simultaneous_level).
    ///
    /// # Panics
    /// Panics if `level` is not between 0 and 1, both exclusive.
    #[must_use]
    pub fn new(level: f64) -> Self {
        assert!(level > 0.0 && level < 1.0, "{level} is not a confidence level");
        Self { level: 1.0 - level, scans: BTreeMap::new() }
    }

    /// Returns the minimum number of results with which a change can be claimed at all.
    #[must_use]
    pub fn least_results(&self) -> usize {
        (2 * LEAST_STRETCH..=MOST_TESTED).find(|n| self.can_claim(*n, self.level)).unwrap_or(MOST_TESTED)
    }

    /// Returns whether the two halves of `n` values can be far enough apart: otherwise no stretch can.
    fn can_claim(&self, n: usize, level: f64) -> bool {
        // The number of ways to choose the half, by which 2 is divided.
        let ways = (0..n / 2).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
        n >= 2 * LEAST_STRETCH && 2.0 / ways <= level
    }

    /// Returns the changes of a history in the order of time. Of a long history, the newest [`MOST_TESTED`] values are tested.
    ///
    /// # Panics
    /// Panics if a value or a reference value is not positive and finite.
    #[must_use]
    pub fn changes(&mut self, history: &[ReferencedValue]) -> Vec<LevelChange> {
        let first = history.len().saturating_sub(MOST_TESTED);
        let axes = axes(&history[first..]);
        let n = history.len() - first;
        let mut cuts = Vec::new();
        let mut pieces = vec![(0..n, self.level)];
        while let Some((piece, level)) = pieces.pop() {
            let of_piece: Vec<&[f64]> = axes.iter().map(|values| &values[piece.clone()]).collect();
            let mut bounds = vec![piece.start];
            bounds.extend(self.cuts(&of_piece, level).into_iter().map(|cut| piece.start + cut));
            bounds.push(piece.end);
            if bounds.len() > 2 {
                cuts.extend_from_slice(&bounds[1..bounds.len() - 1]);
                let share = |part: &[usize]| {
                    (part[0]..part[1], level * (part[1] - part[0]) as f64 / piece.len() as f64)
                };
                pieces.extend(bounds.windows(2).map(share));
            }
        }
        cuts.sort_unstable();
        let bounds = self.refined(&axes, cuts);
        let change = |part: &[usize]| {
            let axes: Vec<&[f64]> = axes.iter().map(Vec::as_slice).collect();
            let ranks = ranks_of_change(&axes, &(part[0]..part[2]), part[1]);
            LevelChange {
                at: first + part[1],
                ratio: ranks.as_ref().map_or(1.0, |ranks| ranks.estimate().exp()),
                interval: ranks.and_then(|of| of.interval(1.0 - self.level)).map(|of| of.map(f64::exp)),
            }
        };
        bounds.windows(3).map(change).collect()
    }

    /// Moves each change to the best place between its neighbours, and leaves out those whose sides no longer differ, the weakest
    /// first. Returns the changes with both ends of the history.
    fn refined(&mut self, axes: &[Vec<f64>], mut cuts: Vec<usize>) -> Vec<usize> {
        let axes: Vec<&[f64]> = axes.iter().map(Vec::as_slice).collect();
        let n = axes[0].len();
        loop {
            let mut bounds = vec![0];
            bounds.append(&mut cuts);
            bounds.push(n);
            for index in 1..bounds.len() - 1 {
                bounds[index] = self.best_cut(axes[0], bounds[index - 1]..bounds[index + 1]);
            }
            // How much larger than needed the p-value of each change is. Few values are enough if they do not overlap.
            let excess = |index: usize| {
                let (of, cut) = (bounds[index - 1]..bounds[index + 1], bounds[index]);
                let p = [true, false].map(|higher| p_of_change(&axes, &of, cut, higher));
                p[0].min(p[1]) / self.level.max(least_p(cut - of.start, of.end - cut)) - 1e-9
            };
            let worst = (1..bounds.len() - 1).map(|index| (excess(index), index));
            match worst.max_by(|one, other| one.0.total_cmp(&other.0)) {
                Some((excess, index)) if excess > 1.0 => drop(bounds.remove(index)),
                _ => return bounds,
            }
            cuts = bounds[1..bounds.len() - 1].to_vec();
        }
    }

    /// Returns the place in a range where the values before and after it differ most.
    fn best_cut(&mut self, values: &[f64], of: Range<usize>) -> usize {
        let n = of.len();
        let scan = self.scans.entry(n).or_insert_with(|| Scan::new(n));
        let ranks = doubled_ranks(&values[of.clone()]);
        let p = |cut: &usize| scan.p(&ranks[*cut..]).0;
        let best = (LEAST_STRETCH..=n - LEAST_STRETCH).min_by(|one, other| p(one).total_cmp(&p(other)));
        of.start + best.unwrap_or(LEAST_STRETCH)
    }

    /// Returns where a piece changes: at no place, at one, or at the two ends of a stretch. The first of `axes` is without
    /// correction.
    fn cuts(&mut self, axes: &[&[f64]], level: f64) -> Vec<usize> {
        let n = axes[0].len();
        if !self.can_claim(n, level) {
            return Vec::new();
        }
        let scan = self.scans.entry(n).or_insert_with(|| Scan::new(n));
        let ranks: Vec<Vec<usize>> = axes.iter().map(|values| doubled_ranks(values)).collect();
        let (least, stretch) = scan.least(&ranks[0]);
        let stretch = stretch.clone();
        // The probability of such a minimum is not below that of one of its stretches.
        if least > level {
            return Vec::new();
        }
        let is_higher = |ranks: &[usize]| scan.p(&ranks[stretch.clone()]).1;
        let higher = is_higher(&ranks[0]);
        let worst = ranks.iter().map(|ranks| match is_higher(ranks) == higher {
            true => scan.p(&ranks[stretch.clone()]).0,
            false => 1.0,
        });
        let worst = worst.fold(0.0, f64::max);
        if scan.probability(worst, level) > level {
            return Vec::new();
        }
        let bounds = [0, stretch.start, stretch.end, n];
        let around = |cut: usize| {
            let before = bounds.iter().rev().find(|bound| **bound < cut).copied().unwrap_or(0);
            before..bounds.iter().find(|bound| **bound > cut).copied().unwrap_or(n)
        };
        let is_change = |(cut, after_is_higher): &(usize, bool)| {
            (1..n).contains(cut) && p_of_change(axes, &around(*cut), *cut, *after_is_higher) <= level
        };
        let ends = [(stretch.start, higher), (stretch.end, !higher)];
        ends.into_iter().filter(is_change).map(|(cut, _)| cut).collect()
    }
}

/// Returns the ranks of a change at `cut` within the values of a range, over all axes.
fn ranks_of_change(axes: &[&[f64]], of: &Range<usize>, cut: usize) -> Option<Ranks> {
    let groups = axes.iter().map(|values| (&values[cut..of.end], &values[of.start..cut]));
    Ranks::of_axes(&groups.collect::<Vec<_>>(), &Nulls::default())
}

/// Returns the two-sided p-value of a change at `cut` in the direction, within the values of a range: the largest over the axes.
fn p_of_change(axes: &[&[f64]], of: &Range<usize>, cut: usize, after_is_higher: bool) -> f64 {
    let p = |ranks: Ranks| if after_is_higher { ranks.p_greater(0.0) } else { ranks.p_less(0.0) };
    ranks_of_change(axes, of, cut).map_or(1.0, |ranks| (2.0 * p(ranks)).min(1.0))
}

/// Returns the smallest two-sided p-value of groups of these sizes: that of groups without an overlap.
fn least_p(before: usize, after: usize) -> f64 {
    (0..before).fold(2.0, |p, i| p * (i + 1) as f64 / (before + after - i) as f64)
}

/// Returns the logarithms of the values, without and with correction by each reference and elasticity.
fn axes(history: &[ReferencedValue]) -> Vec<Vec<f64>> {
    let log = |value: f64| {
        assert!(value > 0.0 && value.is_finite(), "{value} has no ratio to others");
        value.ln()
    };
    let references = history.iter().map(|of| of.references.len()).min().unwrap_or(0);
    let logs = |of: &ReferencedValue| (log(of.value), of.references.iter().map(|of| log(*of)).collect());
    corrected(&history.iter().map(logs).collect::<Vec<_>>(), references)
}

/// Returns twice the rank of each value, from 2 on; equal values share their mean rank.
fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|of| of < value);
        let not_above = sorted.partition_point(|of| of <= value);
        below + not_above + 1
    };
    values.iter().map(rank).collect()
}

impl Scan {
    fn new(n: usize) -> Self {
        let inner = |end: usize| end == n || end + LEAST_STRETCH <= n;
        let stretches = (LEAST_STRETCH..n)
            .flat_map(|start| {
                (start + LEAST_STRETCH..=n).filter(move |end| inner(*end)).map(move |end| start..end)
            })
            .collect();
        let nulls = (LEAST_STRETCH..=n - LEAST_STRETCH).map(|k| rank_sum::null(k, n - k)).collect();
        Self { stretches, nulls, minima: Vec::new() }
    }

    /// Returns the two-sided p-value of a stretch with these doubled ranks, and whether it is higher than the rest. Equal
    /// values count against the claim.
    fn p(&self, ranks: &[usize]) -> (f64, bool) {
        self.p_of(ranks.len(), ranks.iter().sum())
    }

    fn p_of(&self, k: usize, doubled_sum: usize) -> (f64, bool) {
        let rest = self.nulls.len() + 2 * LEAST_STRETCH - 1 - k;
        let doubled = doubled_sum - k * (k + 1);
        let other = 2 * k * rest - doubled;
        let p = 2.0 * self.nulls[k - LEAST_STRETCH].at_most(doubled.min(other).div_ceil(2));
        (p.min(1.0), doubled > other)
    }

    /// Returns the smallest p-value of all stretches, with the first that has it.
    fn least(&self, ranks: &[usize]) -> (f64, &Range<usize>) {
        let mut sums = vec![0; ranks.len() + 1];
        for (index, rank) in ranks.iter().enumerate() {
            sums[index + 1] = sums[index] + rank;
        }
        let p = |of: &Range<usize>| self.p_of(of.len(), sums[of.end] - sums[of.start]).0;
        let mut least = (2.0, &self.stretches[0]);
        for stretch in &self.stretches {
            let p = p(stretch);
            if p < least.0 {
                least = (p, stretch);
            }
        }
        least
    }

    /// Returns the probability that a history without a change has a smallest p-value of at most `p`, as far as `level`
    /// needs it.
    fn probability(&mut self, p: f64, level: f64) -> f64 {
        let bound = p * self.stretches.len() as f64;
        if bound <= level || p > level {
            return bound.min(1.0);
        }
        let orders = (ORDERS / level).min(MOST_LOOKUPS / self.stretches.len() as f64);
        // With fewer random orders, the estimate would be wrong by over a fifth.
        if orders < 0.2 * ORDERS / level {
            return bound.min(1.0);
        }
        if self.minima.len() < orders as usize {
            self.minima = self.random_minima(orders as usize);
        }
        let as_small = self.minima.partition_point(|minimum| *minimum <= p);
        (as_small + 1) as f64 / (self.minima.len() + 1) as f64
    }

    fn random_minima(&self, orders: usize) -> Vec<f64> {
        let n = self.nulls.len() + 2 * LEAST_STRETCH - 1;
        let mut random = ChaCha8Rng::seed_from_u64(n as u64);
        let mut ranks: Vec<usize> = (1..=n).map(|rank| 2 * rank).collect();
        let mut minima: Vec<f64> = (0..orders)
            .map(|_| {
                ranks.shuffle(&mut random);
                self.least(&ranks).0
            })
            .collect();
        minima.sort_unstable_by(f64::total_cmp);
        minima
    }
}

#[cfg(test)]
#[path = "level_changes_tests.rs"]
mod tests;
