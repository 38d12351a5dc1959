//! Figures of each series, at most four.

use std::collections::BTreeMap;

use charts::{Better, Estimate, Interval, Series, Unit, number::Prefix};
use experiment::Workload;
use results::{CellFlow, CellResult, FlowRecord, Metric, Strain};

use crate::{
    figures::{choice::telling, distribution::at_one_size, frame::part_words, verdicts::point_words},
    page::{KeyColumn, KeyFigure, KeyFigures, KeyRow},
    scene::Scene,
    values::{LEAST_FOR_INTERVAL, Quantity, estimate},
};

/// Maximum number of columns.
const MOST_COLUMNS: usize = 4;
/// Maximum number of rows.
const MOST_ROWS: usize = 12;

/// Figure of each series that has the cell.
struct Column {
    quantity: Quantity,
    heading: String,
    prefix: Prefix,
    /// Value of each series.
    values: Vec<Option<Value>>,
}

impl Column {
    /// Returns the head, with an axis for these rows.
    fn head(&self, shown: &[usize]) -> KeyColumn {
        let values = shown.iter().filter_map(|index| self.values[*index].as_ref());
        let highest = values.map(|value| value.estimate.value).fold(0.0, f64::max);
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let arrow = match self.quantity.better() {
            Better::Less => '\u{2193}',
            Better::More => '\u{2191}',
        };
        KeyColumn {
            heading: self.heading.clone(),
            unit: format!("{}\u{a0}{arrow}", self.prefix.name).trim().to_owned(),
            // Longer intervals end in an arrow.
            range: Interval { low: 0.0, high: highest * 1.3 },
        }
    }
}

/// Returns the figures; `None` if no run has a value.
pub(crate) fn key_figures(scene: &Scene<'_>) -> Option<KeyFigures> {
    let mut columns: Vec<Column> = Vec::new();
    for (workload, largest, quantities) in wanted() {
        let all = scene.of_workload(workload);
        let focus = at_one_size(&all, largest).into_iter();
        let focus: BTreeMap<&str, &CellResult> =
            focus.map(|(series, cell)| (series.name.as_str(), cell)).collect();
        let cells = scene.series.iter().map(|of| focus.get(of.series.name.as_str()).copied());
        let cells: Vec<Option<&CellResult>> = cells.collect();
        for quantity in quantities {
            let values: Vec<Option<Value>> = cells.iter().map(|cell| value(quantity, (*cell)?)).collect();
            let with_value = cells.iter().zip(&values).find(|(_, value)| value.is_some());
            let Some(first) = with_value.and_then(|(cell, _)| *cell) else { continue };
            let is_known = columns.iter().any(|column| column.quantity == quantity);
            if columns.len() < MOST_COLUMNS && !is_known {
                let point = match first.factors.flows.len() {
                    0 | 1 => point_words(scene, &first.id),
                    flows => format!("worst of {flows} flows"),
                };
                let point = if point.is_empty() { point } else { format!(", {point}") };
                let heading = format!("{}{point}", short(quantity));
                let known = values.iter().flatten().map(|value| value.estimate.value);
                let prefix = quantity.unit().common_prefix(known);
                columns.push(Column { quantity, heading, prefix, values });
            }
        }
    }
    let has_value = |index: &usize| columns.iter().any(|column| column.values[*index].is_some());
    let all = (0..scene.series.len()).filter(has_value).map(|index| {
        let of = &scene.series[index];
        (&of.series, (index, of.cells[0]))
    });
    let all: Vec<(&Series, (usize, &CellResult))> = all.collect();
    // The value that most have.
    let known = |column: &&Column| column.values.iter().flatten().count();
    let (number, of_most) = (all.len(), columns.iter().rev().max_by_key(known)?.quantity);
    let (shown, why) = telling(scene, all, (MOST_ROWS, |cell| of_most.median(cell)), |(_, cell)| cell);
    let shown: Vec<usize> = shown.into_iter().map(|(_, (index, _))| index).collect();
    let part = part_words((shown.len(), number), &why);
    // Of many series, those that are shown may have no value of a figure.
    columns.retain(|column| shown.iter().any(|index| column.values[*index].is_some()));
    let row = |index: usize| {
        let figure = |column: &Column| Some(figure(column.values[index].as_ref()?, column.prefix));
        let of = &scene.series[index];
        KeyRow {
            series: of.series.clone(),
            detail: of.middleware.clone(),
            figures: columns.iter().map(figure).collect(),
        }
    };
    let rows: Vec<KeyRow> = shown.iter().copied().map(row).collect();
    let columns: Vec<KeyColumn> = columns.iter().map(|column| column.head(&shown)).collect();
    Some(KeyFigures { columns, rows, part })
}

/// Returns the workloads with their figures: of latency at the smallest size, of throughput at the largest.
fn wanted() -> Vec<(Workload, bool, Vec<Quantity>)> {
    let metric = Quantity::Metric;
    vec![
        (
            Workload::Latency,
            false,
            vec![metric(Metric::SampleHop), metric(Metric::RttP50), metric(Metric::RttP99)],
        ),
        (Workload::Throughput, true, vec![metric(Metric::Goodput)]),
        (Workload::Throughput, false, vec![metric(Metric::Delivered)]),
        (
            Workload::Paced,
            false,
            vec![
                metric(Metric::Missed),
                metric(Metric::ResponseP50),
                metric(Metric::ResponseP99),
                metric(Metric::Delivered),
            ],
        ),
        (
            Workload::Search,
            false,
            vec![metric(Metric::Ndr), metric(Metric::Pdr), metric(Metric::Slo), metric(Metric::Headroom)],
        ),
        (
            Workload::Discovery,
            false,
            vec![metric(Metric::AllMatched), Quantity::PacketsUntilMatched, Quantity::Memory],
        ),
        (Workload::Throughput, false, vec![Quantity::Cpu]),
        (Workload::Latency, false, vec![Quantity::Cpu]),
        (Workload::Paced, false, vec![Quantity::Cpu]),
    ]
}

fn short(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Metric(Metric::Missed) => "Missed deadlines",
        Quantity::Metric(Metric::Goodput) => "Throughput",
        Quantity::Metric(Metric::Delivered) => "Samples/s",
        Quantity::Metric(Metric::ResponseP50) => "Response p50",
        Quantity::Metric(Metric::ResponseP99) => "Response p99",
        Quantity::Metric(Metric::SampleHop) => "Sample-hop",
        Quantity::Metric(Metric::AllMatched) => "All matched",
        Quantity::Metric(Metric::Ndr) => "Rate without loss",
        Quantity::Metric(Metric::Pdr) => "Rate with little loss",
        Quantity::Metric(Metric::Slo) => "Rate within the deadline",
        Quantity::Metric(Metric::Headroom) => "Headroom, scale",
        Quantity::Metric(metric) => metric.words(),
        Quantity::Cpu => "CPU per sample",
        Quantity::WirePerByte => "Wire bytes per byte",
        Quantity::SampleTime => "Time per sample",
        Quantity::PacketsUntilMatched => "Packets until then",
        Quantity::Memory => "Memory each",
        Quantity::ProcessCpu => "CPU of a process",
        Quantity::ProcessMemory => "Memory of a process",
    }
}

/// Value of a cell, and what it is the value of: nothing, or the worst flow of a mix.
struct Value {
    estimate: Estimate,
    of: String,
    /// Number of runs.
    runs: usize,
}

/// Returns the value of a cell. Of a mix, each flow has its own values, and those of all together depend on which one sends most: it is
/// that of the worst flow at its worst reader: of shares by their limits, of times the longest.
fn value(quantity: Quantity, cell: &CellResult) -> Option<Value> {
    let runs = cell.claimed_runs().count();
    if cell.factors.flows.len() < 2 {
        return Some(Value { estimate: quantity.over_runs(cell)?, of: String::new(), runs });
    }
    let of_record: fn(&FlowRecord) -> Option<f64> = match quantity {
        Quantity::Metric(Metric::Missed) => |flow| Some(flow.timeliness.as_ref()?.missed_pct()),
        Quantity::Metric(Metric::ResponseP50) => |flow| Some(flow.latency.get("response")?.p50_ns? as f64),
        Quantity::Metric(Metric::ResponseP99) => |flow| Some(flow.latency.get("response")?.p99_ns? as f64),
        _ => return None,
    };
    let of_flow = |flow: &CellFlow| {
        if let Quantity::Metric(metric) = quantity {
            cell.values_of(metric, Some(&flow.name))?;
        }
        let is_same = |record: &&FlowRecord| {
            (&record.name, &record.writer, &record.reader) == (&flow.name, &flow.writer, &flow.reader)
        };
        let records = cell.claimed_runs().flat_map(|run| run.flows.iter().filter(is_same));
        let estimate = estimate(&records.filter_map(of_record).collect::<Vec<_>>())?;
        let limit =
            flow.timeliness.as_ref().map(|of| of.limit_pct).filter(|_| quantity.unit() == Unit::Percent);
        let limit_words =
            limit.map_or_else(String::new, |pct| format!(", limit {}\u{a0}%", results::format_value(pct)));
        let name = report::parts::flow_at_reader(cell, &flow.name, &flow.reader);
        let of = format!("{name}{limit_words}");
        let strain = match limit {
            Some(limit) => Strain::new(estimate.value, limit),
            None => Strain::default().with_tail(estimate.value),
        };
        Some((strain, Value { estimate, of, runs }))
    };
    let flows = cell.paced.as_ref()?.flows.iter().filter_map(of_flow);
    flows.max_by_key(|(strain, _)| *strain).map(|(_, value)| value)
}

fn figure(value: &Value, prefix: Prefix) -> KeyFigure {
    let Value { estimate, of, runs } = value;
    let interval = estimate.interval.map(|interval| {
        let name = if *runs < LEAST_FOR_INTERVAL { "" } else { "95\u{a0}% " };
        format!("{name}{}", prefix.ends(interval))
    });
    KeyFigure {
        text: prefix.number(estimate.value),
        of: of.clone(),
        interval: interval.unwrap_or_default(),
        estimate: *estimate,
    }
}
