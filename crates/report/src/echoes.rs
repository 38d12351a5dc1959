//! Table of the round trips of each endpoint that echoes, and of the last echo of each ping.

use results::{CellResult, Latency, Run, format_micros};
use stats::{median, total};

use crate::{
    factor_columns::FactorColumns,
    layout::Grid,
    tables::{quantile_spread, spread, unsupported},
};

/// Row of the last echo of each ping.
const LAST: &str = "last echo";
/// Quantiles that the table has: heading and index.
const SHOWN: [(&str, usize); 2] = [("p50 (µs)", 0), ("p99 (µs)", 2)];

/// Returns the endpoints that echo in a cell in which several do, by id.
pub(crate) fn endpoints(cell: &CellResult) -> Vec<&str> {
    let echoing = |run: &Run| run.flows.iter().filter(|flow| flow.latency.contains_key("rtt")).count();
    let run = cell.valid_runs().find(|run| echoing(run) > 1);
    let flows = run.into_iter().flat_map(|run| &run.flows);
    flows.filter(|flow| flow.latency.contains_key("rtt")).map(|flow| flow.reader.as_str()).collect()
}

/// Returns the table of cells in which several endpoints echo.
pub(crate) fn round_trips(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size"], cells);
    let mut grid = keys
        .grid()
        .left(["Echo"])
        .right(["Sent", "Lost"])
        .spread(["Mean (µs)"])
        .spread(SHOWN.map(|(heading, _)| heading));
    for cell in cells {
        for id in endpoints(cell) {
            let counted = || {
                let flows = cell.valid_runs().flat_map(|run| &run.flows);
                flows.filter(|flow| flow.reader == id).map(|flow| &flow.counted)
            };
            let mut row = keys.entries(cell);
            row.push(cell.label(id));
            row.push(total(counted().map(|counted| counted.sent)).to_string());
            row.push(total(counted().map(|counted| counted.lost)).to_string());
            row.extend(times(cell, |run| {
                run.flows.iter().find(|flow| flow.reader == id)?.latency.get("rtt")
            }));
            grid.row(row);
        }
        let mut row = keys.entries(cell);
        row.extend([LAST.to_owned(), String::new(), String::new()]);
        row.extend(times(cell, |run| run.latency.get("rtt_last")));
        grid.row(row);
    }
    grid
}

/// Returns the entries of times: of each, the median over the runs.
fn times(cell: &CellResult, of: impl Fn(&Run) -> Option<&Latency> + Copy) -> Vec<String> {
    let over_runs = |value: &dyn Fn(&Latency) -> Option<f64>| {
        let values: Vec<f64> = cell.claimed_runs().filter_map(of).filter_map(value).collect();
        median(&values).map_or_else(unsupported, format_micros)
    };
    let mut entries =
        vec![over_runs(&|latency| Some(latency.mean_ns)), spread(cell, |run| Some(of(run)?.mean_ns))];
    for (_, index) in SHOWN {
        entries.push(over_runs(&|latency| latency.quantiles()[index].map(|ns| ns as f64)));
        entries.push(quantile_spread(cell, index, of));
    }
    entries
}
