//! All runs as a table.

use report::parts::DataTable;
use results::{CellResult, Metric, ResultDocument, Run, RunState, Throughput, format_value};

/// Column of the table: heading with its unit, and the value of a run.
struct Column {
    heading: &'static str,
    text: fn(&CellResult, &Run) -> Option<String>,
}

fn metric(run: &Run, metric: Metric) -> Option<String> {
    run.value(metric).map(|value| metric.format(value))
}

fn rate(run: &Run, of: fn(&Throughput) -> f64) -> Option<String> {
    run.throughput().map(|throughput| format_value(of(throughput)))
}

fn longest(run: &Run) -> Option<String> {
    let of_kind = ["rtt", "response"].iter().find_map(|kind| run.latency.get(*kind));
    of_kind.map(|latency| results::format_micros(latency.max_ns as f64))
}

fn n(run: &Run) -> Option<String> {
    let of_kind = ["rtt", "response"].iter().find_map(|kind| run.latency.get(*kind));
    match (of_kind, run.throughput()) {
        (Some(latency), _) => Some(latency.n.to_string()),
        (None, Some(throughput)) => Some(throughput.delivered.to_string()),
        (None, None) => None,
    }
}

const COLUMNS: &[Column] = &[
    Column { heading: "n", text: |_, run| n(run) },
    Column { heading: "RTT p50 (µs)", text: |_, run| metric(run, Metric::RttP50) },
    Column { heading: "RTT p99 (µs)", text: |_, run| metric(run, Metric::RttP99) },
    Column { heading: "RTT p99.9 (µs)", text: |_, run| metric(run, Metric::RttP999) },
    Column {
        heading: "Sample-hop (µs)",
        text: |cell, run| metric(run, Metric::SampleHop).filter(|_| cell.factors.is_pipelined()),
    },
    Column { heading: "Response p50 (µs)", text: |_, run| metric(run, Metric::ResponseP50) },
    Column { heading: "Response p99 (µs)", text: |_, run| metric(run, Metric::ResponseP99) },
    Column { heading: "Longest (µs)", text: |_, run| longest(run) },
    Column { heading: "Accepted/s", text: |_, run| rate(run, |of| of.accepted_sps) },
    Column { heading: "Delivered/s", text: |_, run| rate(run, |of| of.delivered_sps) },
    Column { heading: "Goodput (Mbit/s)", text: |_, run| rate(run, |of| of.goodput_mbps) },
    Column { heading: "Rate without loss (1/s)", text: |_, run| metric(run, Metric::Ndr) },
    Column { heading: "Rate with little loss (1/s)", text: |_, run| metric(run, Metric::Pdr) },
    Column { heading: "Rate within the deadline (1/s)", text: |_, run| metric(run, Metric::Slo) },
    Column { heading: "Headroom (x)", text: |_, run| metric(run, Metric::Headroom) },
    Column { heading: "All matched (µs)", text: |_, run| metric(run, Metric::AllMatched) },
    Column {
        heading: "Packets until matched",
        text: |_, run| Some(run.discovery()?.until_matched.as_ref()?.tx_packets.to_string()),
    },
    Column {
        heading: "Missing (%)",
        text: |_, run| (run.state == RunState::Valid).then(|| format_value(run.shortfall().pct())),
    },
    Column { heading: "CPU writer (µs/sample)", text: |_, run| metric(run, Metric::CpuWriter) },
    Column { heading: "CPU reader (µs/sample)", text: |_, run| metric(run, Metric::CpuReader) },
    Column { heading: "UDP drops", text: |_, run| run.udp_buffer_drops.map(|drops| drops.to_string()) },
];

/// Returns a row for each run in the order of execution, with the columns that a run has a value in.
pub(crate) fn rows(document: &ResultDocument) -> DataTable {
    let mut runs: Vec<(&CellResult, &Run)> =
        document.cells.iter().flat_map(|cell| cell.runs.iter().map(move |run| (cell, run))).collect();
    runs.sort_by_key(|(_, run)| run.number);
    let values: Vec<Vec<Option<String>>> = runs
        .iter()
        .map(|(cell, run)| COLUMNS.iter().map(|column| (column.text)(cell, run)).collect())
        .collect();
    let kept: Vec<usize> =
        (0..COLUMNS.len()).filter(|index| values.iter().any(|of_run| of_run[*index].is_some())).collect();
    let mut columns: Vec<(String, bool)> = vec![
        ("Cell".to_owned(), false),
        ("Run".to_owned(), true),
        ("Block".to_owned(), true),
        ("State".to_owned(), false),
    ];
    columns.extend(kept.iter().map(|index| (COLUMNS[*index].heading.to_owned(), true)));
    let row = |((_, run), values): (&(&CellResult, &Run), &Vec<Option<String>>)| {
        let state = match run.state {
            RunState::Valid if run.twin => "valid, second run of the baseline",
            RunState::Valid => "valid",
            RunState::Invalid => "invalid",
            RunState::Failed => "failed",
        };
        let identity = [run.cell.clone(), run.number.to_string(), run.block.to_string(), state.to_owned()];
        let values = kept.iter().map(|index| values[*index].clone().unwrap_or_default());
        identity.into_iter().chain(values).collect()
    };
    DataTable { title: String::new(), columns, rows: runs.iter().zip(&values).map(row).collect() }
}
