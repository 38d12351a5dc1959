//! Computation of minimum detectable effects from the selftests of the host.

use std::collections::BTreeSet;

use experiment::{Plan, Workload};

use crate::{
    schema::{
        DetectableEffects, DryRunReport, MinDetectableEffect,
        host::Host,
        metric::Metric,
        selftest::{Resolution, SelfTest},
    },
    values::{
        claims::{Claim, comparison_claims, least_blocks},
        selftest::POWER,
    },
};

impl<'a> DryRunReport<'a> {
    /// Creates the dry-run output of an experiment.
    #[must_use]
    pub fn new(experiment: &'a Plan, smallest_effect: &'a [DetectableEffects]) -> Self {
        let compared = !experiment.design.baseline.is_empty();
        Self {
            experiment,
            expected_ns: experiment.expected_ns(),
            claims: comparison_claims(experiment).len() as u32,
            least_blocks: compared.then(|| least_blocks(experiment)),
            smallest_effect,
            offered: experiment.offered_loads(),
        }
    }
}

impl DetectableEffects {
    /// Returns one entry for each driver whose cells are compared with a baseline. `outcome` returns the selftest
    /// of a driver, of any host. Empty for duets, because the runs of a selftest are executed one after the other.
    #[must_use]
    pub fn predict(experiment: &Plan, host: &Host, outcome: &dyn Fn(&str) -> Option<SelfTest>) -> Vec<Self> {
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
                let same = |found: &Resolution| found.workload == workload && found.metric == metric;
                MinDetectableEffect {
                    metric,
                    measured: outcome.metrics.iter().any(same),
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
        let detectable_effects = |driver: &str| {
            let outcome = outcome(driver).filter(|outcome| outcome.is_of(host));
            Self {
                driver: driver.to_owned(),
                selftest_unix_ns: outcome.as_ref().map(|outcome| outcome.host.started_unix_ns),
                comparisons: comparisons as u32,
                power_pct: 100.0 * POWER,
                effects: outcome.map(|outcome| effects(driver, &outcome)).unwrap_or_default(),
            }
        };
        drivers.into_iter().map(detectable_effects).collect()
    }
}
