//! Progress line of a finished run.

use experiment::{Design, Factors, RunTopology, Workload};
use results::{Run, RunState, format_micros, format_value};
use stats::total;

use crate::{discovery, paced, search, settings::interference, short_name};

/// Returns the progress line of a finished run: its number of all, the cell, the places of its endpoints if it has several
/// hosts, and its main values.
#[must_use]
pub fn run_line(run: &Run, factors: &Factors, design: &Design, done: usize, total: usize) -> String {
    let run_topology = RunTopology::of(factors, design);
    let batch = match factors.batch_bytes {
        0 => String::new(),
        bytes if factors.batching.is_turbo() => format!(", {} up to {bytes}", factors.batching),
        bytes => format!(", batched to {bytes}"),
    };
    let load = match (&factors.load, factors.flows.len()) {
        (Some(load), _) => format!(" at {load}"),
        (None, 0) => String::new(),
        (None, flows) => format!(" in {flows} flows"),
    };
    let size = match factors.workload {
        Workload::Discovery => {
            let shared = factors.shared_process().map(|text| format!(", {text}"));
            format!("{}{}", factors.topology, shared.unwrap_or_default())
        }
        _ => match &factors.flows[..] {
            [flow] => format!("{} bytes", flow.size_text()),
            _ => format!("{} bytes", factors.size_bytes),
        },
    };
    let width = total.to_string().len();
    let cell = format!(
        "[{done:>width$}/{total}] {} {} {}{load} {}{batch}{}{}",
        short_name(&factors.driver),
        factors.transport,
        factors.workload,
        size,
        factors.as_shipped(),
        run_topology
            .placement(factors.topology)
            .map_or_else(String::new, |placement| format!(", {placement}"))
    );
    let interference = if run.failure.is_none() { interference(run.duet.is_some()) } else { String::new() };
    format!("{cell}: {}{interference}", outcome(run, factors, &run_topology))
}

fn outcome(run: &Run, factors: &Factors, run_topology: &RunTopology) -> String {
    if let Some(failure) = &run.failure {
        let whose = failure.endpoint.as_ref().map(|endpoint| format!(" ({})", run_topology.label(endpoint)));
        let whose = whose.unwrap_or_default();
        let others = of_others(run, factors).map_or_else(String::new, |of| format!(" ({of})"));
        return format!("FAILED in `{}`{whose}: {}{others}", failure.phase, failure.error);
    }
    let outcome = values(run, factors);
    match run.state {
        RunState::Valid => match &run.exit_failure {
            None => outcome,
            Some(failure) => {
                let whose =
                    failure.endpoint.as_ref().map(|endpoint| format!("{}: ", run_topology.label(endpoint)));
                format!("{outcome} (after the report, {}{})", whose.unwrap_or_default(), failure.error)
            }
        },
        RunState::Failed => "FAILED".to_owned(),
        RunState::Invalid => {
            let why = run.warnings.first().map_or("its values contradict each other", |first| &first.text);
            format!("INVALID: {why} ({outcome})")
        }
    }
}

/// Returns the values of a failed run that went on without an endpoint; `None` if there are none.
pub(crate) fn of_others(run: &Run, factors: &Factors) -> Option<String> {
    let remained = run.failure.is_some() && !run.flows.is_empty();
    remained.then(|| format!("the others: {}", values(run, factors)))
}

fn values(run: &Run, factors: &Factors) -> String {
    match factors.workload {
        Workload::Latency => latency(run),
        Workload::Throughput => throughput(run),
        Workload::Paced => paced::outcome(run),
        Workload::Search => search::outcome(run),
        Workload::Discovery => discovery::outcome(run),
    }
}

fn latency(run: &Run) -> String {
    let Some(rtt) = run.latency.get("rtt") else { return "nothing measured".to_owned() };
    let quantile = |ns: Option<u64>| {
        ns.map_or_else(|| "n/a".to_owned(), |ns| format!("{} µs", format_micros(ns as f64)))
    };
    let sent = total(run.counts().map(|counted| counted.sent));
    let lost = total(run.counts().map(|counted| counted.lost));
    let lost = if lost > 0 { format!(", {lost} of {sent} pings lost") } else { String::new() };
    format!("RTT p50 {}, p99 {}, n {}{lost}", quantile(rtt.p50_ns), quantile(rtt.p99_ns), rtt.n)
}

fn throughput(run: &Run) -> String {
    run.throughput().map_or_else(
        || "nothing measured".to_owned(),
        |throughput| {
            format!(
                "{} samples/s, {} Mbit/s, {} % missing",
                format_value(throughput.delivered_sps),
                format_value(throughput.goodput_mbps),
                format_value(run.shortfall().pct())
            )
        },
    )
}
