//! Selftest: resolution of a host, from the same cell measured twice in every block (A/A).

use std::collections::BTreeMap;

use experiment::Workload;
use serde::{Deserialize, Serialize};

use crate::schema::{host::Host, metric::Metric};

/// Outcome of a selftest of one driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelfTest {
    /// Name of the driver.
    pub driver: String,
    /// Host that was measured on, and the start of the selftest.
    pub host: Host,
    /// Version of ddsmark.
    pub tool_version: String,
    /// Planned number of pairs of runs per cell.
    pub pairs: u32,
    /// Duration of the measurement of a run, in ns.
    pub measure_ns: u64,
    /// Host noise during the selftest. Absent without noise probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseSummary>,
    /// One entry per cell and metric.
    pub metrics: Vec<Resolution>,
    /// Number of entries of `metrics` with a significant difference. All are judged together: the probability of any
    /// false positive in a selftest is at most 5 %.
    pub differs: u32,
}

/// Comparison of one metric of one cell with itself (A/A).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resolution {
    /// Identifier of the cell.
    pub cell: String,
    /// Workload of the cell.
    pub workload: Workload,
    /// Payload of a sample of the cell, in bytes.
    pub size_bytes: u64,
    /// Metric.
    pub metric: Metric,
    /// Number of pairs with both values.
    pub pairs: u32,
    /// Number of pairs without one or both values.
    pub incomplete: u32,
    /// Number of pairs with a run that has no steady state.
    pub unsteady: u32,
    /// Median over the runs, in the unit of the metric. Null without values.
    pub median: Option<f64>,
    /// Standard deviation of the logarithm of the metric over the runs, in percent: approximately the coefficient
    /// of variation.
    pub between_run_pct: Option<f64>,
    /// Standard deviation of the log ratio of the two runs of a block, in percent. Disturbances common to a block
    /// cancel.
    pub ratio_sd_pct: Option<f64>,
    /// Minimum detectable effect of a single comparison with a power of 80 %, in percent, by number of blocks.
    pub smallest_effect_pct: BTreeMap<u32, f64>,
    /// Change from the first to the second runs, in percent: Hodges-Lehmann estimate.
    pub change_pct: Option<f64>,
    /// Lower end of the 95 % CI of the change, in percent.
    pub low_pct: Option<f64>,
    /// Upper end of the 95 % CI of the change, in percent.
    pub high_pct: Option<f64>,
    /// p-value of the hypothesis of no difference, adjusted over all metrics of the selftest.
    pub p_adjusted: Option<f64>,
    /// Whether the difference is significant.
    pub differs: bool,
    /// Modes of the runs. Empty if the runs have a single mode, or are too few.
    pub groups: Vec<Group>,
}

/// Mode: group of runs with similar values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Median of its runs, in the unit of the metric.
    pub median: f64,
    /// Share of its runs in all runs, in percent.
    pub share_pct: f64,
}

/// Host noise over the blocks of a selftest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseSummary {
    /// Number of blocks.
    pub blocks: u32,
    /// Number of noisy blocks.
    pub noisy_blocks: u32,
    /// Stolen time of the worst core in a noise probe, in percent: median over the probes.
    pub stolen_pct: f64,
    /// Stolen time of the worst core in a noise probe, in percent: maximum over the probes.
    pub worst_stolen_pct: f64,
    /// Longest gap that a noise probe found, in ns.
    pub max_gap_ns: u64,
    /// CPU time that the hypervisor gave to other guests (steal), in percent of the time of all cores: maximum over
    /// the blocks. Null if the host does not report it.
    pub max_steal_pct: Option<f64>,
}

/// Saved selftests by driver: the content of `selftest.json`.
pub type KeptSelfTests = BTreeMap<String, SelfTest>;
