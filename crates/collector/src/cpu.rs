//! CPU time of the processes: per sample, their idle cost, and its bound.

use results::{CpuPerSample, Idle, IdleCost, ProcessRecord, Usage, WarningKind};
use stats::total;

use crate::{
    RunContext,
    evaluation::Evaluation,
    reports::{AgentOutcome, RunReports},
};

/// Tolerance of the CPU time of a process, for each of its cores, in ns: the longest tick of a kernel. The time of a thread on
/// another core is known as of its last tick.
const TICK_NS: u64 = 10_000_000;

/// Returns the record of a process from what its agents reported; `None` without agents.
pub(crate) fn process_record(members: &[&AgentOutcome]) -> Option<ProcessRecord> {
    let first = members.first()?;
    let readings: Vec<&Usage> = members.iter().map(|agent| &agent.report.usage).collect();
    Some(ProcessRecord {
        number: first.endpoint.process,
        name: first.endpoint.process_name.clone(),
        pid: first.pid,
        endpoints: members.iter().map(|agent| agent.endpoint.id.clone()).collect(),
        usage: Usage::of_process(&readings)?,
    })
}

/// Adds the CPU time per sample of the processes, with warnings about their idle cost. The metered samples of an agent
/// must not exceed its counted ones.
pub(crate) fn add(evaluation: &mut Evaluation, reports: &RunReports) {
    for agent in &reports.agents {
        let AgentOutcome { endpoint, report, .. } = agent;
        let (role, usage, counted) = (&endpoint.id, &report.usage, counted(agent));
        evaluation.check(usage.samples <= counted, || {
            format!("the {role} metered {} samples, and counted {counted}", usage.samples)
        });
    }
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    let mut does_both = false;
    for members in reports.processes() {
        let Some(ProcessRecord { endpoints, usage, .. }) = process_record(&members) else { continue };
        let process = match &endpoints[..] {
            [alone] => format!("the {alone}'s process"),
            several => format!("the process of {}", several.join(", ")),
        };
        let idle = 100.0 * usage.idle.as_ref().map_or(0.0, Idle::used);
        let text = match usage.idle_cost() {
            IdleCost::Negligible => None,
            IdleCost::Share(share) if share < 1.0 => Some(format!(
                "{process} used {idle:.1} % of a core without traffic: {:.0} % of its CPU time was subtracted from its CPU \
                 per sample",
                100.0 * share
            )),
            IdleCost::Share(_) => Some(format!(
                "{process} used {idle:.1} % of a core without traffic, and not more with it: its CPU per sample is n/a"
            )),
            IdleCost::BusyWait => Some(format!(
                "{process} waits by using its core ({idle:.0} % without traffic): its CPU per sample is the core's time, and \
                 no idle cost was subtracted"
            )),
        };
        if let Some(text) = text {
            evaluation.warn(WarningKind::IdleCpu, text);
        }
        let drives = members.first().is_some_and(|agent| agent.drives());
        does_both |= members.iter().any(|agent| agent.drives() != drives);
        if drives { &mut writers } else { &mut readers }.push(usage);
    }
    // The CPU time of a process that writes and reads is of both.
    evaluation.cpu = if does_both { None } else { CpuPerSample::from_usage(&writers, &readers) };
}

/// Returns the number of samples that an agent counted: sent, echoed or received, also from writers that did not report.
fn counted(agent: &AgentOutcome) -> u64 {
    if agent.endpoint.role.drives() {
        return agent.sent;
    }
    if let Some(echo) = agent.report.echo() {
        return echo.echoed;
    }
    total(agent.report.received().map(|received| received.delivered))
}

/// Checks that no process used more CPU time than its cores have.
pub(crate) fn check(evaluation: &mut Evaluation, context: &RunContext<'_>, reports: &RunReports) {
    for agent in &reports.agents {
        let AgentOutcome { endpoint, configured, report, .. } = agent;
        let host = context.hosts.iter().find(|host| host.name == endpoint.place.host);
        let cores = match configured.cpus.len() as u64 {
            0 => host.map_or(0, |host| u64::from(host.properties.cpus)),
            cores => cores,
        };
        if cores == 0 {
            continue;
        }
        let Usage { elapsed_ns, idle, .. } = &report.usage;
        let readings =
            [Some((report.usage.cpu_ns(), *elapsed_ns)), idle.as_ref().map(|of| (of.used_ns, of.elapsed_ns))];
        for (used_ns, elapsed_ns) in readings.into_iter().flatten() {
            let most_ns = elapsed_ns.saturating_add(TICK_NS).saturating_mul(cores);
            evaluation.check(used_ns <= most_ns, || {
                format!(
                    "the process of {} used {used_ns} ns of CPU time in {elapsed_ns} ns: {cores} cores have at most {most_ns} ns, with a \
                     tick of {TICK_NS} ns each",
                    endpoint.id
                )
            });
        }
    }
}
