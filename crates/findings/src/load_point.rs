//! Points of a curve over loads, and how a load is called.

use experiment::{Factors, PercentOfMax, Rate};
use results::{CellResult, Run};

use crate::{LATE_PCT, curves::Point, format::list};

impl Point<'_> {
    /// Formats the load.
    pub fn load(&self) -> String {
        in_words(self.cell)
    }

    /// Returns the offered load in samples/s.
    pub fn sps(&self) -> f64 {
        sps(self.cell)
    }

    /// Returns the load in percent of the maximum as a number with this name, if it is planned in percent.
    pub fn percent(&self, name: &str) -> Option<(String, f64)> {
        Some((format!("{name}_of_maximum_pct"), share(self.cell)?.percent()))
    }
}

/// Formats a sentence about the loads at which runs lie on both sides; empty if there are none.
pub(crate) fn on_both_sides(points: &[Point<'_>]) -> String {
    let loads: Vec<String> = points.iter().map(Point::load).collect();
    match loads.len() {
        0 => String::new(),
        _ => format!(" At {} the runs lie on both sides.", list(&loads)),
    }
}

/// Returns accepted samples as a share of planned samples.
pub(crate) fn accepted_share(run: &Run) -> Option<f64> {
    let planned = run.paced()?.planned_sps.filter(|planned| *planned > 0.0)?;
    Some(run.throughput()?.accepted_sps / planned)
}

/// Returns the samples that arrived after the end of the writing, in percent of the delivered ones. A single one says nothing: it
/// was on its way.
pub(crate) fn late_pct(run: &Run) -> Option<f64> {
    let throughput = run.throughput()?;
    let late = throughput.tail.samples;
    Some(if late > 1 { 100.0 * late as f64 / throughput.delivered.max(late) as f64 } else { 0.0 })
}

/// Returns the samples that were accepted and, where a queue before the link filled, delivered in time, as a share of planned
/// samples.
pub(crate) fn achieved_share(run: &Run) -> Option<f64> {
    let late = late_pct(run).filter(|late| *late > LATE_PCT).unwrap_or(0.0);
    Some(accepted_share(run)? * (1.0 - late / 100.0))
}

fn share(cell: &CellResult) -> Option<PercentOfMax> {
    cell.factors.load.as_ref()?.share()
}

fn rate(cell: &CellResult) -> Option<Rate> {
    cell.factors.load.as_ref()?.rate()
}

/// Returns the planned load of a cell in samples/s; 0 without a rate.
pub(crate) fn sps(cell: &CellResult) -> f64 {
    rate(cell).map_or(0.0, Rate::sps)
}

/// Formats a load in samples/s, as in the tables, and, if it is planned so, in percent of the maximum.
pub(crate) fn in_words(cell: &CellResult) -> String {
    let of_maximum =
        share(cell).map_or_else(String::new, |share| format!(" ({} % of the maximum)", share.percent()));
    let rate = rate(cell).map_or_else(String::new, |rate| rate.to_string());
    format!("{rate}{of_maximum}")
}

/// Formats the batching, to be appended to other text; empty without batching.
pub(crate) fn batch_in_words(factors: &Factors) -> String {
    match factors.batch_bytes {
        0 => String::new(),
        bytes if factors.batching.is_turbo() => {
            format!(" with {} batches up to {bytes} bytes", factors.batching)
        }
        bytes => format!(" batched up to {bytes} bytes per flush"),
    }
}
