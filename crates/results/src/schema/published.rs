//! Published figures beside the measured values of a cell.

use experiment::Figure;
use serde::{Deserialize, Serialize};

/// Published figure beside a measured value of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedValue {
    /// Name of what was measured. `experiment.published` has its source, and what differs from this experiment.
    pub system: String,
    /// Batch limit of the published measurement in bytes, 0 if unbatched. A batch of one sample is measured unbatched.
    pub batch_bytes: u64,
    /// Kind and unit of the figure: `half_rtt_p50_us` is half of the round-trip time.
    pub figure: Figure,
    /// Figure as published.
    pub published: f64,
    /// Path of the measured value in the JSON of a run: `latency.rtt.p50_ns`.
    pub metric: String,
    /// Published figure with the kind and unit of the measured value: an RTT/2 is doubled.
    pub converted: f64,
    /// Measured value. Null if no valid run has it.
    pub measured: Option<MeasuredValue>,
}

/// Value over the valid runs of a cell, without the second run of a baseline cell in each block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredValue {
    /// Number of runs that have the value.
    pub n: u32,
    /// Median over the runs.
    pub median: f64,
    /// Minimum over the runs.
    pub min: f64,
    /// Maximum over the runs.
    pub max: f64,
    /// Lower end of the 95 % confidence interval of the median, by order statistics. Null with fewer than 6 runs.
    pub ci_low: Option<f64>,
    /// Upper end of the same interval.
    pub ci_high: Option<f64>,
}
