//! Every run, and values by percentile.

use super::{Axis, Estimate, Series};

/// Every run as a dot in the order of measurement, with the median and its interval in the margin.
///
/// Up to four series share a panel; more get a row each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunStrip {
    /// Axis of the values.
    pub y: Axis,
    /// Series.
    pub series: Vec<StripSeries>,
    /// Numbers of noisy blocks. They are shaded unless all blocks are in this list.
    pub noisy: Vec<u32>,
}

/// Runs of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct StripSeries {
    /// Name and colour.
    pub series: Series,
    /// Runs.
    pub runs: Vec<Run>,
    /// Median of the counted runs with its interval.
    pub median: Option<Estimate>,
    /// Largest acceptable value: a line with long dashes.
    pub limit: Option<f64>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Number of the block: position on the x axis.
    pub block: u32,
    /// Value.
    pub value: f64,
    /// Kind of mark.
    pub mark: RunMark,
    /// Words after the value in the tooltip; may be empty.
    pub detail: String,
}

/// Kind of mark of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunMark {
    /// Counts in the median: filled.
    #[default]
    Counted,
    /// Second run of the baseline, counts in no median: pale and hollow.
    Second,
    /// Do not compare without reading why, as with loss: hollow.
    Doubtful,
    /// Invalid or failed: a cross, at the lower edge if the run has no value.
    Invalid,
}

/// Values by percentile on an axis where each nine has the same width.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Percentiles {
    /// Axis of the values; its label is not drawn.
    pub y: Axis,
    /// Series, four at most.
    pub series: Vec<PercentileSeries>,
}

/// Distribution of one cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PercentileSeries {
    /// Name and colour.
    pub series: Series,
    /// Median of the runs with its interval: thick line and band.
    pub median: Vec<PercentilePoint>,
    /// All runs pooled, above the last percentile of the median: dashed, not joined to it.
    pub pooled: Vec<PercentilePoint>,
    /// Each run: hairlines. They are not drawn above 20 runs.
    pub runs: Vec<Vec<PercentilePoint>>,
}

/// Value at a percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentilePoint {
    /// Quantile: at least 0 and below 1, as in 0.999. Others are not drawn.
    pub quantile: f64,
    /// Value with its interval.
    pub estimate: Estimate,
}
