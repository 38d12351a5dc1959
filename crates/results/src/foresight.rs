//! What a plan will be able to see, by what selftests found on the host.

use std::collections::BTreeSet;

use experiment::{Experiment, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Claim, Host, Metric, Resolution, SelfTest, comparison_claims, least_blocks, selftest::POWER};

/// What comparisons of one driver's cells will be able to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Foresight {
    /// The driver.
    pub driver: String,
    /// When the selftest of this driver on this host began, ns since 1970 (UTC); null where there was none.
    pub selftest_unix_ns: Option<u64>,
    /// How many comparisons are judged together.
    pub comparisons: u32,
    /// With which probability an effect would be found, in percent.
    pub power_pct: f64,
    /// By figure; empty without a selftest.
    pub effects: Vec<SmallestEffect>,
}

/// The smallest effect of one figure over the cells that are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SmallestEffect {
    /// The figure.
    pub metric: Metric,
    /// Whether a selftest measures it; else nothing is known of it.
    pub measured: bool,
    /// Where least is needed, in percent; null where the blocks are too few for any claim.
    pub least_pct: Option<f64>,
    /// Where most is needed.
    pub most_pct: Option<f64>,
}

/// A plan for machines: the experiment as meant, and what it will be able to see.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plan<'a> {
    /// As a result has it as `experiment`.
    #[serde(flatten)]
    pub experiment: &'a Experiment,
    /// Expected duration of all runs, in ns.
    pub expected_ns: u64,
    /// Claims against the baseline, which share one level; 0 without a baseline.
    pub claims: u32,
    /// Minimum number of blocks with which any of them can be made; null without a baseline.
    pub least_blocks: Option<u32>,
    /// One for each driver of which cells are held against a baseline; none for duets.
    pub smallest_effect: &'a [Foresight],
}

impl<'a> Plan<'a> {
    /// Creates the plan of an experiment.
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
    /// One for each driver of which cells are held against a baseline; `outcome` is what its selftest found, on whatever host.
    /// None for duets: the runs of a selftest are made one after the other.
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
