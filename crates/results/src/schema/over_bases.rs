//! Effects of settings over several bases: the second tier of an experiment.

use serde::{Deserialize, Serialize};

use crate::schema::metric::Metric;

/// Effect of a setting in the additive model of settings and bases. Exploratory: p-values are adjusted by Benjamini and Hochberg over all
/// settings and metrics, and no claim is made. Methods: `docs/explain/statistics.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectOverBases {
    /// Identifier of the first cell with the setting.
    pub cell: String,
    /// Metric.
    pub metric: Metric,
    /// Number of log ratios to the baselines of the bases, over all bases and blocks.
    pub n: u32,
    /// Change in percent, over all bases: Hodges-Lehmann estimate.
    pub change_pct: f64,
    /// Lower end of the 95 % CI of this setting alone, in percent. Null with too few log ratios.
    pub low_pct: Option<f64>,
    /// Upper end of the 95 % CI of this setting alone, in percent. Null with too few log ratios.
    pub high_pct: Option<f64>,
    /// p-value of the hypothesis of no effect over any base, adjusted.
    pub p_exploratory: f64,
    /// p-value of the hypothesis of the same effect over all bases, adjusted. Null if there are too few bases or blocks.
    pub p_differs_exploratory: Option<f64>,
    /// Effect over each base, in the order of the plan.
    pub bases: Vec<EffectOverBase>,
}

/// Effect of a setting over one base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectOverBase {
    /// Name of the base.
    pub base: String,
    /// Number of blocks with both values. 0 if too many samples were lost for a time.
    pub n: u32,
    /// Median change in percent. Null without blocks.
    pub change_pct: Option<f64>,
}
