//! The table of an open loop: what was planned, what was achieved, and how late samples came.

use std::cmp::Ordering;

use experiment::{Factors, Flow, Load, Rate};
use results::{Cell, FlowRecord, Latency, Run};

use crate::{
    layout::{Align, Grid},
    number::{micros, rate, significant},
    tables::{cpu, grouped, lost_spread, nothing, per_take, spread, unsupported},
};

/// Marks a row whose response times tell of the sender.
pub(crate) const SENDER_LIMITED: &str = "sender-limited";
/// Marks a row whose writer the middleware held up.
pub(crate) const BACK_PRESSURE: &str = "back-pressure";
/// In the place of a figure that the plan has not.
const NONE: &str = "-";

/// One of a latency.
type Quantile = fn(&Latency) -> Option<u64>;
/// A figure of a latency: its heading, its kind, and which it is.
type Figure = (&'static str, &'static str, Quantile);
const FIGURES: [Figure; 5] = [
    ("Response 50 %", "response", |latency| latency.p50_ns),
    ("99 %", "response", |latency| latency.p99_ns),
    ("99.9 %", "response", |latency| latency.p99_9_ns),
    ("Service 50 %", "service", |latency| latency.p50_ns),
    ("Send lag 99 %", "send_lag", |latency| latency.p99_ns),
];

/// Of probes.
const RTT: [(&str, Quantile); 2] =
    [("RTT 50 %", |latency| latency.p50_ns), ("99 %", |latency| latency.p99_ns)];

/// Columns that are there only where some cell has what they tell.
#[derive(Clone, Copy)]
struct Shown {
    batches: bool,
    probes: bool,
    groups: bool,
}

impl Shown {
    fn of(cells: &[&Cell]) -> Self {
        let throughput = || cells.iter().filter_map(|cell| cell.throughput.as_ref());
        Self {
            batches: throughput().any(|throughput| throughput.batches.is_some()),
            probes: throughput().any(|throughput| throughput.probes.is_some()),
            groups: cells.iter().any(|cell| grouped(cell)),
        }
    }
}

/// How to read what is not in every table.
pub(crate) fn notes(cells: &[Cell], probe_every: Option<u32>) -> Vec<String> {
    let shown = Shown::of(&cells.iter().collect::<Vec<_>>());
    let batches = shown.batches.then(|| {
        "Samples/flush: of a batch as ddsmark flushed it, on average and at most. Turbo: a sample waits only while the \
         next one is due already."
            .to_owned()
    });
    let probes = probe_every.filter(|_| shown.probes).map(|every| {
        format!("RTT: one sample in {every} came back; from the begin of its write to the arrival of its echo, not halved.")
    });
    batches.into_iter().chain(probes).collect()
}

/// By size, batch and load, ascending; `max` last. A cell of several flows has a row for each.
pub(crate) fn table(cells: &[&Cell]) -> Grid {
    let shown = Shown::of(cells);
    let mut grid = Grid::default().column("Size", Align::Right).column("Batch", Align::Right);
    if shown.batches {
        grid = grid.column("Samples/flush", Align::Right);
    }
    grid = grid
        .column("", Align::Left)
        .column("Planned", Align::Right)
        .column("Achieved/s", Align::Right)
        .column("± %", Align::Close)
        .column("Delivered", Align::Right)
        .column("Lost %", Align::Right)
        .column("± pp", Align::Close);
    for (heading, ..) in FIGURES {
        grid = grid.column(heading, Align::Right).column("± %", Align::Close);
    }
    for (heading, _) in RTT.iter().filter(|_| shown.probes) {
        grid = grid.column(heading, Align::Right).column("± %", Align::Close);
    }
    grid = grid
        .column("CPU writer", Align::Right)
        .column("± %", Align::Close)
        .column("CPU reader", Align::Right)
        .column("± %", Align::Close);
    if shown.groups {
        grid = grid.column("Samples/take", Align::Right);
    }
    grid = grid.column("", Align::Left);
    for cell in sorted(cells) {
        let flows = cell.factors.streams();
        for (number, flow) in flows.iter().enumerate() {
            grid.row(row(cell, flow, (number, flows.len()), shown));
        }
    }
    grid
}

/// In the order of the rows.
fn sorted<'c>(cells: &[&'c Cell]) -> Vec<&'c Cell> {
    let mut cells = cells.to_vec();
    // stable: traces, and what has several flows, stay in the order of the experiment
    cells.sort_by(|left, right| {
        let key = |cell: &Cell| {
            (cell.factors.size_bytes, cell.factors.batching.is_turbo(), cell.factors.batch_bytes)
        };
        key(left).cmp(&key(right)).then_with(|| by_load(&left.factors, &right.factors))
    });
    cells
}

fn by_load(left: &Factors, right: &Factors) -> Ordering {
    let key = |factors: &Factors| match &factors.load {
        Some(load) => load.rate().map_or(
            match load {
                // without a rate: below all that have one
                Load::Share { percent, .. } => percent.of(1e-9),
                Load::Max => f64::MAX,
                Load::Throttled { .. } => 1e300,
                _ => -1.0,
            },
            Rate::sps,
        ),
        None => -1.0,
    };
    key(left).total_cmp(&key(right))
}

/// One flow of a cell: its number, and of how many.
fn row(cell: &Cell, flow: &Flow, (number, flows): (usize, usize), shown: Shown) -> Vec<String> {
    let factors = &cell.factors;
    let mut row = vec![flow.size_bytes.to_string(), factors.batch()];
    row.extend(shown.batches.then(|| per_flush(cell)));
    row.extend([if flows > 1 { flow.name.clone() } else { String::new() }, flow.load.to_string()]);
    let record = cell.paced.as_ref().and_then(|paced| paced.flows.get(number));
    let (Some(record), Some(throughput)) = (record, &cell.throughput) else {
        row.extend(nothing(cell, if shown.probes { 24 } else { 20 } + usize::from(shown.groups)));
        return row;
    };
    let alone = flows == 1;
    let of_run = |run: &Run| -> Option<FlowRecord> { run.paced.as_ref()?.flows.get(number).cloned() };
    // all flows are written in the same time
    let achieved = throughput.accepted_sps * share(record.counted.sent, throughput.sent);
    let achieved_by = |run: &Run| {
        let (of_run, throughput) = (of_run(run)?, run.throughput.as_ref()?);
        Some(throughput.accepted_sps * share(of_run.counted.sent, throughput.sent))
    };
    row.extend([
        rate(achieved),
        spread(cell, achieved_by),
        record.counted.delivered.to_string(),
        format!("{:.2}", 100.0 * share(record.counted.lost, record.counted.sent)),
        if alone { lost_spread(cell) } else { String::new() },
    ]);
    for (_, kind, of) in FIGURES {
        let has_not = !flow.load.has_times() && kind != "service";
        let figure =
            || record.latency.get(kind).and_then(of).map_or_else(unsupported, |ns| micros(ns as f64));
        row.push(if has_not { NONE.to_owned() } else { figure() });
        row.push(spread(cell, |run| Some(of(of_run(run)?.latency.get(kind)?)? as f64)));
    }
    for (_, of) in RTT.iter().filter(|_| shown.probes) {
        row.push(cell.latency.get("rtt").and_then(of).map_or_else(unsupported, |ns| micros(ns as f64)));
        row.push(spread(cell, |run| Some(of(run.latency.get("rtt")?)? as f64)));
    }
    row.extend(if alone || number == 0 { cpu(cell) } else { [(); 4].map(|()| String::new()) });
    row.extend(shown.groups.then(|| if alone || number == 0 { per_take(cell) } else { String::new() }));
    row.push(if alone || number == 0 { flag(cell) } else { String::new() });
    row
}

/// Samples that left together, on average and at most; of all flows together.
fn per_flush(cell: &Cell) -> String {
    let batches = cell.throughput.as_ref().and_then(|throughput| throughput.batches.as_ref());
    batches.map_or_else(
        || NONE.to_owned(),
        |batches| format!("{} (max {})", significant(batches.mean_samples), batches.max_samples),
    )
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Whether the response times are the sender's, or the middleware held it up, and in how many runs.
fn flag(cell: &Cell) -> String {
    let Some(paced) = &cell.paced else { return String::new() };
    let runs = cell.valid_runs().count();
    let of = |(word, in_runs): (&str, u32)| match in_runs {
        0 => None,
        all if all as usize == runs => Some(word.to_owned()),
        some => Some(format!("{word} in {some} of {runs} runs")),
    };
    let both = [(SENDER_LIMITED, paced.sender_limited_runs), (BACK_PRESSURE, paced.back_pressure_runs)];
    both.into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// A run in a line of progress.
pub(crate) fn outcome(run: &Run) -> String {
    let (Some(paced), Some(throughput)) = (&run.paced, &run.throughput) else {
        return "nothing measured".to_owned();
    };
    let planned = paced.planned_sps.map_or_else(String::new, |sps| format!(" of {}", rate(sps)));
    let mut words = vec![format!("{}{planned} samples/s", rate(throughput.accepted_sps))];
    let quantile = |ns: Option<u64>| ns.map_or_else(unsupported, |ns| format!("{} µs", micros(ns as f64)));
    if let Some(response) = run.latency.get("response") {
        words.push(format!(
            "response 50 % {}, 99 % {}",
            quantile(response.p50_ns),
            quantile(response.p99_ns)
        ));
    } else if let Some(service) = run.latency.get("service") {
        words.push(format!("service 50 % {}, 99 % {}", quantile(service.p50_ns), quantile(service.p99_ns)));
    }
    words.push(format!("{} % lost", significant(throughput.lost_pct)));
    let both = [(paced.sender_limited, SENDER_LIMITED), (paced.back_pressure, BACK_PRESSURE)];
    words.extend(both.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_owned()));
    words.join(", ")
}
