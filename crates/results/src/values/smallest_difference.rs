//! Differences that the scatter of a result's runs lets a comparison see.

use stats::{PowerSpec, Rules, least_runs, sample_sd, simultaneous_level, smallest_effect_apart};

use crate::{Metric, ResultDocument, level_claims};

/// Smallest difference of a metric that a comparison of two results with such runs would detect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallestDifference {
    /// Metric.
    pub metric: Metric,
    /// Minimum and maximum over the cells, in percent. `None`: the cells have too few runs for any claim.
    pub pct: Option<[f64; 2]>,
}

/// Returns the smallest detectable difference of the main metric of each workload of a result, with the power of
/// [`Rules`], if all cells are compared with those of another result that has as many runs and scatters alike. A workload without
/// values has no entry.
#[must_use]
pub fn smallest_differences(document: &ResultDocument) -> Vec<SmallestDifference> {
    let comparisons = level_claims(&document.experiment).len();
    let mut all: Vec<SmallestDifference> = Vec::new();
    for cell in &document.cells {
        let Some(metric) = crate::metrics_of(&document.experiment, &cell.factors).next() else { continue };
        let values: Vec<f64> = cell.claimed_runs().filter_map(|run| run.value(metric)).map(f64::ln).collect();
        if values.is_empty() {
            continue;
        }
        let pct = of_logs(&values, comparisons).map(|share| 100.0 * share);
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

fn of_logs(values: &[f64], comparisons: usize) -> Option<f64> {
    let Rules { level, power, .. } = Rules::DEFAULT;
    let spec = PowerSpec { level, power, comparisons };
    smallest_effect_apart((values.len(), values.len()), sample_sd(values)?, &spec)
}

/// Returns the minimum number of valid runs of each cell with which a comparison of all cells of two results can support a
/// claim.
#[must_use]
pub fn least_runs_for_claims(document: &ResultDocument) -> usize {
    let comparisons = level_claims(&document.experiment).len().max(1);
    least_runs(simultaneous_level(Rules::DEFAULT.level, comparisons))
}
