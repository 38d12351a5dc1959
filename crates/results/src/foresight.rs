//! Minimum detectable effects of a plan, from the selftests of the host.

use std::collections::BTreeSet;

use experiment::{Experiment, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Claim, Host, Metric, Resolution, SelfTest, comparison_claims, least_blocks, selftest::POWER};

/// Minimum detectable effects of the comparisons of one driver's cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Foresight {
    /// Name of the driver.
    pub driver: String,
    /// Start of the selftest of this driver on this host, in ns since 1970-01-01 UTC. Null without a selftest.
    pub selftest_unix_ns: Option<u64>,
    /// Number of comparisons that are judged together.
    pub comparisons: u32,
    /// Power: probability of detecting the effect, in percent.
    pub power_pct: f64,
    /// Effects by metric. Empty without a selftest.
    pub effects: Vec<SmallestEffect>,
}

/// Minimum detectable effect of one metric over the compared cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SmallestEffect {
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plan<'a> {
    /// Plan of the experiment, as `experiment` in a result.
    #[serde(flatten)]
    pub experiment: &'a Experiment,
    /// Expected duration of all runs, in ns.
    pub expected_ns: u64,
    /// Number of claims of differences from the baseline, which share one level; 0 without a baseline.
    pub claims: u32,
    /// Minimum number of blocks for any claim. Null without a baseline.
    pub least_blocks: Option<u32>,
    /// Minimum detectable effects, one entry for each driver whose cells are compared with a baseline. Empty for
    /// duets.
    pub smallest_effect: &'a [Foresight],
}

impl<'a> Plan<'a> {
    /// Creates the dry-run output of an experiment.
    #[must_use]
    pub fn new(experiment: &'a Experiment, smallest_effect: &'a [Foresight]) -> Self {
        let compared = !experiment.design.baseline.is_empty();
        Self {
            experiment,
            expected_ns: experiment.expected_ns(),
            claims: comparison_claims(experiment).len() as u32,
            least_blocks: compared.then(|| least_blocks(experiment)),
            smallest_effect,
        }
    }
}

impl Foresight {
    /// Returns one entry for each driver whose cells are compared with a baseline. `outcome` returns the selftest
    /// of a driver, of any host. Empty for duets, because the runs of a selftest are executed one after the other.
    #[must_use]
    pub fn of(experiment: &Experiment, host: &Host, outcome: &dyn Fn(&str) -> Option<SelfTest>) -> Vec<Self> {
        if experiment.design.baseline.is_empty() || experiment.design.duet {
            return Vec::new();
        }
        let claims = comparison_claims(experiment);
        let comparisons = claims.len();
        let effects = |driver: &str, outcome: &SelfTest| {
            let of = |workload: Workload, metric: Metric, mine: &[&Claim<'_>]| {
                let blocks = experiment.design.blocks;
                let effects: Vec<f64> = mine
                    .iter()
                    .filter(|claim| claim.metric == metric)
                    .filter_map(|claim| {
                        let size = claim.cell.factors.size_bytes;
                        outcome.smallest_effect_pct(workload, size, metric, blocks, comparisons)
                    })
                    .collect();
                let figure = |found: &Resolution| found.workload == workload && found.metric == metric;
                SmallestEffect {
                    metric,
                    measured: outcome.figures.iter().any(figure),
                    least_pct: effects.iter().copied().reduce(f64::min),
                    most_pct: effects.iter().copied().reduce(f64::max),
                }
            };
            let mut all = Vec::new();
            for workload in Workload::ALL {
                let is_mine = |claim: &&Claim<'_>| {
                    claim.cell.factors.driver == driver && claim.cell.factors.workload == *workload
                };
                let mine: Vec<&Claim<'_>> = claims.iter().filter(is_mine).collect();
                let metrics: BTreeSet<Metric> = mine.iter().map(|claim| claim.metric).collect();
                all.extend(metrics.into_iter().map(|metric| of(*workload, metric, &mine)));
            }
            all
        };
        let drivers: BTreeSet<&str> = claims.iter().map(|claim| claim.cell.factors.driver.as_str()).collect();
        let foresight = |driver: &str| {
            let outcome = outcome(driver).filter(|outcome| outcome.is_of(host));
            Self {
                driver: driver.to_owned(),
                selftest_unix_ns: outcome.as_ref().map(|outcome| outcome.host.started_unix_ns),
                comparisons: comparisons as u32,
                power_pct: 100.0 * POWER,
                effects: outcome.map(|outcome| effects(driver, &outcome)).unwrap_or_default(),
            }
        };
        drivers.into_iter().map(foresight).collect()
    }
}
