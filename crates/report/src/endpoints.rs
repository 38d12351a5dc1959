//! Table of several readers or writers: the delivered rate of each, and how evenly they share.

use results::{CellResult, EndpointRecord, EndpointSpread, FlowRecord, ProcessRecord, Run, format_value};
use stats::median;

use crate::{factor_columns::FactorColumns, layout::Grid, tables::spread};

/// Maximum number of endpoints whose rates are listed one by one.
const LISTED: usize = 16;

/// Legend of the table.
pub(crate) const LEGEND: &str = "A reader's rate is that of all samples it received, a writer's that of its samples, as a mean over the \
    readers. Jain's index is 1 if all rates are equal, and 1/n if one of n has everything. Memory is that of a process, whatever the \
    number of endpoints in it.";

/// Readers or writers of a cell.
struct Kind {
    name: &'static str,
    of_run: fn(&Run) -> Option<&EndpointSpread>,
    of_flow: fn(&FlowRecord) -> &str,
}

const KINDS: [Kind; 2] = [
    Kind { name: "readers", of_run: |run| run.throughput()?.readers.as_ref(), of_flow: |flow| &flow.reader },
    Kind { name: "writers", of_run: |run| run.throughput()?.writers.as_ref(), of_flow: |flow| &flow.writer },
];

/// Returns the cells with several readers or several writers.
pub(crate) fn with_several<'d>(cells: &[&'d CellResult]) -> Vec<&'d CellResult> {
    let several = |cell: &&CellResult| {
        cell.throughput.as_ref().is_some_and(|rates| rates.readers.is_some() || rates.writers.is_some())
    };
    cells.iter().copied().filter(several).collect()
}

/// Returns the table, with a row for the readers and one for the writers of each cell.
pub(crate) fn endpoints(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size", "rate", "batch_bytes"], cells);
    let mut grid = keys
        .grid()
        .left([""])
        .spread(["Mean (samples/s)"])
        .left(["Slowest"])
        .right(["(samples/s)"])
        .left(["Fastest"])
        .right(["(samples/s)", "Jain's index", "Memory (MiB/process)"])
        .left(["Each (% of the mean)"]);
    for cell in cells {
        for kind in &KINDS {
            let of_cell = cell.throughput.as_ref().zip(match kind.name {
                "readers" => cell.throughput.as_ref().and_then(|rates| rates.readers.as_ref()),
                _ => cell.throughput.as_ref().and_then(|rates| rates.writers.as_ref()),
            });
            let Some((rates, ends)) = of_cell else { continue };
            // Of several writers, the readers receive the sum.
            let parts = if kind.name == "writers" { f64::from(ends.endpoints) } else { 1.0 };
            let mut row = keys.entries(cell);
            let shared = cell.factors.shared_process().filter(|_| kind.name == "writers");
            row.extend([
                format!("{} {}", ends.endpoints, kind.name)
                    + &shared.map_or_else(String::new, |text| format!(", {text}")),
                format_value(rates.delivered_sps / parts),
                spread(cell, |run| run.throughput().map(|rates| rates.delivered_sps)),
                cell.label(&ends.lowest),
                format_value(ends.lowest_sps),
                cell.label(&ends.highest),
                format_value(ends.highest_sps),
                format!("{:.3}", ends.fairness),
                memory(cell, kind).map_or_else(|| "n/a".to_owned(), format_value),
                each(cell, kind),
            ]);
            grid.row(row);
        }
    }
    grid
}

/// Returns the ids of the endpoints of a kind with a flow, in the order of the run.
fn ids<'r>(run: &'r Run, kind: &Kind) -> Vec<&'r EndpointRecord> {
    let has_flow =
        |endpoint: &&EndpointRecord| run.flows.iter().any(|flow| (kind.of_flow)(flow) == endpoint.id);
    run.endpoints.iter().filter(has_flow).collect()
}

/// Returns the median over the runs of the mean maximum memory of the processes with such endpoints, in MiB.
fn memory(cell: &CellResult, kind: &Kind) -> Option<f64> {
    let of_run = |run: &Run| {
        let endpoints = ids(run, kind);
        let has_one =
            |process: &&ProcessRecord| endpoints.iter().any(|endpoint| endpoint.process == process.number);
        let bytes: Vec<f64> = (run.processes.iter().filter(has_one))
            .filter_map(|process| Some(process.usage.peak_memory_bytes? as f64))
            .collect();
        (!bytes.is_empty()).then(|| bytes.iter().sum::<f64>() / bytes.len() as f64 / f64::from(1 << 20))
    };
    median(&cell.claimed_runs().filter_map(of_run).collect::<Vec<_>>())
}

/// Lists the rates of the endpoints in percent of their mean, as medians over the runs.
fn each(cell: &CellResult, kind: &Kind) -> String {
    let runs: Vec<Vec<f64>> = cell
        .claimed_runs()
        .filter(|run| (kind.of_run)(run).is_some())
        .map(|run| {
            let rates: Vec<u64> = ids(run, kind)
                .iter()
                .map(|endpoint| {
                    let own = run.flows.iter().filter(|flow| (kind.of_flow)(flow) == endpoint.id);
                    own.map(|flow| flow.delivered_in_time).sum()
                })
                .collect();
            let mean = rates.iter().sum::<u64>() as f64 / rates.len().max(1) as f64;
            rates.iter().map(|rate| 100.0 * *rate as f64 / mean.max(f64::MIN_POSITIVE)).collect()
        })
        .collect();
    let count = runs.first().map_or(0, Vec::len);
    if count > LISTED {
        return String::new();
    }
    let of = |index: usize| {
        let values: Vec<f64> = runs.iter().filter_map(|run| run.get(index).copied()).collect();
        median(&values).map_or_else(|| "n/a".to_owned(), |percent| format!("{percent:.0}"))
    };
    (0..count).map(of).collect::<Vec<_>>().join(" ")
}
