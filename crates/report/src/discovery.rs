//! Table, rows and progress line of discovery.

use results::{CellResult, DiscoveryRecord, Run, format_value};
use stats::median;

use crate::{
    factor_columns::FactorColumns,
    layout::Grid,
    tables::{by_cell, spread, unsupported},
};

/// Value of a run, in the unit of its heading.
type OfRun = fn(&DiscoveryRecord) -> Option<f64>;

/// Columns: heading, and value.
pub(crate) const VALUES: [(&str, OfRun); 10] = [
    ("All matched (ms)", |of| of.all_matched_ns.map(ms)),
    ("Median entity (ms)", |of| of.median_matched_ns.map(ms)),
    ("Participant opened (ms)", |of| median_of(of, |of| of.participant_ns).map(|ns| ns / 1e6)),
    ("Entities opened (ms)", |of| median_of(of, |of| of.entities_ns).map(|ns| ns / 1e6)),
    ("Traffic (packets)", |of| Some(of.until_matched.as_ref()?.tx_packets as f64)),
    ("(KB)", |of| Some(of.until_matched.as_ref()?.tx_bytes as f64 / 1e3)),
    ("Idle (packets/s)", DiscoveryRecord::idle_packets_per_s),
    ("Others (packets/s)", |of| of.others_packets_per_s),
    ("Idle CPU (% of a core)", DiscoveryRecord::idle_cpu_pct),
    ("Memory (KiB/participant)", |of| of.memory_per_participant_bytes.map(|bytes| bytes as f64 / 1024.0)),
];

/// Number of the first columns that are times between events of several hosts.
const MATCH_TIMES: usize = 2;

/// Legend of the table.
pub(crate) const LEGEND: &str = "All matched is the time from the common start, or from the start of the late participant, until \
    each writer and reader was matched with all of its peers, by the last event of its own middleware. Traffic is \
    what the interfaces of all hosts sent until then, idle what they sent afterwards, of all programs. Others is what they sent before the first participant was opened, \
    by other programs: Traffic and Idle include it. On a loopback interface a packet counts once as sent, whatever the number of its receivers by multicast. Memory is what a process grew by, from before its \
    participants were opened until all were matched (Pss), divided by their number. Participants of one process share its \
    code and threads, and may find each other without the network: compare only rows with as many participants per process. Values are medians over the valid runs.";

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn median_of(of: &DiscoveryRecord, value: fn(&results::ParticipantRecord) -> u64) -> Option<f64> {
    median(&of.participants.iter().map(|of| value(of) as f64).collect::<Vec<_>>())
}

/// Returns the median of a value over the runs, and its half-range.
pub(crate) fn value(cell: &CellResult, of: OfRun) -> (Option<f64>, String) {
    let of_run = |run: &Run| of(run.discovery()?);
    let values: Vec<f64> = cell.claimed_runs().filter_map(of_run).collect();
    (median(&values), spread(cell, of_run))
}

/// Formats a value of the cell. A match time between hosts has the error of their clocks, and is not available if that exceeds it.
pub(crate) fn formatted(cell: &CellResult, index: usize) -> (Option<String>, String) {
    let (value, spread) = value(cell, VALUES[index].1);
    let errors = cell.claimed_runs().filter_map(|run| Some(run.discovery()?.clock_error_ns));
    let error_ms = ms(errors.max().unwrap_or(0));
    let text = value.and_then(|value| match index < MATCH_TIMES && error_ms > 0.0 {
        true => (value > error_ms).then(|| format!("{} ± {}", format_value(value), format_value(error_ms))),
        false => Some(format_value(value)),
    });
    (text, spread)
}

/// Returns the table of discovery.
pub(crate) fn table(cells: &[&CellResult]) -> Grid {
    let keys = FactorColumns::new(&[], cells);
    let headings = VALUES.map(|(heading, _)| heading);
    let grid = keys.grid().left(["Topology"]).spread(headings).left(["Last matched"]);
    by_cell(&keys, grid, cells, |cell, row| {
        let shared = cell.factors.shared_process().map_or_else(String::new, |text| format!(", {text}"));
        row.push(format!("{}{shared}", cell.factors.topology));
        cell.claimed_runs().find_map(Run::discovery)?;
        for index in 0..VALUES.len() {
            let (value, spread) = formatted(cell, index);
            row.extend([value.unwrap_or_else(unsupported), spread]);
        }
        row.push(last(cell));
        Some(())
    })
}

/// Returns the entity that was matched last, in most of the runs.
fn last(cell: &CellResult) -> String {
    let names: Vec<&str> =
        cell.claimed_runs().filter_map(|run| run.discovery()?.slowest.as_deref()).collect();
    let count = |name: &str| names.iter().filter(|other| **other == name).count();
    match names.iter().max_by_key(|name| count(name)) {
        Some(most) if names.len() > 1 => format!("{most} ({} of {} runs)", count(most), names.len()),
        Some(only) => (*only).to_owned(),
        None => unsupported(),
    }
}

/// Returns the values of a run in one line.
pub(crate) fn outcome(run: &Run) -> String {
    let Some(discovery) = run.discovery() else { return "nothing measured".to_owned() };
    let error = match discovery.clock_error_ns {
        0 => String::new(),
        ns => format!(" ± {}", format_value(ms(ns))),
    };
    let matched =
        discovery.all_matched_ns.map_or_else(unsupported, |ns| format!("{}{error} ms", format_value(ms(ns))));
    let slowest = discovery.slowest.as_ref().map_or_else(String::new, |name| format!(" (last {name})"));
    let packets = discovery
        .until_matched
        .as_ref()
        .map_or_else(String::new, |traffic| format!(", {} packets", traffic.tx_packets));
    let memory = discovery
        .memory_per_participant_bytes
        .map_or_else(String::new, |bytes| format!(", {} KiB/participant", bytes / 1024));
    let count = discovery.participants.len();
    let processes = match run.processes.len() {
        several if several < count => {
            format!(" in {several} process{}", if several == 1 { "" } else { "es" })
        }
        _ => String::new(),
    };
    format!("all {count}{processes} matched in {matched}{slowest}{packets}{memory}")
}
