//! Table of the frames on the links of a lab.

use results::{CellResult, LinkFrames, format_value};
use stats::median;

use crate::{
    factor_columns::FactorColumns,
    layout::{Align, Grid, wrap},
    tables::unsupported,
};

const TITLE: &str = "Links: frames per run, of all hosts and programs";
const LEGEND: &str = "Frames are medians over the valid runs, counted while the agents of a run exist. A datagram above the MTU is several \
    frames. Lost are those that the loss of the links dropped; a full queue drops what comes faster than the rate of the link.";

/// Returns the section with the frames on the links of these cells; empty if no frame was dropped.
pub(crate) fn section(cells: &[&CellResult], width: usize) -> String {
    let is_shown = |cell: &&&CellResult| frames(cell).any(LinkFrames::has_drops);
    let shown: Vec<&CellResult> = cells.iter().filter(is_shown).copied().collect();
    if shown.is_empty() {
        return String::new();
    }
    format!("\n{TITLE}\n{}{}", table(&shown).render(), wrap(LEGEND, width, 2))
}

fn frames(cell: &CellResult) -> impl Iterator<Item = &LinkFrames> {
    cell.valid_runs().filter_map(|run| run.link.as_ref()?.frames.as_ref())
}

fn table(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size", "rate", "batch_bytes"], cells);
    let mut grid = keys
        .headed(Grid::default().units_below())
        .column("Workload", Align::Left)
        .column("Sent (frames)", Align::Right)
        .column("Lost (frames)", Align::Right)
        .column("%", Align::Close)
        .column("Dropped at queues (frames)", Align::Right)
        .column("Dropped at interfaces (frames)", Align::Right);
    for cell in cells {
        let of_runs = |of: fn(&LinkFrames) -> f64| median(&frames(cell).map(of).collect::<Vec<f64>>());
        let number = |of| of_runs(of).map_or_else(unsupported, |frames| format!("{frames:.0}"));
        let lost_pct = of_runs(|frames| 100.0 * frames.lost as f64 / (frames.sent as f64).max(1.0));
        let mut row = keys.entries(cell);
        row.extend([
            cell.factors.workload.to_string(),
            number(|frames| frames.sent as f64),
            number(|frames| frames.lost as f64),
            lost_pct.map_or_else(unsupported, format_value),
            number(|frames| frames.queue_drops as f64),
            number(|frames| frames.interface_drops as f64),
        ]);
        grid.row(row);
    }
    grid
}
