//! Families of claims of a plan.
//!
//! One definition for the planner, the dry run, the number of blocks and the verdicts. A family depends on the plan
//! only: a claim without a value, or a withheld claim, still counts, so that failures do not relax the level of the
//! other claims.

use std::collections::BTreeSet;

use experiment::{Cell, Factors, Plan};
use stats::{Rules, simultaneous_level};

use crate::schema::metric::Metric;

/// Claim: a metric of a cell, compared with its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim<'e> {
    /// Cell that is compared.
    pub cell: &'e Cell,
    /// Baseline of the cell; for the noise floor, the cell itself.
    pub baseline: &'e Cell,
    /// Compared metric.
    pub metric: Metric,
    /// Name of the flow, if each of several flows has its own value.
    pub flow: Option<&'e str>,
}

/// Returns the claims of a plan with a baseline: one for each metric, flow and compared cell. They share one level.
#[must_use]
pub fn comparison_claims(experiment: &Plan) -> Vec<Claim<'_>> {
    let pairs = experiment.comparisons();
    pairs.into_iter().flat_map(|(cell, baseline)| of_pair(experiment, cell, baseline)).collect()
}

/// Returns the claims that a baseline cell differs from itself (A/A): a separate family.
#[must_use]
pub fn noise_floor_claims(experiment: &Plan) -> Vec<Claim<'_>> {
    let cells = experiment.cells.iter().filter(|cell| experiment.is_baseline(&cell.id));
    cells.flat_map(|cell| of_pair(experiment, cell, cell)).collect()
}

/// Returns the claims about the level of each cell, for plans without a baseline: each cell is its own baseline.
#[must_use]
pub fn level_claims(experiment: &Plan) -> Vec<Claim<'_>> {
    experiment.cells.iter().flat_map(|cell| of_pair(experiment, cell, cell)).collect()
}

/// Returns the minimum number of blocks with which each family of a plan with a baseline can support a claim.
#[must_use]
pub fn least_blocks(experiment: &Plan) -> u32 {
    let families = [comparison_claims(experiment).len(), noise_floor_claims(experiment).len()];
    let level = simultaneous_level(Rules::DEFAULT.level, families.into_iter().max().unwrap_or(1));
    stats::least_blocks(level) as u32
}

fn of_pair<'e>(
    experiment: &'e Plan,
    cell: &'e Cell,
    baseline: &'e Cell,
) -> impl Iterator<Item = Claim<'e>> + use<'e> {
    let metrics = metrics_of(experiment, &cell.factors);
    metrics.flat_map(move |metric| {
        flows_of(&cell.factors, metric).into_iter().map(move |flow| Claim { cell, baseline, metric, flow })
    })
}

/// Returns the metrics of a plan's claims about a cell: those of its workload; for a search, those of its goals.
pub fn metrics_of(experiment: &Plan, factors: &Factors) -> impl Iterator<Item = Metric> + use<> {
    let aims: Vec<_> =
        experiment.search.iter().flat_map(|search| &search.goals).map(|goal| goal.aim).collect();
    let is_planned = move |metric: &Metric| metric.aim().is_none_or(|aim| aims.contains(&aim));
    Metric::claims(factors).iter().copied().filter(is_planned)
}

/// Returns the names of the flows, or groups of equal flows, that have their own value, or `None` for the value of the whole cell.
/// If flows have their own values, the total is not claimed.
#[must_use]
pub fn flows_of(factors: &Factors, metric: Metric) -> Vec<Option<&str>> {
    if factors.flows.len() < 2 || !metric.is_of_flows() {
        return vec![None];
    }
    let names = factors.flows.iter().map(|flow| flow.group.as_ref().unwrap_or(&flow.name).as_str());
    let mut known = BTreeSet::new();
    names.filter(|name| known.insert(*name)).map(Some).collect()
}
