//! Samples of a route that missed their deadline, and the age at its reader.

use control::FlowReaderReport;
use experiment::Factors;
use results::Timeliness;
use stats::total;

use crate::{evaluation::Evaluation, routes::Route};

/// Returns the samples that missed the deadline of the flow, of those `planned` by its writer; `None` without a deadline.
pub(crate) fn of(
    route: &Route<'_>,
    planned: u64,
    read: &FlowReaderReport,
    factors: &Factors,
) -> Option<Timeliness> {
    let deadline = factors.flows.get(route.flow)?.deadline?;
    let read = read.timeliness.as_ref()?;
    let planned = route.expected(planned);
    let missed = planned.saturating_sub(read.in_time);
    Some(Timeliness {
        deadline_ns: deadline.deadline_ns,
        limit_pct: deadline.limit_pct(),
        planned,
        missed,
        is_met: deadline.is_met(missed, planned),
        mean_age_ns: read.mean_age_ns,
        gaps: read.gaps,
    })
}

/// Checks that a stream with a deadline has as many samples in time, and peaks of its age, as can be.
pub(crate) fn check(evaluation: &mut Evaluation, route: &Route<'_>, whose: &str, read: &FlowReaderReport) {
    let Some(timeliness) = &read.timeliness else {
        evaluation.check(route.stream.deadline_ns.is_none(), || {
            format!("{whose}the reader did not report which samples were in time")
        });
        return;
    };
    let placed = total([read.response.n, read.negative_response.count]);
    evaluation.check(timeliness.in_time <= placed, || {
        format!("{whose}{} samples were in time, but {placed} came", timeliness.in_time)
    });
    evaluation.check(timeliness.age.n <= placed + 1, || {
        format!("{whose}the age has {} peaks, but {placed} samples came", timeliness.age.n)
    });
}
