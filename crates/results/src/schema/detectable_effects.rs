//! Minimum detectable effects of a plan, from the selftests of the host.

use experiment::{OfferedByCell, Plan};
use serde::{Deserialize, Serialize};

use crate::schema::metric::Metric;

/// Minimum detectable effects of the comparisons of one driver's cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectableEffects {
    /// Name of the driver.
    pub driver: String,
    /// Start of the selftest of this driver on this host, in ns since 1970-01-01 UTC. Null without a selftest.
    pub selftest_unix_ns: Option<u64>,
    /// Number of comparisons that are judged together.
    pub comparisons: u32,
    /// Power: probability of detecting the effect, in percent.
    pub power_pct: f64,
    /// Effects by metric. Empty without a selftest.
    pub effects: Vec<MinDetectableEffect>,
}

/// Minimum detectable effect of one metric over the compared cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MinDetectableEffect {
    /// Metric.
    pub metric: Metric,
    /// Whether the selftest measures the metric. If not, its effects are unknown.
    pub measured: bool,
    /// Minimum over the cells, in percent. Null if there are too few blocks for any claim.
    pub least_pct: Option<f64>,
    /// Maximum over the cells, in percent. Null if there are too few blocks for any claim.
    pub most_pct: Option<f64>,
}

/// Output of a dry run: the plan of the experiment, and its minimum detectable effects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DryRunReport<'a> {
    /// Plan of the experiment, as `experiment` in a result.
    #[serde(flatten)]
    pub experiment: &'a Plan,
    /// Expected duration of all runs, in ns.
    pub expected_ns: u64,
    /// Number of claims of differences from the baseline, which share one level; 0 without a baseline.
    pub claims: u32,
    /// Minimum number of blocks for any claim. Null without a baseline.
    pub least_blocks: Option<u32>,
    /// Minimum detectable effects, one entry for each driver whose cells are compared with a baseline. Empty for
    /// duets.
    pub smallest_effect: &'a [DetectableEffects],
    /// Samples and payload that the flows of each cell write and deliver. Empty without flows.
    pub offered: Vec<OfferedByCell<'a>>,
}
