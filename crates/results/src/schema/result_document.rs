//! Result schema: the complete result and a cell. The unit is part of the field name; a value that was not measured
//! is absent or null, never 0.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Factors, Plan, Qos};
use serde::{Deserialize, Serialize};

use crate::schema::{
    experiment_log::{Block, BlockAllocation, NoiseRule, Resumption},
    finding::Finding,
    host::{self, Host, HostRecord},
    latency::CellLatency,
    link::LinkCeiling,
    max_rate::MaxRate,
    measurement::Throughput,
    over_bases::EffectOverBases,
    paced::PacedCell,
    published::PublishedValue,
    run::{CpuPerSample, Run},
    search::SearchCell,
    verdict::Verdict,
    warning::Warning,
};

/// Version of the schema. It is frozen at the first tag.
pub const SCHEMA_VERSION: u32 = 3;

/// Result of an experiment: its plan and everything that was measured.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultDocument {
    /// Version of the schema of this file.
    pub schema_version: u32,
    /// Program that measured.
    pub tool: Tool,
    /// Hosts that were measured on, the reference host first.
    pub hosts: Vec<HostRecord>,
    /// Plan of the experiment: cells, design and settings.
    pub experiment: Plan,
    /// Description that each driver reports about itself, by its name in the factors.
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Whether all runs were executed.
    pub state: State,
    /// Rule by which a block counts as noisy, and whether noisy blocks are repeated. Absent if `log.json` is lost or
    /// damaged.
    pub noise_rule: Option<NoiseRule>,
    /// Number of blocks, and how it was decided. Absent if `log.json` is lost or damaged.
    pub allocation: Option<BlockAllocation>,
    /// Maximum rates that loads in percent refer to, measured before the first block. Empty without such loads.
    pub max_rates: Vec<MaxRate>,
    /// Blocks that were started, with the host noise around each. Empty if `log.json` is lost or damaged.
    pub blocks: Vec<Block>,
    /// Resumptions after an interruption.
    pub resumed: Vec<Resumption>,
    /// Measured cells, in the order of the plan.
    pub cells: Vec<CellResult>,
    /// Findings: descriptions of the values of these runs, with their numbers.
    pub findings: Vec<Finding>,
    /// Statistical comparisons: each cell with its baseline, and each baseline cell with itself (A/A). Empty
    /// without a baseline.
    pub verdicts: Vec<Verdict>,
    /// Second tier: effects of settings over the bases, to explore. Empty without a second tier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_bases: Vec<EffectOverBases>,
    /// Warnings that apply to the whole result.
    pub warnings: Vec<Warning>,
}

impl ResultDocument {
    /// Returns the properties of the first host.
    #[must_use]
    pub fn host(&self) -> &Host {
        host::first(&self.hosts)
    }

    /// Returns the number of planned runs, including those of repeated blocks.
    #[must_use]
    pub fn planned_runs(&self) -> usize {
        let allocation = self.allocation.as_ref();
        allocation
            .map_or(self.experiment.runs(), |allocation| allocation.runs(&self.experiment, &self.blocks))
    }
}

/// Program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Name: `ddsmark`.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Command line, one entry per argument.
    pub command_line: Vec<String>,
}

/// Whether all runs of an experiment were executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All runs were executed; some may have failed.
    Complete,
    /// Stopped before the last run, by a signal or an error.
    Interrupted,
}

/// Cell: its runs, and the values over these runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "MeasuredCell"))]
pub struct CellResult {
    /// Identifier of the cell, as in the plan.
    pub id: String,
    /// Factors of the cell. For a load in percent of a maximum, they include the rate in samples/s.
    pub factors: Factors,
    /// Runs of the cell in the order of execution, including failed ones.
    pub runs: Vec<Run>,
    /// Whether the absolute values are under duet interference: each run shared the host with its partner run. They
    /// are comparable only within this result.
    pub under_duet_interference: bool,
    /// Latency by kind: `rtt`, `one_way_out`, `one_way_back`, `write_call`; for the workload `paced` also
    /// `service`, `response` and `send_lag`. Quantiles are medians over the runs of each run's quantile. Number,
    /// mean, standard deviation and extremes are over the pooled samples of all valid runs.
    pub latency: BTreeMap<String, CellLatency>,
    /// Rates: medians over the valid runs, without the second runs (`twin`) of a block. Counts: sums over all valid
    /// runs.
    pub throughput: Option<Throughput>,
    /// For the workload `throughput` between hosts: the goodput that the links can carry. Absent if a link has no known rate,
    /// as on one host, or if the headers of the transport are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_ceiling: Option<LinkCeiling>,
    /// Published figures of the experiment for this cell, each with the measured value beside it. Empty without such
    /// figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedValue>,
    /// For the workload `paced`: planned samples, and the number of runs in which the sender did not keep its
    /// schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<PacedCell>,
    /// For the workload `search`: bounds and rates found for each goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchCell>,
    /// CPU time per sample, in ns: median over the valid runs, without `twin` runs.
    pub cpu_ns_per_sample: Option<CpuPerSample>,
    /// Effective QoS, read back from the middleware, by entity (`writer`, `reader`). Policies that differ between
    /// runs are absent.
    pub effective_qos: BTreeMap<String, Qos>,
    /// Effective settings, read back, by entity and name. Settings that differ between runs are absent.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// Warnings that apply to the values of this cell.
    pub warnings: Vec<Warning>,
}
