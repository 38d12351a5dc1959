//! Tables of paced cells: rates, times and costs.

use std::{cmp::Ordering, collections::BTreeSet};

use experiment::{Factors, Flow, Load, Rate};
use results::{
    CellLatency, CellResult, DeliveryCounts, ProbeStats, Run, Throughput, format_micros, format_value,
};

use crate::{
    factor_columns::FactorColumns,
    flow_values::{self, FlowPosition, FlowRow, FlowValues, measured, of_run},
    layout::Grid,
    number::duration,
    tables::{
        cpu, grouped, has_tail, lost_spread, nothing, per_take, quantile, quantile_entries, quantile_spread,
        spread, tail_ms, unsupported,
    },
};

/// Mark of a row whose response times the sender determines.
pub(crate) const SENDER_LIMITED: &str = "sender-limited";
/// Mark of a row whose writer is under back-pressure.
pub(crate) const BACK_PRESSURE: &str = "back-pressure";
/// Placeholder for a value that the load does not have.
const NONE: &str = "-";

/// Column of a latency: heading, kind, and index of the quantile.
type LatencyColumn = (&'static str, &'static str, usize);
const LATENCIES: [LatencyColumn; 6] = [
    ("Response p50 (µs)", "response", 0),
    ("p90 (µs)", "response", 1),
    ("p99 (µs)", "response", 2),
    ("p99.9 (µs)", "response", 3),
    ("Service p50 (µs)", "service", 0),
    ("Send lag p99 (µs)", "send_lag", 2),
];
/// Quantiles whose range over the runs is shown: the median and p99.
const SPREAD: [usize; 2] = [0, 2];

/// Columns of echo probes: heading, and index of the quantile.
const RTT: [(&str, usize); 2] = [("RTT p50 (µs)", 0), ("p99 (µs)", 2)];

/// Optional columns: shown if a cell has the value.
#[derive(Clone, Copy)]
struct ShownColumns {
    batches: bool,
    probes: bool,
    groups: bool,
}

impl ShownColumns {
    fn from_cells(cells: &[&CellResult]) -> Self {
        let throughput = || cells.iter().filter_map(|cell| cell.throughput.as_ref());
        Self {
            batches: throughput().any(|throughput| throughput.batches.is_some()),
            probes: throughput().any(|throughput| throughput.probes.is_some()),
            groups: cells.iter().any(|cell| grouped(cell)),
        }
    }
}

/// Returns the legend of optional columns.
pub(crate) fn notes(cells: &[CellResult], await_echo: bool) -> Vec<String> {
    let shown = ShownColumns::from_cells(&cells.iter().collect::<Vec<_>>());
    let batches = shown.batches.then(|| {
        "Samples/flush is the number of samples of a batch when ddsmark flushes it: mean and maximum. In turbo mode a \
         sample waits only if the next one is already due."
            .to_owned()
    });
    let mut all = cells.iter().filter_map(|cell| cell.throughput.as_ref()?.probes.as_ref());
    let distances: BTreeSet<u64> = all.clone().map(|probes| probes.every).collect();
    let probes = distances.first().zip(distances.last()).map(|(first, last)| {
        let is_of_several =
            |probes: &&ProbeStats| (&*probes.writer, &*probes.reader) != ("writer", "reader");
        let of = match all.find(is_of_several) {
            Some(ProbeStats { writer, reader, .. }) => format!(" of {writer}, echoed by {reader}"),
            None => String::new(),
        };
        let every = if first == last { first.to_string() } else { format!("{first} to {last}") };
        let waits = if await_echo { " The writer waits for the echo of each." } else { "" };
        format!(
            "The RTT under load is that of echo probes, one sample in {every}{of}: from the start of the write call to the \
             arrival of the echo.{waits}"
        )
    });
    batches.into_iter().chain(probes).collect()
}

/// Returns a table with the columns of [`key`].
fn keyed(cells: &[&CellResult]) -> Grid {
    let grid = Grid::default().units_below().right(["Size (B)", "Batch (B)"]);
    FactorColumns::new(&[], cells).headed(grid).left([""]).right(["Load"])
}

/// Fills a table by ascending size, batch and load; `max` is last. A cell with several flows has a row per flow, and one whose writers
/// have different loads a row per writer. `row` returns the values; `None` without any.
fn filled(
    mut grid: Grid,
    cells: &[&CellResult],
    row: impl Fn(&CellResult, &Flow, FlowPosition) -> Option<Vec<String>>,
) -> Grid {
    let more = FactorColumns::new(&[], cells);
    for cell in sorted(cells) {
        for of in flow_values::rows(cell) {
            let mut line = key(cell, &more, &of);
            match row(cell, &of.flow, of.position) {
                Some(values) => line.extend(values),
                None => grid.fill(&mut line, nothing(cell)),
            }
            grid.row(line);
        }
    }
    grid
}

/// Returns the table of load, accepted and delivered rates.
pub(crate) fn rates(cells: &[&CellResult]) -> Grid {
    let tails = cells.iter().any(|cell| has_tail(cell));
    let mut grid = keyed(cells)
        .spread(["Accepted (samples/s)", "Delivered (samples/s)"])
        .right(["Delivered (samples)", "Missing (%)"])
        .close("± pp")
        .right(["Late (%)", "Jitter (µs)", "Out of order (samples)"]);
    if tails {
        grid = grid.right(["Tail (samples)"]).close("(ms)");
    }
    filled(grid, cells, |cell, flow, position| {
        let (record, throughput) = measured(cell, position)?;
        // all flows are written in the same time
        let accepted = |counted: &DeliveryCounts, throughput: &Throughput| {
            throughput.accepted_sps * share(counted.sent, throughput.sent)
        };
        let (delivered, delivered_spread) = delivered(cell, position);
        let mut row = vec![
            format_value(accepted(&record.counted, throughput)),
            spread(cell, |run| Some(accepted(&of_run(run, position)?.counted, run.throughput()?))),
            format_value(delivered),
            delivered_spread,
            record.counted.delivered.to_string(),
            format_value(record.shortfall.pct()),
            if position.flows == 1 { lost_spread(cell) } else { String::new() },
            late(&record),
            jitter(record.latency.get("response").filter(|_| flow.load.has_times())),
            record.counted.out_of_order.to_string(),
        ];
        if tails {
            let late = record.counted.delivered.saturating_sub(record.delivered_in_time);
            row.push(late.to_string());
            row.push(if position.is_first() { tail_ms(throughput) } else { String::new() });
        }
        Some(row)
    })
}

/// Returns the delivered samples/s of a flow, and their formatted half-range over the runs.
pub(crate) fn delivered(cell: &CellResult, position: FlowPosition) -> (f64, String) {
    // all flows are written in the same time
    let of = |in_time: u64, throughput: &Throughput| {
        throughput.delivered_sps * share(in_time, throughput.delivered_in_time)
    };
    let sps = measured(cell, position).map_or(0.0, |(record, all)| of(record.delivered_in_time, all));
    let spread = spread(cell, |run| Some(of(of_run(run, position)?.delivered_in_time, run.throughput()?)));
    (sps, spread)
}

/// Returns the table of latencies.
pub(crate) fn times(cells: &[&CellResult]) -> Grid {
    let mut grid = keyed(cells);
    for (heading, _, index) in LATENCIES {
        grid = grid.right([heading]);
        if SPREAD.contains(&index) {
            grid = grid.close("± %");
        }
    }
    let grid = grid.right(["max (µs)"]).left([""]);
    filled(grid, cells, |cell, flow, position| {
        let (record, _) = measured(cell, position)?;
        let mut row = Vec::new();
        for (_, kind, index) in LATENCIES {
            let has_not = !flow.load.has_times() && kind != "service";
            let text =
                || record.latency.get(kind).map_or_else(unsupported, |latency| quantile(latency, index));
            row.push(if has_not { NONE.to_owned() } else { text() });
            if SPREAD.contains(&index) {
                row.push(quantile_spread(cell, index, |run| of_run(run, position)?.latency.get(kind)));
            }
        }
        let response = record.latency.get("response").filter(|_| flow.load.has_times());
        row.push(longest(response));
        row.push(if position.is_first() { flag(cell) } else { String::new() });
        Some(row)
    })
}

/// Formats the standard deviation of the response times.
fn jitter(response: Option<&CellLatency>) -> String {
    response.map_or_else(|| NONE.to_owned(), |response| format_micros(response.sd_ns))
}

/// Formats the share of late samples.
pub(crate) fn late(record: &FlowValues<'_, CellLatency>) -> String {
    record.late_pct().map_or_else(|| NONE.to_owned(), format_value)
}

/// Formats the longest response time over all runs.
pub(crate) fn longest(response: Option<&CellLatency>) -> String {
    response.map_or_else(|| NONE.to_owned(), |response| format_micros(response.max_ns as f64))
}

/// Returns the table of costs and round trips.
pub(crate) fn costs(cells: &[&CellResult]) -> Grid {
    let shown = ShownColumns::from_cells(cells);
    let mut grid = keyed(cells);
    if shown.batches {
        grid = grid.right(["Samples/flush"]);
    }
    if shown.groups {
        grid = grid.right(["Samples/take"]);
    }
    for (heading, _) in RTT.iter().filter(|_| shown.probes) {
        grid = grid.spread([heading]);
    }
    grid = grid.spread(["CPU writer (µs/sample)", "CPU reader (µs/sample)"]);
    let more = FactorColumns::new(&[], cells);
    for cell in sorted(cells) {
        let flows = flow_values::rows(cell);
        let Some(first) = flows.first() else { continue };
        // what a process took is that of all its flows
        let mut row = match flows.len() {
            1 => key(cell, &more, first),
            _ => {
                let (no_size, no_load) = (String::new(), String::new());
                let mut whole = vec![no_size, batch(&cell.factors)];
                whole.extend(more.entries(cell));
                whole.extend(["all".to_owned(), no_load]);
                whole
            }
        };
        if flows.iter().all(|flow| measured(cell, flow.position).is_none()) {
            grid.fill(&mut row, nothing(cell));
            grid.row(row);
            continue;
        }
        row.extend(shown.batches.then(|| per_flush(cell)));
        row.extend(shown.groups.then(|| per_take(cell)));
        let shown_rtt = RTT.iter().filter(|_| shown.probes);
        row.extend(shown_rtt.flat_map(|(_, index)| quantile_entries(cell, "rtt", *index)));
        row.extend(cpu(cell));
        grid.row(row);
    }
    grid
}

/// Returns the cells in the order of the rows.
pub(crate) fn sorted<'c>(cells: &[&'c CellResult]) -> Vec<&'c CellResult> {
    let mut cells = cells.to_vec();
    // stable: traces, and cells with several flows, keep the order of the experiment
    cells.sort_by(|left, right| {
        let key = |cell: &CellResult| {
            (cell.factors.size_bytes, cell.factors.batching.is_turbo(), cell.factors.batch_bytes)
        };
        key(left).cmp(&key(right)).then_with(|| by_load(&left.factors, &right.factors))
    });
    cells
}

fn by_load(left: &Factors, right: &Factors) -> Ordering {
    let of_writers = |load: &Load| load.of_writers().iter().map(by_rate).sum::<f64>();
    let key = |factors: &Factors| factors.load.as_ref().map_or(-1.0, of_writers);
    key(left).total_cmp(&key(right))
}

/// Returns the number by which a load of a writer is placed among others.
fn by_rate(load: &Load) -> f64 {
    load.rate().map_or(
        match load {
            // shares without a rate are below all rates
            Load::Share { percent, .. } => percent.rate_sps(1e-9),
            Load::Max => f64::MAX,
            Load::Throttled { .. } => 1e300,
            _ => -1.0,
        },
        Rate::sps,
    )
}

/// Returns the columns that identify a row.
fn key(cell: &CellResult, more: &FactorColumns, FlowRow { name, flow, .. }: &FlowRow) -> Vec<String> {
    let mut key = vec![flow.size_text(), batch(&cell.factors)];
    key.extend(more.entries(cell));
    key.extend([name.clone(), planned(&flow.load)]);
    key
}

/// Formats the batch ceiling, and whether it is a turbo batch. The legend says who batches.
fn batch(factors: &Factors) -> String {
    match factors.batch_bytes {
        bytes if factors.batching.is_turbo() => format!("turbo {bytes}"),
        _ => factors.batch(),
    }
}

/// Formats a load for a column.
pub(crate) fn planned(load: &Load) -> String {
    match load {
        Load::Burst { rate } => {
            format!("burst {}/{}", rate.samples, duration(rate.period_ns).replace(' ', ""))
        }
        load => load.to_string(),
    }
}

/// Formats the samples per flush, mean and maximum over all flows.
fn per_flush(cell: &CellResult) -> String {
    let batches = cell.throughput.as_ref().and_then(|throughput| throughput.batches.as_ref());
    batches.map_or_else(
        || NONE.to_owned(),
        |batches| format!("{} (max {})", format_value(batches.mean_samples), batches.max_samples),
    )
}

fn share(part: u64, line: u64) -> f64 {
    if line == 0 { 0.0 } else { part as f64 / line as f64 }
}

/// Formats the marks of a cell: sender-limited and back-pressure, with the number of runs if not all are affected.
fn flag(cell: &CellResult) -> String {
    let Some(paced) = &cell.paced else { return String::new() };
    let runs = cell.valid_runs().count();
    let of = |(word, in_runs): (&str, u32)| match in_runs {
        0 => None,
        all if all as usize == runs => Some(word.to_owned()),
        some => Some(format!("{word} {some}/{runs}")),
    };
    let both = [(SENDER_LIMITED, paced.sender_limited_runs), (BACK_PRESSURE, paced.back_pressure_runs)];
    both.into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// Formats the outcome of a run in a progress line.
pub(crate) fn outcome(run: &Run) -> String {
    let (Some(paced), Some(throughput)) = (run.paced(), run.throughput()) else {
        return "nothing measured".to_owned();
    };
    let planned = paced.planned_sps.map_or_else(String::new, |sps| format!(" of {}", format_value(sps)));
    let mut words = vec![format!("{}{planned} samples/s", format_value(throughput.accepted_sps))];
    let shown =
        |ns: Option<u64>| ns.map_or_else(unsupported, |ns| format!("{} µs", format_micros(ns as f64)));
    if let Some(response) = run.latency.get("response") {
        words.push(format!("response p50 {}, p99 {}", shown(response.p50_ns), shown(response.p99_ns)));
    } else if let Some(service) = run.latency.get("service") {
        words.push(format!("service p50 {}, p99 {}", shown(service.p50_ns), shown(service.p99_ns)));
    }
    words.push(format!("{} % missing", format_value(run.shortfall().pct())));
    let both = [(paced.sender_limited, SENDER_LIMITED), (paced.back_pressure, BACK_PRESSURE)];
    words.extend(both.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_owned()));
    words.join(", ")
}
