//! CPU time per sample of both agents, and their idle cost.

use results::{CpuPerSample, Idle, IdleCost, WarningKind};

use crate::{AgentOutcome, RunReports, evaluation::Evaluation};

/// Adds the CPU time per sample of both agents, with warnings about their idle cost. The metered samples of an agent
/// must not exceed its counted ones: `driven` and `served`.
pub(crate) fn add(evaluation: &mut Evaluation, reports: &RunReports, driven: u64, served: u64) {
    for (agent, counted) in [(reports.driving(), driven), (reports.serving(), served)] {
        let AgentOutcome { endpoint, report, .. } = agent;
        let (role, usage) = (endpoint.role.name(), &report.usage);
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
    evaluation.cpu =
        CpuPerSample::from_usage(&reports.driving().report.usage, &reports.serving().report.usage);
}
