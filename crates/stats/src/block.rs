//! Values of runs, and the two runs of a block.

use crate::precision::sample_sd;

/// Metric value of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Metric value to compare. A value that is 0, negative or not finite has no ratio and counts as a failed run.
    pub value: f64,
    /// Whether the run reached a steady state. True if that was not checked.
    pub steady: bool,
}

impl Run {
    /// Returns the metric value if it has a logarithm.
    pub(crate) fn usable(&self) -> Option<f64> {
        (self.value > 0.0 && self.value.is_finite()).then_some(self.value)
    }
}

/// The two runs of a block; `None` for a run that failed or is missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Run of the candidate cell.
    pub treatment: Option<Run>,
    /// Run of the baseline cell.
    pub baseline: Option<Run>,
}

impl Block {
    /// Returns the logarithm of treatment over baseline, if both values are usable.
    #[must_use]
    pub fn log_ratio(&self) -> Option<f64> {
        let usable = |run: Option<Run>| run.and_then(|run| run.usable());
        Some((usable(self.treatment)? / usable(self.baseline)?).ln())
    }
}

/// Returns the log ratios of the blocks with two usable values.
#[must_use]
pub fn log_ratios(blocks: &[Block]) -> Vec<f64> {
    blocks.iter().filter_map(Block::log_ratio).collect()
}

/// Returns the pooled standard deviation of two groups; `None` if one has fewer than two values.
pub(crate) fn pooled_sd(treatment: &[f64], baseline: &[f64]) -> Option<f64> {
    let freedom = |values: &[f64]| values.len().saturating_sub(1) as f64;
    let squares = |values: &[f64]| Some(sample_sd(values)?.powi(2) * freedom(values));
    let all = squares(treatment)? + squares(baseline)?;
    Some((all / (freedom(treatment) + freedom(baseline))).sqrt())
}
