//! Table of a ring: the time per hop, or per sample and hop, and the times and losses of each hop.

use experiment::Topology;
use results::{CellResult, Hop, Ring, Run, format_micros, kind_of_hop};
use stats::total;

use crate::{
    factor_columns::FactorColumns,
    layout::Grid,
    tables::{nothing, quantile_entries, quantile_spread, spread, unsupported},
};

/// Legend of the table.
pub(crate) const LEGEND: &str = "In a ring, node 1 sends a sample and waits until it has passed all nodes. RTT / N is the \
    round trip divided by the number of nodes; it includes the time that a node takes from the arrival of a sample to its \
    write. The rows below it are the one-way times of each hop, from the write at a node to the arrival at the next one. \
    Held is the number of write calls on a hop that timed out or were rejected, Reordered the number of samples that arrived \
    after one that was sent later.";
/// Legend of the table with several samples in flight.
pub(crate) const LEGEND_OF_PIPELINED: &str = "With several samples in flight, node 1 sends the next one each time one returns \
    or is lost. The time per sample and hop is the time of the measurement, divided by the number of samples that returned \
    in it and by the number of nodes. RTTs and one-way times include the time that samples wait for each other.";

/// Returns the number of nodes of a cell, if it is a ring.
pub(crate) const fn nodes(cell: &CellResult) -> Option<u16> {
    match cell.factors.topology {
        Topology::Ring { nodes } => Some(nodes),
        Topology::Mesh { .. } | Topology::FullMesh { .. } => None,
    }
}

/// Returns the table: for each cell a row of the whole ring, and a row for each hop.
pub(crate) fn table(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size"], cells);
    let mut grid = keys
        .grid()
        .left(["Hop"])
        .right(["Sent", "Lost", "Not passed on", "Held", "Reordered"])
        .spread(["Mean (µs)", "p50 (µs)", "p99 (µs)"]);
    for cell in cells {
        if rings(cell).next().is_none() {
            let mut row = keys.entries(cell);
            grid.fill(&mut row, nothing(cell));
            grid.row(row);
            continue;
        }
        for row in rows(cell) {
            grid.row(keys.entries(cell).into_iter().chain(row).collect());
        }
    }
    grid
}

/// Returns the rings of the valid runs.
fn rings(cell: &CellResult) -> impl Iterator<Item = &Ring> {
    cell.valid_runs().filter_map(Run::ring)
}

fn rows(cell: &CellResult) -> Vec<Vec<String>> {
    let name = |hop: &Hop| cell.flow_label(&hop.writer, &hop.reader);
    let names: Vec<String> =
        rings(cell).next().map_or_else(Vec::new, |ring| ring.hops.iter().map(name).collect());
    let nodes = names.len();
    let mut whole = vec![format!("RTT / {nodes}")];
    let of_all =
        |of: fn(&Hop) -> u64| total(rings(cell).flat_map(|ring| ring.hops.iter().map(of))).to_string();
    whole.extend([counted(cell, 0, |hop| hop.sent), of_all(|hop| hop.lost), of_all(|hop| hop.stopped)]);
    whole.extend([of_all(|hop| hop.held_writes), of_all(|hop| hop.out_of_order)]);
    if let Some([mean, spread]) = per_sample_hop(cell).filter(|_| cell.factors.is_pipelined()) {
        whole[0] = "per sample and hop".to_owned();
        // A mean has no quantiles.
        whole.extend([mean, spread, "-".to_owned(), String::new(), "-".to_owned(), String::new()]);
        return std::iter::once(whole).chain(of_hops(cell, names)).collect();
    }
    let per_hop = |ns: Option<f64>| ns.map_or_else(unsupported, |ns| format_micros(ns / nodes as f64));
    let rtt = cell.latency.get("rtt");
    whole.extend([
        per_hop(rtt.map(|rtt| rtt.mean_ns)),
        spread(cell, |run| Some(run.latency.get("rtt")?.mean_ns)),
        per_hop(rtt.and_then(|rtt| rtt.quantiles()[0])),
        quantile_spread(cell, 0, |run| run.latency.get("rtt")),
        // The 99 % quantile of a sum says nothing about its parts.
        "-".to_owned(),
        String::new(),
    ]);
    std::iter::once(whole).chain(of_hops(cell, names)).collect()
}

/// Returns the time per sample and hop of a ring, in µs, and its spread.
pub(crate) fn per_sample_hop(cell: &CellResult) -> Option<[String; 2]> {
    let of_run = |run: &Run| run.ring()?.per_sample_hop_ns;
    let values: Vec<f64> = cell.claimed_runs().filter_map(of_run).collect();
    Some([format_micros(stats::median(&values)?), spread(cell, of_run)])
}

/// Returns the rows of the hops.
fn of_hops(cell: &CellResult, names: Vec<String>) -> impl Iterator<Item = Vec<String>> {
    let hop = |(index, name): (usize, String)| {
        let kind = kind_of_hop(index);
        let of_run = |run: &'_ Run| run.latency.get(&kind).map(|times| times.mean_ns);
        let times = cell.latency.get(&kind);
        let mut row = vec![name];
        let counts: [fn(&Hop) -> u64; 5] = [
            |hop| hop.sent,
            |hop| hop.lost,
            |hop| hop.stopped,
            |hop| hop.held_writes,
            |hop| hop.out_of_order,
        ];
        row.extend(counts.map(|of| counted(cell, index, of)));
        row.push(times.map_or_else(unsupported, |times| format_micros(times.mean_ns)));
        row.push(spread(cell, of_run));
        row.extend([0, 2].into_iter().flat_map(|of| quantile_entries(cell, &kind, of)));
        row
    };
    names.into_iter().enumerate().map(hop)
}

/// Returns the sum of a count of one hop over the valid runs.
fn counted(cell: &CellResult, hop: usize, of: fn(&Hop) -> u64) -> String {
    total(rings(cell).filter_map(|ring| ring.hops.get(hop)).map(of)).to_string()
}
