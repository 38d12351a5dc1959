//! Law of a metric over a numeric axis, such as the number of readers: a line, a power law, or two lines that meet.
//!
//! Each block of an experiment has one value per level of the axis, so each block has a slope of its own, and these
//! slopes are independent. Their mean has Student's interval: exact if they are normally distributed, whatever the
//! noise of the single levels, and whatever the values of one block have in common.
//!
//! The simplest law that the values do not refute is selected:
//!
//! 1. A line, unless the blocks agree on a curvature (its 95 % interval excludes 0) and the line misses the mean of
//!    some level by more than [`MISS`].
//! 2. A power law, by the same rule for the logarithms.
//! 3. Two lines that meet at one of the inner levels: the one with the smallest squared error, if the slopes differ.
//!    The level is selected by the values, so the two intervals hold for this level only.
//!
//! No law describes what lies beyond the measured levels.

use crate::{power::t_quantile, ranks::Interval};

/// Distance between a law and the mean of a level, as a share of it, up to which the law is not refuted.
pub const MISS: f64 = 0.05;
/// Minimum number of levels of a law: any two levels lie on a line.
pub const LEAST_LEVELS: usize = 3;
/// Minimum number of levels of a bend: three levels lie on two lines whatever their values.
const LEVELS_OF_BEND: usize = 4;
const LEVEL: f64 = 0.95;

/// Mean over the blocks, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean.
    pub value: f64,
    /// 95 % interval.
    pub interval: Interval,
}

impl Estimate {
    /// Returns whether the interval excludes 0.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.interval.low > 0.0 || self.interval.high < 0.0
    }
}

/// Law of a metric over an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// A line.
    Linear {
        /// Growth of the metric for each unit of the axis.
        slope: Estimate,
    },
    /// A power law.
    Power {
        /// Exponent of the axis.
        exponent: Estimate,
    },
    /// Two lines that meet.
    Bends {
        /// Level at which they meet.
        at: f64,
        /// Slope below this level.
        before: Estimate,
        /// Slope above it.
        after: Estimate,
    },
    /// All of these laws are refuted.
    None,
}

/// Returns the law of a metric: `levels` of the axis in ascending order, and for each block the value at each level.
/// `None` with fewer than [`LEAST_LEVELS`] levels, or fewer than two blocks.
///
/// # Panics
/// Panics if a number is not finite, the levels are not ascending, or a block has another number of values.
#[must_use]
pub fn law(levels: &[f64], blocks: &[Vec<f64>]) -> Option<Law> {
    assert!(levels.is_sorted_by(|left, right| left < right), "levels are not ascending: {levels:?}");
    let is_complete =
        |block: &Vec<f64>| block.len() == levels.len() && block.iter().all(|value| value.is_finite());
    assert!(blocks.iter().all(is_complete), "blocks are incomplete: {blocks:?}");
    if levels.len() < LEAST_LEVELS || blocks.len() < 2 {
        return None;
    }
    let line = Line::fit(levels, blocks)?;
    if !line.is_refuted(levels, blocks, |mean| MISS * mean.abs()) {
        return Some(Law::Linear { slope: line.slope });
    }
    if let Some(power) = power_law(levels, blocks) {
        return Some(power);
    }
    Some(bend(levels, blocks).unwrap_or(Law::None))
}

/// Returns the power law, unless it is refuted.
fn power_law(levels: &[f64], blocks: &[Vec<f64>]) -> Option<Law> {
    let (levels, blocks) = logarithms(levels, blocks)?;
    let line = Line::fit(&levels, &blocks)?;
    let refuted = line.is_refuted(&levels, &blocks, |_| MISS.ln_1p());
    (!refuted).then_some(Law::Power { exponent: line.slope })
}

fn logarithms(levels: &[f64], blocks: &[Vec<f64>]) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
    let of = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect()
    };
    Some((of(levels)?, blocks.iter().map(|block| of(block)).collect::<Option<_>>()?))
}

/// Least-squares line of each block.
struct Line {
    slope: Estimate,
    /// Value at the mean level.
    center: f64,
    mean_level: f64,
}

impl Line {
    fn fit(levels: &[f64], blocks: &[Vec<f64>]) -> Option<Self> {
        let slope = estimate(&weights(&[&ones(levels)], levels)?, blocks)?;
        let values = means(levels.len(), blocks);
        Some(Self { slope, center: mean(&values), mean_level: mean(levels) })
    }

    /// Returns whether the blocks agree on a curvature, and the line misses the mean of a level by more than `miss`.
    fn is_refuted(&self, levels: &[f64], blocks: &[Vec<f64>], miss: impl Fn(f64) -> f64) -> bool {
        let at = |level: f64| self.center + self.slope.value * (level - self.mean_level);
        let misses = levels
            .iter()
            .zip(means(levels.len(), blocks))
            .any(|(level, mean)| (at(*level) - mean).abs() > miss(mean));
        let squares: Vec<f64> = levels.iter().map(|level| (level - self.mean_level).powi(2)).collect();
        let curvature = weights(&[&ones(levels), levels], &squares).and_then(|of| estimate(&of, blocks));
        misses && curvature.is_some_and(|curvature| curvature.excludes_zero())
    }
}

/// Returns the two lines that meet at the inner level with the smallest squared error; `None` with too few levels, or
/// if their slopes do not differ.
fn bend(levels: &[f64], blocks: &[Vec<f64>]) -> Option<Law> {
    if levels.len() < LEVELS_OF_BEND {
        return None;
    }
    let values = means(levels.len(), blocks);
    let inner = &levels[1..levels.len() - 1];
    let below = |at: f64| -> Vec<f64> { levels.iter().map(|level| level.min(at)).collect() };
    let above = |at: f64| -> Vec<f64> { levels.iter().map(|level| (level - at).max(0.0)).collect() };
    let error = |at: f64| squared_error(&[&ones(levels), &below(at), &above(at)], &values);
    let at = inner.iter().copied().min_by(|left, right| error(*left).total_cmp(&error(*right)))?;
    let (one, below, above) = (ones(levels), below(at), above(at));
    let before = estimate(&weights(&[&one, &above], &below)?, blocks)?;
    let after = estimate(&weights(&[&one, &below], &above)?, blocks)?;
    // The coefficient of `above` beside the level itself is the change of the slope.
    let change = estimate(&weights(&[&one, levels], &above)?, blocks)?;
    change.excludes_zero().then_some(Law::Bends { at, before, after })
}

/// Returns the mean of a weighted sum over the blocks; `None` with fewer than two blocks.
fn estimate(weights: &[f64], blocks: &[Vec<f64>]) -> Option<Estimate> {
    let of_blocks: Vec<f64> = blocks.iter().map(|block| dot(weights, block)).collect();
    let n = of_blocks.len();
    let error = crate::precision::sample_sd(&of_blocks)? / (n as f64).sqrt();
    let reach = t_quantile(f64::midpoint(1.0, LEVEL), n - 1) * error;
    let value = mean(&of_blocks);
    Some(Estimate { value, interval: Interval { low: value - reach, high: value + reach, level: LEVEL } })
}

/// Returns the weights of the values whose sum is the least-squares coefficient of a column beside other columns;
/// `None` if it is a combination of these.
fn weights(others: &[&[f64]], column: &[f64]) -> Option<Vec<f64>> {
    let rest = residual(&orthogonal(others), column);
    let square = dot(&rest, &rest);
    (square > 1e-12 * dot(column, column)).then(|| rest.iter().map(|of| of / square).collect())
}

/// Returns the squared error of the least-squares fit of these columns.
fn squared_error(columns: &[&[f64]], values: &[f64]) -> f64 {
    let rest = residual(&orthogonal(columns), values);
    dot(&rest, &rest)
}

/// Returns orthogonal columns that span the same space (Gram-Schmidt).
fn orthogonal(columns: &[&[f64]]) -> Vec<Vec<f64>> {
    columns.iter().fold(Vec::new(), |mut known, column| {
        let rest = residual(&known, column);
        known.push(rest);
        known
    })
}

/// Returns a column without its projections on orthogonal columns.
fn residual(orthogonal: &[Vec<f64>], column: &[f64]) -> Vec<f64> {
    orthogonal.iter().fold(column.to_vec(), |rest, known| {
        let share = dot(known, &rest) / dot(known, known);
        rest.iter().zip(known).map(|(of, known)| of - share * known).collect()
    })
}

fn ones(levels: &[f64]) -> Vec<f64> {
    vec![1.0; levels.len()]
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the mean of each level over the blocks.
fn means(levels: usize, blocks: &[Vec<f64>]) -> Vec<f64> {
    (0..levels).map(|level| mean(&blocks.iter().map(|block| block[level]).collect::<Vec<_>>())).collect()
}

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;
