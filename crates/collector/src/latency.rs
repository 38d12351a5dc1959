//! Evaluation of a latency run: RTTs measured by the pinger, and one-way times from the timestamps of both agents.

use std::collections::BTreeMap;

use control::{EchoReport, NegativeTimes, PingerReport, ReturnReport, TimestampPair};
use experiment::{Design, Role};
use results::{
    COARSE_WINDOWS, DeliveryCounts, Distribution, FlowRecord, Measurement, PingRetries, WarningKind, Windows,
    format_value,
};
use stats::total;

use crate::{
    RunContext, cpu,
    delivery::Delivery,
    evaluation::{Evaluation, FlowTimes},
    reports::RunReports,
    routes::Route,
};

/// An endpoint that echoes, and what the pinger received from it.
struct Echoing<'a> {
    route: Route<'a>,
    /// Prefix of each message.
    whose: String,
    echoed: &'a EchoReport,
    returned: &'a ReturnReport,
}

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let Some((pinged, echoing)) = joined(context, reports) else { return Evaluation::unreported() };
    let mut evaluation = Evaluation::default();
    check_pings(&mut evaluation, reports, pinged);
    for one in &echoing {
        check_return(&mut evaluation, &one.whose, one.route.expected(pinged.sent), one.returned);
        evaluation.check(one.returned.returned <= one.echoed.echoed, || {
            format!(
                "{}{} pings came back, but {} were echoed",
                one.whose, one.returned.returned, one.echoed.echoed
            )
        });
        evaluation.flows.push(flow(context, pinged, one));
        check_listener(&mut evaluation, &one.whose, one.echoed);
    }
    latencies(&mut evaluation, context, &echoing);
    if let Some(last) = &pinged.last_rtt {
        evaluation.add("rtt_last", last);
    }
    receivers(&mut evaluation, context, reports, pinged);
    evaluation.warn_of_counts("pings");
    for one in &echoing {
        warn_of_late(&mut evaluation, &one.whose, pinged, one.returned);
    }
    warn_of_writes(&mut evaluation, pinged);
    retries(&mut evaluation, pinged, &echoing);
    cpu::add(&mut evaluation, reports);
    evaluation
}

/// Returns the report of the pinger, with those of the endpoints that echo; `None` if one is missing.
fn joined<'a>(
    context: &RunContext<'_>,
    reports: &'a RunReports,
) -> Option<(&'a PingerReport, Vec<Echoing<'a>>)> {
    let pinger = reports.driving();
    let pinged = pinger.report.pinger()?;
    let routes = reports.routes().into_iter().filter(|route| route.reading.endpoint.role == Role::Echo);
    let routes: Vec<Route<'_>> = routes.collect();
    let back = &pinger.endpoint.readers;
    if routes.is_empty() || back.len() != pinged.returns.len() {
        return None;
    }
    let by_topic: BTreeMap<&str, &ReturnReport> =
        back.iter().map(|reader| reader.topic.as_str()).zip(&pinged.returns).collect();
    // The echoes of an endpoint that has ended belong to none of those that reported.
    let one = |route: Route<'a>| {
        let whose = route.whose(context.factors, back.len() == 1);
        let topic = &route.reading.endpoint.writers.first()?.topic;
        let returned = *by_topic.get(topic.as_str())?;
        Some(Echoing { whose, echoed: route.reading.report.echo()?, returned, route })
    };
    Some((pinged, routes.into_iter().map(one).collect::<Option<_>>()?))
}

/// Returns the record of the pings that one endpoint echoes.
fn flow(context: &RunContext<'_>, pinged: &PingerReport, one: &Echoing<'_>) -> FlowRecord {
    let Echoing { route, echoed, returned, .. } = one;
    // A ping that was never accepted counts as sent and lost.
    let offered = pinged.sent.saturating_add(pinged.unsent);
    let sent = route.expected(offered);
    let counted = DeliveryCounts {
        sent,
        filtered: offered - sent,
        delivered: returned.returned,
        lost: returned.lost.saturating_add(sent - route.expected(pinged.sent)),
        undelivered: 0,
        duplicate: returned.duplicate,
        out_of_order: 0,
        corrupt: total([returned.corrupt, echoed.overwritten, echoed.wrong_size]),
        foreign: returned.foreign.saturating_add(echoed.foreign),
        checked_in_full: returned.checked_in_full,
    };
    FlowRecord {
        planned: counted.sent,
        offered: counted.sent,
        delivered_in_time: counted.delivered,
        counted,
        ..route.record(context.factors)
    }
}

/// Adds the latencies of the run and, if several endpoints echo, of each of them.
fn latencies(evaluation: &mut Evaluation, context: &RunContext<'_>, echoing: &[Echoing<'_>]) {
    let names: Vec<String> = evaluation.flows.iter().map(FlowRecord::full_name).collect();
    let times = |of: usize, distribution, clock_error_ns, negative| FlowTimes {
        name: names[of].clone(),
        distribution,
        is_pooled: true,
        // The direction in which a ping was lost is unknown: it counts in both.
        lost: echoing[of].returned.lost,
        clock_error_ns,
        negative,
    };
    // A round trip starts and ends at the same host.
    let trips = echoing.iter().enumerate().map(|(of, one)| times(of, &one.returned.rtt, None, 0));
    evaluation.add_flows("rtt", &trips.collect::<Vec<_>>());
    let errors: Option<Vec<u64>> = echoing.iter().map(|one| one.route.error_ns()).collect();
    let Some(errors) = errors else { return };
    let ways: Vec<_> = echoing
        .iter()
        .zip(&errors)
        .map(|(one, error_ns)| one_way(evaluation, context.design, one, *error_ns))
        .collect();
    for (direction, kind) in ["one_way_out", "one_way_back"].into_iter().enumerate() {
        let of_kind = ways.iter().zip(&errors).enumerate().map(|(of, (ways, error_ns))| {
            let (distribution, negative) = &ways[direction];
            times(of, distribution, Some(*error_ns), negative.count)
        });
        evaluation.add_flows(kind, &of_kind.collect::<Vec<_>>());
    }
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
        let read = route.reading.report.reader();
        let Some((read, flow)) = read.and_then(|read| Some((read, read.flows.get(route.position)?))) else {
            evaluation.contradictions.push(format!("{whose}the agent did not report what its role records"));
            continue;
        };
        let received = &flow.received;
        let delivery = Delivery {
            whose: &whose,
            route,
            sizes: None,
            offered: route.expected(pinged.sent.saturating_add(pinged.unsent)),
            accepted: route.expected(pinged.sent),
            filtered: pinged.sent - route.expected(pinged.sent),
            // The pinger does not count its pings of the warm-up.
            warm_up: received.warm_up,
            write_calls: pinged.sent,
            received,
        };
        delivery.check(evaluation);
        delivery.check_witnesses(evaluation, factors, true);
        evaluation.check_takes(&whose, factors, flow.takes.as_ref(), received.delivered);
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

/// Warns of echoes of one endpoint that came back too late.
pub(crate) fn warn_of_late(
    evaluation: &mut Evaluation,
    whose: &str,
    pinged: &PingerReport,
    returned: &ReturnReport,
) {
    if returned.late > 0 {
        let text = format!(
            "{whose}{} of the pings that count as lost came back later than {} ms{}",
            returned.late,
            pinged.ping_timeout_ns as f64 / 1e6,
            returned.latest_ns.map_or_else(String::new, wait_longer)
        );
        evaluation.warn(WarningKind::LatePings, text);
    }
}

/// Returns the advice to wait for pings that took up to `latest_ns`: for twice that, in whole 100 ms.
fn wait_longer(latest_ns: u64) -> String {
    const STEP_NS: u64 = 100_000_000;
    let wait_ns = latest_ns.saturating_mul(2).div_ceil(STEP_NS).saturating_mul(STEP_NS);
    format!(
        ", up to {} ms: `--ping-timeout {}ms` waits for them",
        format_value(latest_ns as f64 / 1e6),
        wait_ns / 1_000_000
    )
}

/// Warns of pings that were not accepted at once.
pub(crate) fn warn_of_writes(evaluation: &mut Evaluation, pinged: &PingerReport) {
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
fn retries(evaluation: &mut Evaluation, pinged: &PingerReport, echoing: &[Echoing<'_>]) {
    let retries = ping_retries(pinged, &echoing.iter().map(|one| one.echoed).collect::<Vec<_>>());
    if retries.echoes_timed_out > 0 || retries.echoes_refused > 0 {
        let text = format!(
            "{} writes of echoes timed out and {} were refused; {}",
            retries.echoes_timed_out,
            retries.echoes_refused,
            if echoing.iter().any(|one| one.echoed.echoed_in_listener.is_some()) {
                "they were repeated for up to 200 ms, by a thread"
            } else {
                "their pings count as lost"
            }
        );
        evaluation.warn(WarningKind::WritesRefused, text);
    }
    evaluation.measured = Some(Measurement::Latency { ping_retries: retries, ring: None });
}

/// Returns the writes of pings and of echoes that were not accepted at once.
pub(crate) fn ping_retries(pinged: &PingerReport, echoes: &[&EchoReport]) -> PingRetries {
    PingRetries {
        timed_out: pinged.timed_out,
        refused: pinged.refused,
        unsent: pinged.unsent,
        echoes_timed_out: total(echoes.iter().map(|echo| echo.timed_out)),
        echoes_refused: total(echoes.iter().map(|echo| echo.refused)),
    }
}

/// Checks the echoes of a listener, and warns of those that it did not send itself.
pub(crate) fn check_listener(evaluation: &mut Evaluation, whose: &str, echoed: &EchoReport) {
    let Some(in_listener) = echoed.echoed_in_listener else { return };
    evaluation.check(in_listener <= echoed.echoed, || {
        format!("{whose}the listener sent {in_listener} echoes, but {} were sent", echoed.echoed)
    });
    let handed = echoed.echoed.saturating_sub(in_listener);
    if handed > 0 {
        let text = format!(
            "{whose}{handed} of {} echoes were not sent by the listener: it copied their pings and handed them to a thread",
            echoed.echoed
        );
        evaluation.warn(WarningKind::HandedOver, text);
    }
}

/// Checks the count of pings.
pub(crate) fn check_pings(evaluation: &mut Evaluation, reports: &RunReports, pinged: &PingerReport) {
    evaluation.check(pinged.sent == reports.sent(), || {
        format!("{} pings were sent when measured, {} when reported", reports.sent(), pinged.sent)
    });
}

/// Checks that the counts of the echoes of one endpoint agree.
pub(crate) fn check_return(evaluation: &mut Evaluation, whose: &str, sent: u64, back: &ReturnReport) {
    let (returned, lost) = (back.returned, back.lost);
    evaluation.check(sent == returned.saturating_add(lost), || {
        format!("{whose}{sent} pings were sent, but {returned} came back and {lost} were lost")
    });
    evaluation.check(back.rtt.n == returned, || {
        format!("{whose}{returned} pings came back, but {} round trips were recorded", back.rtt.n)
    });
}

/// Returns the one-way times of the pings of one endpoint, out and back, each with the negative ones. `error_ns`: maximum
/// error of the clocks.
fn one_way(
    evaluation: &mut Evaluation,
    design: &Design,
    one: &Echoing<'_>,
    error_ns: u64,
) -> [(Distribution, NegativeTimes); 2] {
    let Echoing { whose, echoed, returned, .. } = one;
    let pings = returned.stamps.as_slice();
    let echoes = echoed.stamps.as_slice();
    let begin = pings.iter().map(|ping| ping.first_ns).find(|&sent| sent > 0).unwrap_or(0);
    let mut ways = [(), ()].map(|()| {
        let mut windows = Windows::new(design.windows.min(COARSE_WINDOWS), design.measure_ns);
        windows.begin(begin);
        (windows, NegativeTimes::default())
    });
    let (mut joined, mut backwards) = (0_u64, 0_u64);
    for (ping, echo) in pings.iter().zip(echoes) {
        if !happened(ping) || !happened(echo) {
            continue;
        }
        joined += 1;
        backwards += u64::from(echo.second_ns < echo.first_ns);
        let times = [(ping.first_ns, echo.first_ns), (echo.second_ns, ping.second_ns)];
        for ((windows, negative), (sent_ns, arrived_ns)) in ways.iter_mut().zip(times) {
            match arrived_ns.checked_sub(sent_ns) {
                Some(ns) => windows.record(ping.first_ns, ns),
                None => negative.count(sent_ns - arrived_ns),
            }
        }
    }
    evaluation.check(backwards == 0, || {
        format!("{whose}{backwards} echoes were sent before their ping was received")
    });
    for (_, negative) in &ways {
        evaluation.check_negative(whose, error_ns, *negative);
    }
    let unjoined = returned.returned.saturating_sub(joined);
    if unjoined > 0 {
        let text = format!(
            "{whose}one-way times are of {joined} of {} pings: the others have no stamps at both ends",
            returned.returned
        );
        evaluation.warn(WarningKind::Incomplete, text);
    }
    ways.map(|(windows, negative)| (windows.distribution(), negative))
}

const fn happened(stamp: &TimestampPair) -> bool {
    stamp.first_ns > 0 && stamp.second_ns > 0
}
