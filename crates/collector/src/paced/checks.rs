//! Consistency of the reports of a run with a schedule, beyond that of any delivery.

use stats::total;

use crate::{ends::Ends, evaluation::Evaluation, timeliness};

/// Relative tolerance for the sum of two means: means are exact sums divided by a count.
const ROUNDING: f64 = 1e-9;

/// Checks the counts and sums beyond those of any delivery. `planned`: by the runner's own computation of the
/// schedule.
pub(super) fn check(evaluation: &mut Evaluation, ends: &Ends<'_>, planned: Option<u64>) {
    let Ends { whose, writer, read, .. } = ends;
    let delivered = read.received.delivered;
    let [response, service, lag, ..] = ends.distributions();
    evaluation.check_batches(whose, writer);
    let (negative, clock_error_ns) = (read.negative_service, ends.clock_error_ns());
    for negative in [negative, read.negative_response] {
        evaluation.check_negative(whose, clock_error_ns, negative);
    }
    evaluation.check(total([service.n, negative.count]) == delivered, || {
        format!(
            "{whose}{delivered} samples came, but {} service times were recorded",
            total([service.n, negative.count])
        )
    });
    let Some(planned) = planned else {
        evaluation.check(response.n == 0 && lag.n == 0, || {
            format!(
                "{whose}without intended times, {} responses and {} send lags were recorded",
                response.n, lag.n
            )
        });
        return;
    };
    evaluation.check(writer.planned == planned, || {
        format!(
            "{whose}the plan has {planned} samples for the measured time, the writer had {}",
            writer.planned
        )
    });
    evaluation.check(writer.offered <= planned, || {
        format!("{whose}{} samples were offered of {planned} planned", writer.offered)
    });
    evaluation.check(lag.n == writer.offered, || {
        format!("{whose}{} samples were offered, but {} send lags were recorded", writer.offered, lag.n)
    });
    evaluation.check(writer.held_ns <= lag.mean_ns + ROUNDING * lag.mean_ns + ROUNDING, || {
        format!(
            "{whose}of a mean send lag of {} ns, {} ns were time of write calls",
            lag.mean_ns, writer.held_ns
        )
    });
    let responses = total([response.n, read.negative_response.count]);
    evaluation.check(total([responses, read.unplaced]) == delivered, || {
        format!(
            "{whose}{delivered} samples came, but {responses} responses were recorded and {} came too late for one",
            read.unplaced
        )
    });
    timeliness::check(evaluation, &ends.route, whose, read);
    if response.n != service.n || service.n == 0 || !negative.is_none() {
        return;
    }
    // Per sample, response = send lag + service time + time of attempts before the successful one.
    let close = ROUNDING * response.mean_ns + ROUNDING;
    evaluation.check(
        response.mean_ns + close >= service.mean_ns
            && response.min_ns >= service.min_ns
            && response.max_ns >= service.max_ns,
        || format!("{whose}responses are less than service times: samples were written before their intended times"),
    );
    let rest = response.mean_ns - service.mean_ns - lag.mean_ns;
    let tried_again = writer.timed_out > 0 || writer.refused > 0;
    if lag.n == service.n {
        evaluation.check(rest.abs() <= close || (tried_again && rest > 0.0), || {
            format!(
                "{whose}the mean response, {} ns, is not the mean send lag, {} ns, and the mean service time, {} ns: \
                 writer and reader do not follow the same plan",
                response.mean_ns, lag.mean_ns, service.mean_ns
            )
        });
    }
}
