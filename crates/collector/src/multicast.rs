//! Check that samples were sent by multicast if that was requested. A driver reports what it requested from its
//! middleware, or `unknown`; the kernel counts what is sent.

use results::WarningKind;
use stats::total;

use crate::{RunContext, RunReports, evaluation::Evaluation};

/// Minimum share of the payload that must have been sent by multicast: the first and the last samples of the
/// measurement may fall outside the kernel counter readings.
const LEAST: f64 = 0.9;

/// Records a contradiction if multicast was requested and the samples were sent by other means.
pub(crate) fn check(evaluation: &mut Evaluation, context: &RunContext<'_>, reports: &RunReports) {
    let factors = context.factors;
    if !factors.multicast || evaluation.flows.is_empty() {
        return;
    }
    // Of several writers of a host, each counts the traffic of the whole network namespace.
    let sockets = reports.all_driving().filter_map(|agent| agent.report.sockets.as_ref());
    let multicast = sockets.filter_map(|sockets| sockets.multicast.as_ref());
    let Some(multicast) = multicast.max_by_key(|multicast| multicast.bytes) else {
        let text = "the kernel does not say what left by multicast: whether the samples did is unknown";
        evaluation.warn(WarningKind::Incomplete, text.to_owned());
        return;
    };
    // One sample by multicast reaches all readers: each writer counts once.
    let reader = evaluation.flows.first().map(|flow| &flow.reader);
    let once = evaluation.flows.iter().filter(|flow| Some(&flow.reader) == reader);
    let payload = total(once.map(|flow| flow.counted.sent.saturating_mul(flow.size_bytes)));
    evaluation.check(multicast.bytes as f64 >= payload as f64 * LEAST, || {
        format!(
            "multicast was asked for, but of samples with {payload} B the kernel sent {} B by multicast",
            multicast.bytes
        )
    });
}
