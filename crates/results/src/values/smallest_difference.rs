//! Differences that the scatter of a result's runs lets a comparison see.

use stats::{PowerSpec, ReferencedRun, Rules, least_runs, simultaneous_level, smallest_effect_referenced};

use crate::{
    schema::{Block, CellResult, ResultDocument, metric::Metric},
    values::claims::level_claims,
};

/// Smallest difference of a metric that a comparison of two results with such runs would detect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallestDifference {
    /// Metric.
    pub metric: Metric,
    /// Minimum and maximum over the cells, in percent. `None`: the cells have too few runs for any claim.
    pub pct: Option<[f64; 2]>,
}

/// Returns the smallest detectable difference of the main metric of each workload of a result, with the power of
/// [`Rules`], if all cells are compared with those of another result that has as many runs and scatters alike, on a host whose
/// reference does. A workload without values has no entry.
#[must_use]
pub fn smallest_differences(document: &ResultDocument) -> Vec<SmallestDifference> {
    let comparisons = level_claims(&document.experiment).len();
    let mut all: Vec<SmallestDifference> = Vec::new();
    for cell in &document.cells {
        let Some(metric) = crate::values::claims::metrics_of(&document.experiment, &cell.factors).next()
        else {
            continue;
        };
        let runs = referenced(document, cell, metric);
        if runs.is_empty() {
            continue;
        }
        let pct = of_runs(&runs, comparisons).map(|share| 100.0 * share);
        match all.iter_mut().find(|known| known.metric == metric) {
            // a cell with too few runs lets nothing be claimed about it
            Some(known) => {
                known.pct = known.pct.zip(pct).map(|([least, most], pct)| [least.min(pct), most.max(pct)]);
            }
            None => all.push(SmallestDifference { metric, pct: pct.map(|pct| [pct, pct]) }),
        }
    }
    all
}

/// Returns the values of the claimed runs of a cell, each with the reference values with which a comparison takes it.
fn referenced(document: &ResultDocument, cell: &CellResult, metric: Metric) -> Vec<ReferencedRun> {
    let runs: Vec<_> = cell.claimed_runs().filter_map(|run| Some((run, run.value(metric)?))).collect();
    let block = |number: u32| document.blocks.iter().find(|block| block.number == number);
    let is_noisy = |number: u32| block(number).is_some_and(|block: &Block| block.noisy);
    let quiet = runs.iter().filter(|(run, _)| !is_noisy(run.block)).count();
    let few_are_quiet = quiet < runs.len() && quiet < least_runs(Rules::DEFAULT.level);
    let own = metric.references(false)[0];
    let value_of = |number: u32, metric| block(number).and_then(|block| block.reference(metric));
    let metrics = match runs.iter().any(|(run, _)| value_of(run.block, own).is_some()) {
        true => metric.references(few_are_quiet),
        false => &[],
    };
    let references = |number| metrics.iter().map(|metric| value_of(number, *metric).unwrap_or(0.0)).collect();
    let run = |(run, value): (&crate::schema::Run, f64)| ReferencedRun {
        run: stats::Run { value, steady: true },
        references: references(run.block),
    };
    runs.into_iter().map(run).collect()
}

fn of_runs(runs: &[ReferencedRun], comparisons: usize) -> Option<f64> {
    let Rules { level, power, .. } = Rules::DEFAULT;
    smallest_effect_referenced(runs, &PowerSpec { level, power, comparisons })
}

/// Returns the minimum number of valid runs of each cell with which a comparison of all cells of two results can support a
/// claim.
#[must_use]
pub fn least_runs_for_claims(document: &ResultDocument) -> usize {
    let comparisons = level_claims(&document.experiment).len().max(1);
    least_runs(simultaneous_level(Rules::DEFAULT.level, comparisons))
}
