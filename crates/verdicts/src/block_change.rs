//! Change between two cells of a result within blocks: a description of these runs, no claim.

use std::{cmp::Ordering, collections::BTreeMap};

use results::{CellResult, Metric, Run};
use stats::{Spread, median_interval};

/// Minimum number of blocks with a ratio.
const LEAST_BLOCKS: usize = 2;

/// Ratio of the values of two cells over the blocks that have both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockChange {
    /// Median of the ratios.
    pub ratio: f64,
    /// Lower end of the 95 % confidence interval of the median, by order statistics; with too few blocks for it, the lowest ratio.
    pub low: f64,
    /// Upper end of the same interval.
    pub high: f64,
    /// Whether the ends are those of a 95 % confidence interval, not of the range.
    pub is_interval: bool,
    /// Number of blocks.
    pub blocks: usize,
}

impl BlockChange {
    /// Returns the change of a metric from `base` to `cell`; `None` if fewer than 2 blocks have values above 0 of both. The second runs
    /// of a baseline are left out.
    #[must_use]
    pub fn new(cell: &CellResult, base: &CellResult, metric: Metric) -> Option<Self> {
        let value = |run: &Run| Some((run.block, run.value(metric).filter(|value| *value > 0.0)?));
        let before: BTreeMap<u32, f64> = base.claimed_runs().filter_map(value).collect();
        let after = cell.claimed_runs().filter_map(value);
        let ratios: Vec<f64> = after.filter_map(|(block, after)| Some(after / before.get(&block)?)).collect();
        let Spread { n, min, median, max } =
            Spread::from_values(&ratios).filter(|of| of.n >= LEAST_BLOCKS)?;
        let interval = median_interval(&ratios);
        let (low, high) = interval.unwrap_or((min, max));
        Some(Self { ratio: median, low, high, is_interval: interval.is_some(), blocks: n })
    }

    /// Returns whether all of the interval is above or below no change; equal if it is neither.
    #[must_use]
    pub fn direction(&self) -> Ordering {
        match (self.low > 1.0, self.high < 1.0) {
            (true, _) => Ordering::Greater,
            (_, true) => Ordering::Less,
            _ => Ordering::Equal,
        }
    }
}
