//! Systems: cells whose flows have deadlines. A row for each topic, and in how many runs all of them were met.

use std::cmp::Reverse;

use experiment::{Deadline, Flow};
use results::{
    CellFlow, CellResult, EndedProcess, NotMet, Run, Shortfall, Strain, SystemOutcome, Usage, format_micros,
    format_value,
};
use stats::{median, total};

use crate::{
    factor_columns::FactorColumns, layout::Grid, number::count, paced::planned, tables::unsupported,
};

/// Maximum number of runs that are named because the system was not met, and of processes that are named.
const NAMED: usize = 3;
/// Error probability of each side of the bound on the share of runs that meet a system.
const ONE_SIDE: f64 = 0.025;

/// Topic of a system: a flow as its worst reader received it, or a group of equal flows.
pub(crate) struct Topic<'c> {
    /// Name, with the number of flows of a group: `small x100`. The worst flow of a group follows it: `worst: small-17`.
    pub name: String,
    /// Flow of the plan: the first one of a group.
    pub flow: &'c Flow,
    /// Values of its flows, each at its worst reader. Never empty.
    pub flows: Vec<&'c CellFlow>,
    /// Strain of its worst flow.
    pub strain: Strain,
}

/// Returns whether a cell is a system: its flows have deadlines.
pub(crate) fn is_system(cell: &CellResult) -> bool {
    cell.factors.flows.iter().any(|flow| flow.deadline.is_some())
}

/// Returns the topics of a cell, those that suffer first at the top; empty without values.
pub(crate) fn topics(cell: &CellResult) -> Vec<Topic<'_>> {
    let mut topics: Vec<Topic<'_>> = Vec::new();
    for flows in cell.factors.flows.chunk_by(Flow::is_in_group_of) {
        let values: Vec<&CellFlow> = flows.iter().filter_map(|flow| at_worst_reader(cell, flow)).collect();
        let Some(worst) = values.iter().copied().max_by_key(|values| values.strain()) else { continue };
        let flow = &flows[0];
        let of_reader = |values: &CellFlow| flow_at_reader(cell, &values.name, &values.reader);
        let strain = worst.strain();
        let topic = |name: String, flows: Vec<_>| Topic { name, flow, flows, strain };
        match &flow.group {
            Some(group) if flows.len() > 1 => {
                topics.push(topic(format!("{group} x{}", flows.len()), values));
                topics.push(topic(format!("worst: {}", of_reader(worst)), vec![worst]));
            }
            _ => topics.push(topic(of_reader(worst), vec![worst])),
        }
    }
    // The two rows of a group stay together.
    topics.sort_by_key(|topic| Reverse(topic.strain));
    topics
}

/// Returns the name of a flow, with that of one of its readers if it has several.
#[must_use]
pub fn flow_at_reader(cell: &CellResult, name: &str, reader: &str) -> String {
    let flows = cell.paced.iter().flat_map(|paced| &paced.flows);
    match flows.filter(|flow| flow.name == name).count() {
        0 | 1 => name.to_owned(),
        _ => format!("{name} ({})", cell.label(reader)),
    }
}

/// Returns the values of a flow at the reader where it suffers most.
fn at_worst_reader<'c>(cell: &'c CellResult, flow: &Flow) -> Option<&'c CellFlow> {
    let same = cell.paced.as_ref()?.flows.iter().filter(|values| values.name == flow.name);
    same.max_by_key(|values| values.strain())
}

impl Topic<'_> {
    /// Returns the share of the samples that were to arrive and did not, in percent.
    pub fn not_delivered_pct(&self) -> f64 {
        self.flows.iter().map(|flow| flow.shortfall()).sum::<Shortfall>().pct()
    }

    /// Returns the median over its flows of a quantile of a latency in ns; `None` if a flow lacks it.
    pub fn quantile(&self, kind: &str, index: usize) -> Option<f64> {
        let of = |flow: &&CellFlow| flow.latency.get(kind)?.quantiles()[index];
        median(&self.flows.iter().map(of).collect::<Option<Vec<_>>>()?)
    }

    /// Returns the longest value of a latency in ns.
    pub fn longest(&self, kind: &str) -> Option<u64> {
        self.flows.iter().filter_map(|flow| Some(flow.latency.get(kind)?.max_ns)).max()
    }

    /// Returns the share of the planned samples that missed the deadline, in percent; `None` without a deadline.
    pub fn missed_pct(&self) -> Option<f64> {
        let all = || self.flows.iter().filter_map(|flow| flow.timeliness.as_ref());
        let planned = total(all().map(|of| of.planned));
        (planned > 0).then(|| 100.0 * total(all().map(|of| of.missed)) as f64 / planned as f64)
    }

    /// Returns in how many of the runs all of its flows met their deadlines, as in `5/6`. Runs in which a process of one of them ended are
    /// among those that did not.
    pub fn met(&self, cell: &CellResult) -> String {
        let names: Vec<&str> = self.flows.iter().map(|flow| flow.name.as_str()).collect();
        let is_met = |run: &&Run| {
            let own = run.flows.iter().filter(|flow| names.contains(&flow.name.as_str()));
            own.filter_map(|flow| flow.timeliness.as_ref()).all(|of| of.is_met)
        };
        let system = cell.paced.as_ref().and_then(|paced| paced.system.as_ref());
        let is_own = |of: &&EndedProcess| of.flows.iter().any(|flow| names.contains(&flow.as_str()));
        let ended = system.map_or(0, |system| system.ended.iter().filter(is_own).count());
        let runs = cell.valid_runs().count() + ended;
        format!("{}/{runs}", cell.valid_runs().filter(is_met).count())
    }
}

/// Columns of the table of topics: heading and unit.
pub(crate) const COLUMNS: [(&str, &str); 10] = [
    ("Size", "B"),
    ("Load", ""),
    ("Not delivered", "%"),
    ("Response p50", "µs"),
    ("p99", "µs"),
    ("Max", "µs"),
    ("Age p99", "µs"),
    ("Missed", "%"),
    ("Limit", "%"),
    ("Met", "runs"),
];

/// Returns the entries of these columns.
pub(crate) fn entries(cell: &CellResult, topic: &Topic<'_>) -> Vec<String> {
    let micros = |ns: Option<f64>| ns.map_or_else(unsupported, format_micros);
    let share = |pct: Option<f64>| pct.map_or_else(|| "-".to_owned(), format_value);
    vec![
        topic.flow.size_text(),
        planned(&topic.flow.load),
        share(Some(topic.not_delivered_pct())),
        micros(topic.quantile("response", 0)),
        micros(topic.quantile("response", 2)),
        micros(topic.longest("response").map(|ns| ns as f64)),
        micros(topic.quantile("age", 2)),
        share(topic.missed_pct()),
        share(topic.flow.deadline.map(Deadline::limit_pct)),
        topic.met(cell),
    ]
}

/// Returns the table of the topics of these cells.
pub(crate) fn grid(cells: &[&CellResult]) -> Grid {
    let factors = FactorColumns::new(&[], cells);
    let mut grid = factors.headed(Grid::default().units_below().left(["Topic"]));
    for (heading, unit) in COLUMNS {
        let heading = if unit.is_empty() { heading.to_owned() } else { format!("{heading} ({unit})") };
        grid = grid.right([heading]);
    }
    for cell in cells {
        for topic in topics(cell) {
            let mut row = vec![topic.name.clone()];
            row.extend(factors.entries(cell));
            row.extend(entries(cell, &topic));
            grid.row(row);
        }
    }
    grid
}

/// Returns a sentence for each system, and whether it was met in all runs.
pub(crate) fn outcomes(cells: &[&CellResult]) -> Vec<(String, bool)> {
    let systems: Vec<(&CellResult, &SystemOutcome)> =
        cells.iter().filter_map(|cell| Some((*cell, cell.paced.as_ref()?.system.as_ref()?))).collect();
    let several = systems.len() > 1;
    let sentence = |(cell, outcome): &(&CellResult, &SystemOutcome)| {
        let of = if several { format!(" of {}", cell.id) } else { String::new() };
        let met = outcome.met_runs == outcome.runs;
        let mut text =
            format!("System{of} met in {} of {}", outcome.met_runs, count(outcome.runs as usize, "run"));
        if met {
            let least = 100.0 * ONE_SIDE.powf(1.0 / f64::from(outcome.runs.max(1)));
            text.push_str(&format!(", so in at least {} % of such runs (95 %)", format_value(least.floor())));
        }
        let mut named: Vec<String> = outcome.ended.iter().map(|of| ended(cell, of)).collect();
        named.extend(outcome.not_met.iter().map(|of| not_met(cell, of)));
        if named.len() > NAMED {
            let more = named.len() - NAMED;
            named.truncate(NAMED);
            named.push(format!("and {more} more"));
        }
        if !named.is_empty() {
            text.push_str(&format!(": {}", named.join(", ")));
        }
        text.push_str(&processes(cell));
        (text, met)
    };
    systems.iter().map(sentence).collect()
}

/// Formats that a process of a system ended, with the flows that it wrote or read.
fn ended(cell: &CellResult, of: &EndedProcess) -> String {
    let flows = cell.factors.flows.iter().filter(|flow| of.flows.contains(&flow.name));
    let mut names: Vec<&str> = flows.map(|flow| flow.group.as_ref().unwrap_or(&flow.name).as_str()).collect();
    names.dedup();
    format!("the process of {} ended in run {}, with {}", of.endpoint, of.run, names.join(" and "))
}

/// Formats which flow of a run suffered most.
fn not_met(cell: &CellResult, of: &NotMet) -> String {
    let others = match of.flows {
        0 | 1 => String::new(),
        flows => format!(" and {}", count(flows as usize - 1, "other flow")),
    };
    let drops = match of.udp_buffer_drops {
        None | Some(0) => String::new(),
        Some(drops) => format!(" ({} dropped)", count(drops as usize, "datagram")),
    };
    format!(
        "{} missed {} %{others} in run {}{drops}",
        flow_at_reader(cell, &of.flow, &of.reader),
        format_value(of.missed_pct),
        of.run
    )
}

/// Returns what the processes of a system used, medians over its runs: cores, memory, and how long they waited for a core.
fn processes(cell: &CellResult) -> String {
    let Some(first) = cell.valid_runs().next() else { return String::new() };
    let of_process = |number: u32, of: &dyn Fn(&Usage) -> Option<f64>| {
        let values: Vec<f64> = cell
            .valid_runs()
            .filter_map(|run| run.processes.iter().find(|process| process.number == number))
            .filter_map(|process| of(&process.usage))
            .collect();
        median(&values).map(format_value)
    };
    let mut words: Vec<String> = first
        .processes
        .iter()
        .take(NAMED)
        .map(|process| {
            let of = |of: &dyn Fn(&Usage) -> Option<f64>| of_process(process.number, of);
            let parts = [
                (of(&|usage| Some(usage.used())), "cores"),
                (of(&|usage| Some(usage.peak_memory_bytes? as f64 / 1e6)), "MB"),
                (of(&|usage| Some(100.0 * usage.waited())), "% waiting for one"),
            ];
            let parts: Vec<String> =
                parts.into_iter().filter_map(|(value, unit)| Some(format!("{} {unit}", value?))).collect();
            format!("{}: {}", process.label(), parts.join(", "))
        })
        .collect();
    if first.processes.len() > NAMED {
        words.push(format!("{} more processes", first.processes.len() - NAMED));
    }
    if words.is_empty() { String::new() } else { format!("; {}", words.join("; ")) }
}

/// Legend of the table of topics.
pub(crate) const LEGEND: &str = "Topics of a system, each at its worst reader, those that suffer first at the top: Missed is the share of the planned samples that did not arrive \
    within the deadline of their topic after their intended send time, lost ones included; Limit is the share that may, and Met \
    the number of runs that kept it. Age p99 is that of the time since the newest sample that had arrived was due, right \
    before a newer one arrived. Equal topics share a row: medians over them, the longest Max, and all missed samples. The bound on \
    the share of such runs is exact for independent runs.";
