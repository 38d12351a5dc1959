//! CPU time per sample of the agents, and their idle cost.

use results::{CpuPerSample, Idle, IdleCost, WarningKind};
use stats::total;

use crate::{AgentOutcome, RunReports, evaluation::Evaluation};

/// Adds the CPU time per sample of the agents, with warnings about their idle cost. The metered samples of an agent must
/// not exceed its counted ones.
pub(crate) fn add(evaluation: &mut Evaluation, reports: &RunReports) {
    for agent in &reports.agents {
        let AgentOutcome { endpoint, report, .. } = agent;
        let (role, usage, counted) = (&endpoint.id, &report.usage, counted(evaluation, agent));
        evaluation.check(usage.samples <= counted, || {
            format!("the {role} metered {} samples, and counted {counted}", usage.samples)
        });
        let idle = 100.0 * usage.idle.as_ref().map_or(0.0, Idle::used);
        let text = match usage.idle_cost() {
            IdleCost::Negligible => continue,
            IdleCost::Share(share) if share < 1.0 => format!(
                "the {role}'s process used {idle:.1} % of a core without traffic: {:.0} % of its CPU time was subtracted from its CPU \
                 per sample",
                100.0 * share
            ),
            IdleCost::Share(_) => format!(
                "the {role}'s process used {idle:.1} % of a core without traffic, and not more with it: its CPU per sample is n/a"
            ),
            IdleCost::BusyWait => format!(
                "the {role}'s process waits by using its core ({idle:.0} % without traffic): its CPU per sample is the core's time, and \
                 no idle cost was subtracted"
            ),
        };
        evaluation.warn(WarningKind::IdleCpu, text);
    }
    let writers: Vec<_> = reports.all_driving().map(|agent| &agent.report.usage).collect();
    let readers: Vec<_> = reports.all_serving().map(|agent| &agent.report.usage).collect();
    evaluation.cpu = CpuPerSample::from_usage(&writers, &readers);
}

/// Returns the number of samples that an agent counted: sent, echoed or received.
fn counted(evaluation: &Evaluation, agent: &AgentOutcome) -> u64 {
    if agent.endpoint.role.drives() {
        return agent.sent;
    }
    if let Some(echo) = &agent.report.echo {
        return echo.echoed;
    }
    let flows = evaluation.flows.iter().filter(|flow| flow.reader == agent.endpoint.id);
    total(flows.map(|flow| flow.counted.delivered))
}
