//! Evaluation of runs: joins the reports of the agents of a run, checks that independent counts agree, and fills in
//! the record of the run.
//!
//! The runner calls [`collect`] with the reports of real agents. A simulation calls it with the reports that agents
//! would send, so both have the same metrics, checks and warnings. `docs/explain/reconciliation.md` lists the checks.
//!
//! Pure: no file, no process and no clock. All timestamps come from the reports.
#![forbid(unsafe_code)]

mod batching;
mod buffers;
mod configuration;
mod cpu;
mod delivery;
mod discovery;
mod drops;
mod ends;
mod evaluation;
mod late_join;
mod latency;
mod link_lateness;
mod multicast;
mod paced;
mod per_host;
mod physics;
mod probes;
mod reports;
mod ring;
mod routes;
mod streams;
mod throughput;
mod timeliness;
mod traces;

use experiment::{Design, Factors, Topology, Workload};
use results::{
    EndpointRecord, HostRecord, Interface, IntervalLog, Run, RunState, Warning, WarningKind, WireBytes,
};

use per_host::{largest_per_host, sum_of_interfaces};

pub use configuration::{Mismatch, mismatch};
pub use reports::{AgentOutcome, LateJoined, RunReports};
pub use traces::TraceFiles;

/// Plan of a run, and the properties of its host that its evaluation depends on.
#[derive(Clone, Copy, Debug)]
pub struct RunContext<'a> {
    /// Factors of the cell.
    pub factors: &'a Factors,
    /// Design with the seed of the run.
    pub design: &'a Design,
    /// Samples of the trace files that loads follow.
    pub traces: &'a TraceFiles,
    /// Hosts of the agents.
    pub hosts: &'a [HostRecord],
}

/// Fills in the record of a run from the reports and returns its histograms.
pub fn collect(run: &mut Run, context: &RunContext<'_>, reports: &RunReports) -> IntervalLog {
    let all = reports;
    let without_late = reports.join.is_some().then(|| reports.without_late());
    let reports = without_late.as_ref().unwrap_or(all);
    let mut evaluation = match context.factors.workload {
        Workload::Latency if matches!(context.factors.topology, Topology::Ring { .. }) => {
            ring::evaluate(context, reports)
        }
        Workload::Latency => latency::evaluate(context, reports),
        Workload::Throughput => throughput::evaluate(context, reports),
        Workload::Discovery => discovery::evaluate(context.factors, reports),
        // The trials of a search are paced runs.
        Workload::Paced | Workload::Search => paced::evaluate(context, reports),
    };
    if context.design.unsupported_quantiles {
        let kinds = evaluation.latency.keys().cloned().collect();
        for (kind, histogram) in evaluation.log.merged_of(&kinds) {
            evaluation
                .latency
                .entry(kind)
                .and_modify(|latency| *latency = latency.clone().with_unsupported(&histogram));
        }
    }
    evaluation.contradictions.extend(reports.clock_faults.iter().cloned());
    if let Some(join) = &all.join {
        late_join::add(&mut evaluation, context, all, join);
    }
    let reports = all;
    buffers::check(&mut evaluation, context, reports);
    batching::check(&mut evaluation, context, reports);
    multicast::check(&mut evaluation, context, reports);
    run.endpoints = reports.agents.iter().map(endpoint_record).collect();
    physics::check(&mut evaluation, run.link.as_ref(), context, reports);
    link_lateness::check(&mut evaluation, run.link.as_ref());
    run.processes = reports.processes().iter().filter_map(|members| cpu::process_record(members)).collect();
    run.wire = wire(reports);
    drops::add(run, &mut evaluation, reports);
    if !reports.lost.is_empty() {
        let names = reports.names();
        let lost: Vec<String> = reports.lost.iter().map(|endpoint| names.label(endpoint)).collect();
        let text = format!(
            "{} ended during the measurement: all values are of the other {} endpoints{}",
            lost.join(", "),
            reports.agents.len(),
            lost_flows(reports, context.factors)
        );
        evaluation.warn(WarningKind::Incomplete, text);
    }
    let unverified = configuration::unverified(reports);
    if !unverified.is_empty() {
        let text = format!("the driver cannot read back {}", unverified.join(", "));
        evaluation.warn(WarningKind::Incomplete, text);
    }
    run.state = if evaluation.contradictions.is_empty() { RunState::Valid } else { RunState::Invalid };
    // Warnings that make the run invalid come first.
    run.warnings = evaluation
        .contradictions
        .into_iter()
        .map(|text| Warning::new(WarningKind::RunsInvalid, text))
        .chain(evaluation.warnings)
        .collect();
    run.latency = evaluation.latency;
    run.measured = evaluation.measured;
    run.late_join = evaluation.late_join;
    run.steady_state = evaluation.steady_state;
    run.flows = evaluation.flows;
    run.cpu_ns_per_sample = evaluation.cpu;
    evaluation.log
}

/// Returns words about the flows of the endpoints that ended early, if the run has several.
fn lost_flows(reports: &RunReports, factors: &Factors) -> String {
    let names = reports.names();
    let mut text = String::new();
    for endpoint in reports.lost.iter().filter(|_| factors.flows.len() > 1) {
        let written = endpoint.writers.iter().map(|writer| &writer.stream);
        let read = endpoint.readers.iter().flat_map(|reader| &reader.streams);
        let mut flows: Vec<String> = written
            .chain(read)
            .filter_map(|stream| factors.flows.get(stream.flow as usize))
            .map(|flow| format!("`{}`", flow.group.as_ref().unwrap_or(&flow.name)))
            .collect();
        flows.dedup();
        let verb = if endpoint.role.drives() { "wrote" } else { "read" };
        text += &format!("; {} {verb} {}", names.label(endpoint), flows.join(", "));
    }
    text
}

/// Returns the traffic of the interfaces at the readers: of each host with one, and of all of them together.
fn wire(reports: &RunReports) -> Option<WireBytes> {
    let read = reports
        .all_serving()
        .filter_map(|agent| Some((agent.endpoint.place.host.as_str(), agent.report.interface.as_ref()?)));
    let by_host = largest_per_host(read, |interface| interface.rx_bytes);
    let Interface { name: interface, rx_bytes, rx_packets, tx_bytes, tx_packets } =
        sum_of_interfaces(by_host.into_values())?;
    Some(WireBytes { interface, rx_bytes, rx_packets, tx_bytes, tx_packets })
}

fn endpoint_record(agent: &AgentOutcome) -> EndpointRecord {
    EndpointRecord {
        id: agent.endpoint.id.clone(),
        role: agent.endpoint.role.name().to_owned(),
        driver: agent.endpoint.driver.clone(),
        process: agent.endpoint.process,
        matched_ns: agent.matched_ns,
        effective_qos: agent.configured.effective_qos.clone(),
        cpus: agent.configured.cpus.clone(),
        host: agent.endpoint.place.host.clone(),
        sockets: agent.report.sockets.clone(),
        interface: agent.report.interface.clone(),
        counters: agent.report.counters.clone(),
        settings: agent.configured.settings.clone(),
        clock_error_ns: agent.clock_error_ns,
        reception: agent.report.reception(),
        echoed_in_listener: agent.report.echo().and_then(|echo| echo.echoed_in_listener),
    }
}
