//! Consistency of the reports of a run with a schedule, beyond that of any delivery.

use experiment::Factors;
use stats::total;

use super::ends::Ends;
use crate::{evaluation::Evaluation, reports::RunReports, timeliness};

/// Relative tolerance for the sum of two means: means are exact sums divided by a count.
const ROUNDING: f64 = 1e-9;

/// Checks the takes of each reader. One take may have samples of several writers: it is reported with the first.
pub(super) fn takes(evaluation: &mut Evaluation, factors: &Factors, reports: &RunReports) {
    let names = reports.names();
    for agent in reports.all_serving() {
        let Some(read) = agent.report.paced_reader() else { continue };
        let (whose, mut flows) = (names.whose(agent), read.flows.as_slice());
        for reader in &agent.endpoint.readers {
            let (of_reader, rest) = flows.split_at(reader.streams.len().min(flows.len()));
            let delivered = total(of_reader.iter().map(|flow| flow.received.delivered));
            let takes = of_reader.first().and_then(|flow| flow.takes.as_ref());
            evaluation.check_takes(&whose, factors, takes, delivered);
            flows = rest;
        }
    }
}

/// Checks the counts and sums beyond those of any delivery. `planned`: by the runner's own computation of the
/// schedule.
pub(super) fn check(evaluation: &mut Evaluation, ends: &Ends<'_>, planned: Option<u64>) {
    let Ends { whose, writer, read, .. } = ends;
    let delivered = read.received.delivered;
    let [response, service, lag, ..] = ends.distributions();
    evaluation.check_batches(whose, writer.accepted, writer.batches.as_ref());
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
