//! Evaluation of a latency run: RTTs measured by the pinger, and one-way times from the timestamps of both agents.

use control::{EchoReport, PingerReport, TimestampPair};
use experiment::{Design, Role};
use results::{COARSE_WINDOWS, DeliveryCounts, FlowRecord, PingRetries, WarningKind, Windows};

use crate::{RunContext, RunReports, cpu, delivery::Delivery, evaluation::Evaluation};

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let mut evaluation = Evaluation::default();
    let pinger = reports.driving();
    let (Some(pinged), Some(ponged)) = (&pinger.report.pinger, &reports.serving().report.echo) else {
        evaluation.contradictions.push("an agent did not report what its role records".to_owned());
        return evaluation;
    };
    evaluation.add_with_lost("rtt", &pinged.rtt, pinged.lost);
    if context.one_clock {
        one_way(&mut evaluation, context.design, pinged, ponged);
    }
    check(&mut evaluation, reports, pinged, ponged);
    let counted = DeliveryCounts {
        // A ping that was never accepted counts as sent and lost.
        sent: pinged.sent.saturating_add(pinged.unsent),
        delivered: pinged.returned,
        lost: pinged.lost.saturating_add(pinged.unsent),
        undelivered: 0,
        duplicate: pinged.duplicate,
        out_of_order: 0,
        corrupt: pinged.corrupt.saturating_add(ponged.overwritten).saturating_add(ponged.wrong_size),
        foreign: pinged.foreign.saturating_add(ponged.foreign),
        checked_in_full: pinged.checked_in_full,
    };
    evaluation.flows.push(FlowRecord {
        planned: counted.sent,
        offered: counted.sent,
        delivered_in_time: counted.delivered,
        counted,
        ..reports.routes().first().map(|route| route.record(context.factors)).unwrap_or_default()
    });
    receivers(&mut evaluation, context, reports, pinged);
    evaluation.warn_of_counts("pings");
    warn_of_pings(&mut evaluation, pinged);
    retries(&mut evaluation, pinged, ponged);
    cpu::add(&mut evaluation, reports);
    evaluation
}

/// Adds the flows to readers that receive the pings and do not echo them.
fn receivers(
    evaluation: &mut Evaluation,
    context: &RunContext<'_>,
    reports: &RunReports,
    pinged: &PingerReport,
) {
    let factors = context.factors;
    for route in reports.routes().iter().filter(|route| route.reading.endpoint.role == Role::Reader) {
        let whose = route.whose(factors, false);
        let Some((read, received)) = route
            .reading
            .report
            .reader
            .as_ref()
            .and_then(|read| Some((read, read.received.get(route.position)?)))
        else {
            evaluation.contradictions.push(format!("{whose}the agent did not report what its role records"));
            continue;
        };
        let delivery = Delivery {
            whose: &whose,
            route,
            offered: pinged.sent.saturating_add(pinged.unsent),
            accepted: pinged.sent,
            // The pinger does not count its pings of the warm-up.
            warm_up: received.warm_up,
            write_calls: pinged.sent,
            received,
        };
        delivery.check(evaluation);
        delivery.check_witnesses(evaluation, factors, true);
        evaluation.check_takes(&whose, factors, read.takes.as_ref(), received.delivered);
        let counted = delivery.counted(factors.is_reliable(0) && !route.reading.drained);
        evaluation.flows.push(FlowRecord {
            planned: delivery.offered,
            offered: delivery.offered,
            delivered_in_time: received.delivered,
            counted: DeliveryCounts { foreign: read.foreign, ..counted },
            ..route.record(factors)
        });
    }
}

/// Warns of pings that came back too late, and of those that were not accepted at once.
pub(crate) fn warn_of_pings(evaluation: &mut Evaluation, pinged: &PingerReport) {
    if pinged.late > 0 {
        let text = format!(
            "{} of the pings that count as lost came back later than {} ms",
            pinged.late,
            pinged.ping_timeout_ns as f64 / 1e6
        );
        evaluation.warn(WarningKind::Loss, text);
    }
    if pinged.timed_out > 0 || pinged.refused > 0 {
        let text = format!(
            "{} writes of pings timed out and {} were refused; they were repeated, and round trips include the time since the first \
             attempt",
            pinged.timed_out, pinged.refused
        );
        evaluation.warn(WarningKind::WritesRefused, text);
    }
    if pinged.unsent > 0 {
        let text = "the last ping was not accepted before the run ended: it counts as lost".to_owned();
        evaluation.warn(WarningKind::WritesRefused, text);
    }
}

/// Records the writes that were not accepted at once, with a warning about those of echoes.
fn retries(evaluation: &mut Evaluation, pinged: &PingerReport, ponged: &EchoReport) {
    let retries = PingRetries {
        timed_out: pinged.timed_out,
        refused: pinged.refused,
        unsent: pinged.unsent,
        echoes_timed_out: ponged.timed_out,
        echoes_refused: ponged.refused,
    };
    if retries.echoes_timed_out > 0 || retries.echoes_refused > 0 {
        let text = format!(
            "{} writes of echoes timed out and {} were refused; their pings count as lost",
            retries.echoes_timed_out, retries.echoes_refused
        );
        evaluation.warn(WarningKind::WritesRefused, text);
    }
    evaluation.ping_retries = Some(retries);
}

/// Checks that independent counts agree.
fn check(evaluation: &mut Evaluation, reports: &RunReports, pinged: &PingerReport, ponged: &EchoReport) {
    check_pinger(evaluation, reports, pinged);
    evaluation.check(pinged.returned <= ponged.echoed, || {
        format!("{} pings came back, but {} were echoed", pinged.returned, ponged.echoed)
    });
}

/// Checks that the counts of a pinger agree.
pub(crate) fn check_pinger(evaluation: &mut Evaluation, reports: &RunReports, pinged: &PingerReport) {
    let PingerReport { sent, returned, lost, .. } = *pinged;
    evaluation.check(sent == returned.saturating_add(lost), || {
        format!("{sent} pings were sent, but {returned} came back and {lost} were lost")
    });
    evaluation.check(sent == reports.sent(), || {
        format!("{} pings were sent when measured, {sent} when reported", reports.sent())
    });
    evaluation.check(pinged.rtt.n == returned, || {
        format!("{returned} pings came back, but {} round trips were recorded", pinged.rtt.n)
    });
}

/// Joins the timestamps of both agents by sequence number, for the pings that returned: the same as for the RTTs.
fn one_way(evaluation: &mut Evaluation, design: &Design, pinged: &PingerReport, ponged: &EchoReport) {
    let pings = pinged.stamps.as_slice();
    let echoes = ponged.stamps.as_slice();
    let begin = pings.iter().map(|ping| ping.first_ns).find(|&sent| sent > 0).unwrap_or(0);
    let [mut out, mut back] = [(), ()].map(|()| {
        let mut windows = Windows::new(design.windows.min(COARSE_WINDOWS), design.measure_ns);
        windows.begin(begin);
        windows
    });
    let mut backwards = 0_u64;
    for (ping, echo) in pings.iter().zip(echoes) {
        if !happened(ping) || !happened(echo) {
            continue;
        }
        let times = echo.first_ns.checked_sub(ping.first_ns).zip(ping.second_ns.checked_sub(echo.second_ns));
        match times {
            Some((there, here)) if echo.second_ns >= echo.first_ns => {
                out.record(ping.first_ns, there);
                back.record(ping.first_ns, here);
            }
            _ => backwards += 1,
        }
    }
    let unjoined = pinged.returned.saturating_sub(out.len() + backwards);
    // The direction in which a ping was lost is unknown: it counts in both.
    evaluation.add_with_lost("one_way_out", &out.distribution(), pinged.lost);
    evaluation.add_with_lost("one_way_back", &back.distribution(), pinged.lost);
    evaluation.check(backwards == 0, || {
        format!("{backwards} pings were received before they were sent: the ends do not share a clock")
    });
    if unjoined > 0 {
        let text = format!(
            "one-way times are of {} of {} pings: the others have no stamps at both ends",
            out.len(),
            pinged.returned
        );
        evaluation.warn(WarningKind::Incomplete, text);
    }
}

const fn happened(stamp: &TimestampPair) -> bool {
    stamp.first_ns > 0 && stamp.second_ns > 0
}
