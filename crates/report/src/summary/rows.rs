//! Rows of the first screen: latency and throughput, load, and searches.

use std::collections::BTreeMap;

use experiment::{Workload, configuration_names};
use results::{
    CellLatency, CellResult, MAX_LATENCY_LOSS_PCT, ResultDocument, Strain, Throughput, format_micros,
    format_spread, format_value,
};

use super::grid::{Column, Entry, Row, Table};
use crate::{
    discovery,
    flow_values::{self, FlowPosition, FlowRow, measured, of_run},
    headroom, paced, ring, search, system,
    tables::{LOSSY, cpu, nothing, quantile, quantile_spread, spread, unsupported},
};

const SIZE: Column = Column { heading: "Size", unit: "B", plain: 0, leaves: 0 };
const MBPS: Column = Column { heading: "Mbit/s", unit: "", plain: 0, leaves: 2 };
/// Published figures beside the median RTT and the goodput.
const PUBLISHED_P50: Column = Column { heading: "Published RTT p50", unit: "µs", plain: 0, leaves: 1 };
const PUBLISHED_MBPS: Column = Column { heading: "Published", unit: "Mbit/s", plain: 0, leaves: 1 };
/// Left out together with `MBPS`.
const CEILING: Column = Column { heading: "Link carries", unit: "Mbit/s", plain: 0, leaves: 2 };
const MISSING: Column = Column { heading: "Missing", unit: "%", plain: 0, leaves: 4 };
const LONGEST: Column = Column { heading: "Max", unit: "µs", plain: 0, leaves: 5 };
const LATE: Column = Column { heading: "Late", unit: "%", plain: 0, leaves: 3 };
const CPU: Column = Column { heading: "CPU", unit: "µs/sample", plain: 0, leaves: 1 };
const P50: Column = Column { heading: "RTT p50", unit: "µs", plain: 3, leaves: 0 };
const PER_HOP: Column = Column { heading: "Per hop p50", unit: "µs", plain: 1, leaves: 0 };
const SAMPLE_HOP: Column = Column { heading: "Sample-hop", unit: "µs", plain: 3, leaves: 0 };
const P99: Column = Column { heading: "RTT p99", unit: "µs", plain: 1, leaves: 3 };
const RATE: Column = Column { heading: "Samples/s", unit: "", plain: 2, leaves: 0 };

/// Cell with the name of its configuration.
pub(super) type Named<'d> = (String, &'d CellResult);

/// Returns all cells with the names of their configurations: these in the order of the plan, each by size.
pub(super) fn named(document: &ResultDocument) -> Vec<Named<'_>> {
    let factors: Vec<_> = document.cells.iter().map(|cell| cell.factors.clone()).collect();
    let names = configuration_names(&factors).into_iter().zip(&document.cells).map(|(name, cell)| {
        match document.experiment.variant(&cell.id) {
            Some(variant) => (format!("{variant}: {name}"), cell),
            None => (name, cell),
        }
    });
    let mut named: Vec<Named<'_>> = names.collect();
    let order: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
    named.sort_by_cached_key(|(name, cell)| {
        (order.iter().position(|first| first == name), cell.factors.size_bytes)
    });
    named
}

/// Returns the tables of a result: one per kind of workload that it has.
pub(super) fn tables(document: &ResultDocument) -> Vec<Table<'_>> {
    let named = named(document);
    let of = |workloads: &[Workload]| -> Vec<Named<'_>> {
        named.iter().filter(|(_, cell)| workloads.contains(&cell.factors.workload)).cloned().collect()
    };
    let all = [
        closed(&of(&[Workload::Latency, Workload::Throughput])),
        topics(&of(&[Workload::Paced])),
        load(&of(&[Workload::Paced])),
        searches(&of(&[Workload::Search])),
        headrooms(&of(&[Workload::Search])),
        discoveries(&of(&[Workload::Discovery])),
    ];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// Returns the table of latency and throughput: a row has both of the same configuration and size.
fn closed<'d>(cells: &[Named<'d>]) -> Table<'d> {
    let key = |(name, cell): &Named<'d>| (name.clone(), cell.factors.size_bytes);
    let pipelined = cells.iter().any(|(_, cell)| cell.factors.is_pipelined());
    let rows = cells.chunk_by(|left, right| key(left) == key(right)).flat_map(|same| {
        let of = |workload| same.iter().filter(move |(_, cell)| cell.factors.workload == workload);
        let (latency, throughput): (Vec<_>, Vec<_>) =
            (of(Workload::Latency).collect(), of(Workload::Throughput).collect());
        // factors without a part in the id, such as a policy, can make several cells of a kind
        (0..latency.len().max(throughput.len())).map(move |index| {
            let latency = latency.get(index).map(|(_, cell)| *cell);
            let throughput = throughput.get(index).map(|(_, cell)| *cell);
            closed_row(&same[0].0, latency, throughput, pipelined)
        })
    });
    Table {
        title: "",
        columns: vec![
            SIZE,
            P50,
            P99,
            PUBLISHED_P50,
            PER_HOP,
            SAMPLE_HOP,
            RATE,
            MBPS,
            PUBLISHED_MBPS,
            CEILING,
            MISSING,
            CPU,
        ],
        rows: rows.collect(),
    }
}

fn closed_row<'d>(
    name: &str,
    latency: Option<&'d CellResult>,
    throughput: Option<&'d CellResult>,
    pipelined: bool,
) -> Row<'d> {
    let size = latency.or(throughput).map_or(0, |cell| cell.factors.size_bytes);
    let mut entries = vec![Entry::new(size.to_string())];
    entries.extend(match latency {
        None => [Entry::none(), Entry::none()],
        Some(cell) => match cell.latency.get("rtt") {
            Some(rtt) => [0, 2].map(|index| {
                let mark = if cell.shortfall().pct() > MAX_LATENCY_LOSS_PCT { LOSSY } else { "" };
                Entry {
                    value: format!("{}{mark}", quantile(rtt, index)),
                    spread: quantile_spread(cell, index, |run| run.latency.get("rtt")),
                }
            }),
            None => [missing(cell), Entry::none()],
        },
    });
    entries.push(published(latency, "latency.rtt.p50_ns"));
    // Beside pipelined rings, the time per sample and hop is that of a round trip, too.
    entries.push(latency.filter(|_| !pipelined).map_or_else(Entry::none, per_hop));
    let per_sample_hop = latency.filter(|_| pipelined).and_then(ring::per_sample_hop);
    entries.push(per_sample_hop.map_or_else(Entry::none, |[value, spread]| Entry { value, spread }));
    entries.extend(match throughput {
        None => [Entry::none(), Entry::none()],
        Some(cell) => match &cell.throughput {
            Some(throughput) => [rate(cell, throughput), Entry::new(format_value(throughput.goodput_mbps))],
            None => [missing(cell), Entry::none()],
        },
    });
    entries.push(published(throughput, "throughput.goodput_mbps"));
    let ceiling = throughput.and_then(|cell| cell.link_ceiling);
    entries.push(ceiling.map_or_else(Entry::none, |ceiling| Entry::new(format_value(ceiling.goodput_mbps))));
    // the cost and loss of a row are those of the traffic at full rate, if it was measured
    let measured =
        [throughput, latency].into_iter().flatten().find(|cell| cell.valid_runs().next().is_some());
    entries.extend(costs(measured));
    Row {
        configuration: name.to_owned(),
        cells: [latency, throughput].into_iter().flatten().map(|cell| &*cell.id).collect(),
        entries,
    }
}

/// Returns the first published figure for a metric of a cell.
fn published(cell: Option<&CellResult>, metric: &str) -> Entry {
    let of = |cell: &CellResult| {
        let mut values = cell.published.iter();
        let value = values
            .find(|value| value.metric == metric && value.batch_bytes == cell.factors.batch_bytes)?
            .converted;
        Some(if metric.ends_with("_ns") { format_micros(value) } else { format_value(value) })
    };
    cell.and_then(of).map_or_else(Entry::none, Entry::new)
}

/// Returns the median round trip of a ring, divided by the number of its nodes.
fn per_hop(cell: &CellResult) -> Entry {
    let rtt = cell.latency.get("rtt").and_then(|rtt| rtt.quantiles()[0]);
    rtt.zip(ring::nodes(cell)).map_or_else(Entry::none, |(ns, nodes)| Entry {
        value: format_micros(ns / f64::from(nodes)),
        spread: quantile_spread(cell, 0, |run| run.latency.get("rtt")),
    })
}

fn rate(cell: &CellResult, throughput: &Throughput) -> Entry {
    Entry {
        value: format_value(throughput.delivered_sps),
        spread: spread(cell, |run| Some(run.throughput()?.delivered_sps)),
    }
}

/// Returns the loss and the CPU time per sample of a cell.
fn costs(cell: Option<&CellResult>) -> [Entry; 2] {
    let Some(cell) = cell else { return [Entry::none(), Entry::none()] };
    let [writer, _, reader, _] = cpu(cell);
    let cpu = match cell.cpu_ns_per_sample {
        Some(_) => Entry::new(format!("{writer} + {reader}")),
        None => Entry::none(),
    };
    [Entry::new(format_value(cell.shortfall().pct())), cpu]
}

/// Returns the reason why a cell has no values.
fn missing(cell: &CellResult) -> Entry {
    Entry::new(nothing(cell))
}

/// Title of the table of systems.
pub(crate) const TOPICS: &str = "Topics";

/// Returns the table of systems: a row for each topic. The topics that suffer first in any cell are at the top; all cells of a topic are
/// beside each other.
fn topics<'d>(cells: &[Named<'d>]) -> Table<'d> {
    // Order in which the columns of [`system::COLUMNS`] are left out.
    let leaves = [0, 1, 4, 0, 0, 3, 2, 0, 5, 0];
    let columns = system::COLUMNS.iter().zip(leaves);
    let columns: Vec<Column> =
        columns.map(|((heading, unit), leaves)| Column { heading, unit, plain: 0, leaves }).collect();
    let mut without_values: Vec<Row<'d>> = Vec::new();
    let mut topics: Vec<(system::Topic<'d>, Row<'d>)> = Vec::new();
    for (name, cell) in cells.iter().filter(|(_, cell)| system::is_system(cell)) {
        let cell: &'d CellResult = cell;
        let of_cell = system::topics(cell);
        if of_cell.is_empty() {
            let entries = vec![Entry::none(), missing(cell)];
            without_values.push(Row { configuration: name.clone(), cells: vec![&*cell.id], entries });
        }
        topics.extend(of_cell.into_iter().map(|topic| {
            let row = topic_row(name, cell, &topic);
            (topic, row)
        }));
    }
    let mut strains: BTreeMap<&str, Strain> = BTreeMap::new();
    for (topic, _) in &topics {
        let most = strains.entry(&topic.flow.name).or_default();
        *most = topic.strain.max(*most);
    }
    topics.sort_by(|(left, _), (right, _)| {
        let [left, right] = [left, right].map(|topic| topic.flow.name.as_str());
        strains[right].cmp(&strains[left]).then(left.cmp(right))
    });
    let rows = without_values.into_iter().chain(topics.into_iter().map(|(_, row)| row)).collect();
    Table { title: TOPICS, columns, rows }
}

fn topic_row<'d>(name: &str, cell: &'d CellResult, topic: &system::Topic<'d>) -> Row<'d> {
    let entries = system::entries(cell, topic).into_iter().map(Entry::new).collect();
    Row { configuration: format!("{name} {}", topic.name), cells: vec![&*cell.id], entries }
}

/// Returns the table of cells with a load and without deadlines: a row for each flow.
fn load<'d>(cells: &[Named<'d>]) -> Table<'d> {
    let columns = vec![
        SIZE,
        Column { heading: "Load", unit: "", plain: 0, leaves: 0 },
        Column { heading: "Response", unit: "p50, µs", ..P50 },
        Column { heading: "Response", unit: "p99, µs", ..P99 },
        LONGEST,
        RATE,
        LATE,
        MISSING,
        CPU,
    ];
    let mut rows = Vec::new();
    let of_one: Vec<Named<'d>> = cells.iter().filter(|(_, cell)| !system::is_system(cell)).cloned().collect();
    for same in of_one.chunk_by(|left, right| left.0 == right.0) {
        for cell in paced::sorted(&same.iter().map(|(_, cell)| *cell).collect::<Vec<_>>()) {
            rows.extend(load_rows(&same[0].0, cell));
        }
    }
    Table { title: "Load", columns, rows }
}

fn load_rows<'d>(name: &str, cell: &'d CellResult) -> Vec<Row<'d>> {
    let row = |FlowRow { name: of_row, flow, position }: FlowRow| {
        let mut entries = vec![Entry::new(flow.size_text()), Entry::new(paced::planned(&flow.load))];
        match measured(cell, position) {
            None => {
                entries.push(missing(cell));
                entries.extend((0..5).map(|_| Entry::none()));
            }
            Some((record, _)) => {
                let response = record.latency.get("response").filter(|_| flow.load.has_times());
                entries.extend([0, 2].map(|index| response_entry(cell, position, response, index)));
                entries.push(Entry::new(paced::longest(response)));
                let (delivered, spread) = paced::delivered(cell, position);
                entries.extend([
                    Entry { value: format_value(delivered), spread },
                    Entry::new(paced::late(&record)),
                    Entry::new(format_value(record.shortfall.pct())),
                ]);
            }
        }
        let [_, cpu] = costs(Some(cell).filter(|_| position.is_first() && cell.throughput.is_some()));
        entries.push(cpu);
        let configuration = if of_row.is_empty() { name.to_owned() } else { format!("{name} {of_row}") };
        Row { configuration, cells: vec![&*cell.id], entries }
    };
    flow_values::rows(cell).into_iter().map(row).collect()
}

fn response_entry(
    cell: &CellResult,
    position: FlowPosition,
    response: Option<&CellLatency>,
    index: usize,
) -> Entry {
    let Some(response) = response else { return Entry::none() };
    Entry {
        value: quantile(response, index),
        spread: quantile_spread(cell, index, |run| of_run(run, position)?.latency.get("response")),
    }
}

/// Returns the table of discovery: a row for each cell.
fn discoveries<'d>(cells: &[Named<'d>]) -> Table<'d> {
    // heading, unit, index of the value, and when the column loses its range or leaves
    const COLUMNS: [(&str, &str, usize, usize, usize); 7] = [
        ("All matched", "ms", 0, 3, 0),
        ("Median", "ms", 1, 1, 1),
        ("Traffic", "packets", 4, 2, 0),
        ("Idle", "packets/s", 6, 1, 2),
        ("Others", "packets/s", 7, 1, 3),
        ("Idle CPU", "%", 8, 1, 4),
        ("Memory", "KiB", 9, 2, 0),
    ];
    let column = |(heading, unit, _, plain, leaves)| Column { heading, unit, plain, leaves };
    let rows = cells.iter().map(|(name, cell)| {
        let values = COLUMNS.iter().map(|(_, _, index, ..)| discovery::formatted(cell, *index));
        let mut entries: Vec<Entry> = values
            .map(|(value, spread)| value.map_or_else(Entry::none, |value| Entry { value, spread }))
            .collect();
        if cell.claimed_runs().all(|run| run.discovery().is_none()) {
            entries[0] = missing(cell);
        }
        Row { configuration: name.clone(), cells: vec![&*cell.id], entries }
    });
    Table { title: "Discovery", columns: COLUMNS.map(column).to_vec(), rows: rows.collect() }
}

/// Returns the table of searches: a row for each goal.
fn searches<'d>(cells: &[Named<'d>]) -> Table<'d> {
    let columns = vec![
        SIZE,
        Column { heading: "Goal", unit: "", plain: 0, leaves: 0 },
        Column { heading: "Sustained", unit: "samples/s", plain: 1, leaves: 0 },
        Column { heading: "Lower load", unit: "samples/s", plain: 0, leaves: 2 },
        Column { heading: "Upper load", unit: "samples/s", plain: 0, leaves: 3 },
        Column { heading: "Mbit/s", unit: "", plain: 0, leaves: 4 },
        Column { heading: "Found", unit: "", plain: 0, leaves: 1 },
    ];
    let mut rows = Vec::new();
    for (name, cell) in cells.iter().filter(|(_, cell)| cell.factors.flows.is_empty()) {
        let size = cell.factors.size_bytes;
        let row = |entries: Vec<Entry>| Row { configuration: name.clone(), cells: vec![&*cell.id], entries };
        let sps = |sps: Option<f64>| Entry::new(sps.map_or_else(unsupported, format_value));
        match &cell.search {
            Some(search) => rows.extend(search.goals.iter().map(|goal| {
                row(vec![
                    Entry::new(size.to_string()),
                    Entry::new(search::name(goal.aim.name(), goal.deadline_ns)),
                    Entry {
                        spread: goal.spread.map_or_else(String::new, |share| format_spread(100.0 * share)),
                        ..sps(goal.conditional_sps)
                    },
                    sps(goal.lowest_sps),
                    sps(goal.highest_sps),
                    sps(search::goodput_mbps(goal, size)),
                    Entry::new(format!("{} of {}", goal.found, goal.searches)),
                ])
            })),
            None => rows.push(row(vec![Entry::new(size.to_string()), Entry::none(), missing(cell)])),
        }
    }
    Table { title: "Highest sustained rate", columns, rows }
}

/// Returns the table of searches over the scale of a system.
fn headrooms<'d>(cells: &[Named<'d>]) -> Table<'d> {
    let columns = headroom::COLUMNS.iter().zip([1, 0, 0, 0, 0, 0]).zip([0, 2, 3, 4, 0, 1]);
    let column = |((&(heading, unit), plain), leaves)| Column { heading, unit, plain, leaves };
    let systems = cells.iter().filter(|(_, cell)| !cell.factors.flows.is_empty());
    let rows = systems.map(|(name, cell)| {
        let entries: Vec<Entry> = match headroom::of(cell) {
            Some((goal, of)) => {
                let mut entries = headroom::entries(goal, of).map(Entry::new);
                entries[0].spread =
                    goal.spread.map_or_else(String::new, |share| format_spread(100.0 * share));
                entries.into()
            }
            None => vec![missing(cell)],
        };
        Row { configuration: name.clone(), cells: vec![&*cell.id], entries }
    });
    Table { title: "Headroom of the system", columns: columns.map(column).collect(), rows: rows.collect() }
}
