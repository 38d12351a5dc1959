//! Tables of a late join: what the late reader got, and what its joining cost the other readers.

use results::{CellResult, JoinCost, LateFlow, LateJoinRecord, format_micros, format_value};
use stats::{median, total};

use crate::{factor_columns::FactorColumns, layout::Grid, tables::unsupported};

/// Legend of the tables.
pub(crate) const LEGEND: &str = "The late reader is opened after a third of the measurement. It has joined when it and all writers are \
    matched. Times are from when its opening begins, medians over the valid runs; counts are sums over them. Caught up is the \
    arrival of the last sample that was written before it had joined; missed samples of that time are no losses. Around the join \
    is the second third of the measurement. All other values of these cells are those of the other readers.";

/// Returns the cells with a late reader.
pub(crate) fn with_late<'d>(cells: &[&'d CellResult]) -> Vec<&'d CellResult> {
    cells.iter().copied().filter(|cell| joins(cell).next().is_some()).collect()
}

fn joins(cell: &CellResult) -> impl Iterator<Item = &LateJoinRecord> {
    cell.valid_runs().filter_map(|run| run.late_join.as_ref())
}

/// Returns the median of a time over the runs, in ms.
fn time(cell: &CellResult, of: fn(&LateJoinRecord) -> Option<u64>) -> String {
    let values: Vec<f64> = joins(cell).filter_map(of).map(|ns| ns as f64 / 1e6).collect();
    median(&values).map_or_else(|| "never".to_owned(), format_value)
}

/// Returns the sum of a count over the runs and flows.
fn count(cell: &CellResult, of: fn(&LateFlow) -> u64) -> String {
    total(joins(cell).flat_map(|join| &join.flows).map(of)).to_string()
}

/// Returns the table of the late readers.
pub(crate) fn late(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size", "rate", "batch_bytes"], cells);
    let mut grid = keys.grid().left(["Late reader"]).right([
        "Opened (ms)",
        "Joined (ms)",
        "First sample (ms)",
        "Caught up (ms)",
        "Written before (samples)",
        "Got of these (samples)",
        "Missed (samples)",
        "Written since (samples)",
        "Lost since (samples)",
    ]);
    for cell in cells {
        let mut row = keys.entries(cell);
        row.push(joins(cell).next().map_or_else(unsupported, |join| cell.label(&join.reader)));
        row.extend([
            time(cell, |join| Some(join.opened_ns)),
            time(cell, |join| Some(join.joined_ns)),
            time(cell, |join| join.first_sample_ns),
            time(cell, |join| join.caught_up_ns),
            count(cell, |flow| flow.before),
            count(cell, |flow| flow.before_delivered),
            count(cell, LateFlow::missed),
            count(cell, |flow| flow.counted.sent),
            count(cell, |flow| flow.counted.lost),
        ]);
        grid.row(row);
    }
    grid
}

/// Returns the table of the other readers: a row for each reader and period.
pub(crate) fn others(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&["size", "rate", "batch_bytes"], cells);
    let mut grid = keys.grid().left(["Reader"]);
    for heading in ["Longest gap (ms)", "Delivered (samples/s)", "p99 service (µs)"] {
        for period in ["before", "around", "after"] {
            grid = grid.right([format!("{period}: {heading}")]);
        }
    }
    grid = grid.right(["Lost (samples)"]);
    for cell in cells {
        for reader in readers(cell) {
            let mut row = keys.entries(cell);
            row.push(cell.label(reader));
            let highest = |costs: &[&JoinCost], of: &dyn Fn(&JoinCost) -> Option<f64>| {
                costs.iter().filter_map(|cost| of(cost)).max_by(f64::total_cmp)
            };
            let sum = |costs: &[&JoinCost], of: &dyn Fn(&JoinCost) -> Option<f64>| {
                Some(costs.iter().filter_map(|cost| of(cost)).sum())
            };
            for period in 0..3 {
                let gap = over_runs(cell, reader, |costs| {
                    highest(costs, &|cost| Some(cost.longest_gap_ns[period] as f64 / 1e6))
                });
                row.push(gap.map_or_else(unsupported, format_value));
            }
            for period in 0..3 {
                let rate =
                    over_runs(cell, reader, |costs| sum(costs, &|cost| Some(cost.delivered_sps[period])));
                row.push(rate.map_or_else(unsupported, format_value));
            }
            for period in 0..3 {
                let p99 = over_runs(cell, reader, |costs| {
                    highest(costs, &|cost| Some(cost.service_p99_ns?[period]))
                });
                row.push(p99.map_or_else(unsupported, format_micros));
            }
            let flows = cell.valid_runs().flat_map(|run| &run.flows).filter(|flow| flow.reader == *reader);
            row.push(total(flows.map(|flow| flow.counted.lost)).to_string());
            grid.row(row);
        }
    }
    grid
}

/// Returns the other readers of a cell.
fn readers(cell: &CellResult) -> Vec<&String> {
    let mut readers: Vec<&String> =
        joins(cell).flat_map(|join| &join.others).map(|cost| &cost.reader).collect();
    readers.sort();
    readers.dedup();
    readers
}

/// Returns the median over the runs of a value of all flows of a reader.
fn over_runs(cell: &CellResult, reader: &str, value: impl Fn(&[&JoinCost]) -> Option<f64>) -> Option<f64> {
    let of_run = |join: &LateJoinRecord| {
        let costs: Vec<&JoinCost> = join.others.iter().filter(|cost| cost.reader == reader).collect();
        value(&costs)
    };
    median(&joins(cell).filter_map(of_run).collect::<Vec<_>>())
}
