//! Table of the frames on the links of a lab.

use results::{CellResult, LinkFrames, LinkLateness, LinkRecord, format_value};
use stats::median;

use crate::{
    factor_columns::FactorColumns,
    layout::{Grid, wrap},
    tables::unsupported,
};

const TITLE: &str = "Links: frames per run, of all hosts and programs";
const LEGEND: &str = "Frames are medians over the valid runs, counted while the agents of a run exist. A datagram above the MTU is several \
    frames. Lost are those that the loss of the links dropped; a full queue drops what comes faster than the rate of the link. The \
    switch of the lab sends each frame late by some time, which every time over the links contains: median and 99 % of the frames.";

/// Returns the section with the frames on the links of these cells; empty if none was dropped or sent late.
pub(crate) fn section(cells: &[&CellResult], width: usize) -> String {
    let Some(grid) = shown(cells) else { return String::new() };
    format!("\n{TITLE}\n{}{}", grid.render(), wrap(LEGEND, width, 2))
}

/// Returns the table of the frames on the links of these cells; `None` if none was dropped or sent late.
pub(crate) fn shown(cells: &[&CellResult]) -> Option<Grid> {
    let is_shown =
        |cell: &&&CellResult| frames(cell).any(LinkFrames::has_drops) || lateness(cell).next().is_some();
    let shown: Vec<&CellResult> = cells.iter().filter(is_shown).copied().collect();
    (!shown.is_empty()).then(|| table(&shown))
}

fn links(cell: &CellResult) -> impl Iterator<Item = &LinkRecord> {
    cell.valid_runs().filter_map(|run| run.link.as_ref())
}

fn frames(cell: &CellResult) -> impl Iterator<Item = &LinkFrames> {
    links(cell).filter_map(|link| link.frames.as_ref())
}

fn lateness(cell: &CellResult) -> impl Iterator<Item = &LinkLateness> {
    links(cell).filter_map(|link| link.lateness.as_ref())
}

fn table(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size", "rate", "batch_bytes"], cells);
    let mut grid =
        keys.grid().left(["Workload"]).right(["Sent (frames)", "Lost (frames)"]).close("%").right([
            "Dropped at queues (frames)",
            "Dropped at interfaces (frames)",
            "Late p50 (µs)",
            "Late p99 (µs)",
        ]);
    for cell in cells {
        let of_runs = |of: fn(&LinkFrames) -> f64| median(&frames(cell).map(of).collect::<Vec<f64>>());
        let number = |of| of_runs(of).map_or_else(unsupported, |frames| format!("{frames:.0}"));
        let late = |of: fn(&LinkLateness) -> Option<u64>| {
            let of_runs: Vec<f64> = lateness(cell).filter_map(of).map(|ns| ns as f64 / 1e3).collect();
            median(&of_runs).map_or_else(unsupported, format_value)
        };
        let lost_pct = of_runs(|frames| 100.0 * frames.lost as f64 / (frames.sent as f64).max(1.0));
        let mut row = keys.entries(cell);
        row.extend([
            cell.factors.workload.to_string(),
            number(|frames| frames.sent as f64),
            number(|frames| frames.lost as f64),
            lost_pct.map_or_else(unsupported, format_value),
            number(|frames| frames.queue_drops as f64),
            number(|frames| frames.interface_drops as f64),
            late(|lateness| Some(lateness.p50_ns)),
            late(|lateness| lateness.p99_ns),
        ]);
        grid.row(row);
    }
    grid
}
