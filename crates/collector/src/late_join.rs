//! Late join of a reader: what it got, and what its joining cost the other readers.
//!
//! Each sample of the measurement was written before the reader had joined, or it was delivered, lost or still under way. The
//! writer counts what it wrote before, and the reader counts what it received of that: two independent records.

use control::{FlowReaderReport, JoinTimes};
use experiment::Factors;
use results::{
    DeliveryCounts, Distribution, JoinCost, LateFlow, LateJoinRecord, WarningKind, format_value, late_loss,
};
use stats::total;

use crate::{
    RunContext,
    ends::Ends,
    evaluation::Evaluation,
    reports::{LateJoined, RunReports},
    routes::Route,
};

impl RunReports {
    /// Returns the reports without those of the late reader.
    pub(crate) fn without_late(&self) -> Self {
        let mut others = self.clone();
        if let Some(join) = &self.join {
            others.agents.retain(|agent| agent.endpoint.id != join.reader);
        }
        others
    }
}

/// Adds the record of a late join to the evaluation of the other readers.
pub(crate) fn add(
    evaluation: &mut Evaluation,
    context: &RunContext<'_>,
    reports: &RunReports,
    join: &LateJoined,
) {
    let factors = context.factors;
    let routes = reports.routes();
    let (of_late, of_others): (Vec<&Route<'_>>, Vec<&Route<'_>>) =
        routes.iter().partition(|route| route.reading.endpoint.id == join.reader);
    // Of a late reader that has ended, there is nothing to record.
    let Some(agent) = of_late.first().map(|route| route.reading) else { return };
    let (mut flows, mut arrivals) = (Vec::new(), Vec::new());
    for route in &of_late {
        let Some(late) = late_flow(evaluation, context, route) else {
            let text = format!("{}: an agent did not report what it recorded of the late join", join.reader);
            evaluation.contradictions.push(text);
            return;
        };
        flows.push(late.0);
        arrivals.push(late.1);
    }
    let cost = |route: &&Route<'_>| join_cost(factors, route, join.times);
    let others: Vec<JoinCost> = of_others.iter().filter_map(cost).collect();
    let since = |ns: u64| ns.saturating_sub(join.times.begin_ns);
    let record = LateJoinRecord {
        reader: join.reader.clone(),
        begin_ns: join.times.period_ns,
        opened_ns: agent.report.participant.as_ref().map_or(0, |opened| since(opened.entities_ns)),
        joined_ns: since(join.joined_ns),
        first_sample_ns: arrivals.iter().filter_map(|(first, _)| *first).min().map(since),
        caught_up_ns: arrivals.iter().filter_map(|(_, last)| *last).max().map(since),
        flows,
        others,
    };
    warn(evaluation, &record);
    evaluation.late_join = Some(record);
}

/// Arrival of the first sample, and of the last one written before the reader had joined, in ns.
type Arrivals = (Option<u64>, Option<u64>);

/// Returns the counts of a flow at the late reader; `None` if a report is missing.
fn late_flow(
    evaluation: &mut Evaluation,
    context: &RunContext<'_>,
    route: &Route<'_>,
) -> Option<(LateFlow, Arrivals)> {
    let factors = context.factors;
    let sizes = route.sizes(context);
    let ends = Ends::of(*route, factors, false)?;
    let (before, past) = (ends.writer.before_join?, ends.read.join.as_ref()?.past?);
    let delivery = ends.delivery(sizes.as_ref());
    let (whose, accepted, received) = (delivery.whose, delivery.accepted, delivery.received);
    delivery.check(evaluation);
    delivery.check_counts(evaluation);
    evaluation.check(before.exact && past.exact, || {
        format!("{whose}the reader had not joined when the record of the samples written meanwhile was full")
    });
    evaluation.check(before.samples <= accepted && past.delivered <= before.samples, || {
        format!(
            "{whose}{} samples written before the reader had joined came, but of {accepted} only {} were written before",
            past.delivered, before.samples
        )
    });
    let sent = accepted.saturating_sub(before.samples);
    let delivered = received.delivered.saturating_sub(past.delivered);
    evaluation.check(delivered <= sent, || {
        format!("{whose}{delivered} samples written since the reader had joined came, but only {sent} were written")
    });
    let trailing = accepted.saturating_sub(received.next.max(before.samples));
    let reliable = factors.is_reliable(route.flow);
    let undelivered = if reliable && !route.reading.drained { trailing } else { 0 };
    let counted = DeliveryCounts {
        sent,
        filtered: 0,
        delivered,
        lost: sent.saturating_sub(total([delivered, undelivered])),
        undelivered,
        duplicate: received.duplicate,
        out_of_order: received.out_of_order,
        corrupt: received.corrupt,
        foreign: received.foreign,
        checked_in_full: received.checked_in_full,
    };
    let identity = route.record(factors);
    let flow = LateFlow {
        name: identity.name,
        writer: identity.writer,
        before: before.samples,
        before_delivered: past.delivered,
        warm_up_delivered: received.warm_up,
        counted,
    };
    let known = |ns: u64| (ns > 0).then_some(ns);
    Some((flow, (known(past.first_ns), known(past.last_ns))))
}

/// Returns the reception of another reader around the join; `None` if it was not recorded.
fn join_cost(factors: &Factors, route: &Route<'_>, times: JoinTimes) -> Option<JoinCost> {
    let FlowReaderReport { received, join, service, .. } = Ends::of(*route, factors, false)?.read;
    let identity = route.record(factors);
    let period_ns = times.period_ns.max(1);
    let bounds = [0, 1, 2, 3].map(|thirds: u64| {
        received.delivered_by((times.begin_ns + thirds * period_ns).saturating_sub(period_ns))
    });
    let rate =
        |period: usize| bounds[period + 1].saturating_sub(bounds[period]) as f64 * 1e9 / period_ns as f64;
    Some(JoinCost {
        name: identity.name,
        writer: identity.writer,
        reader: identity.reader,
        longest_gap_ns: join.as_ref()?.longest_gap_ns,
        delivered_sps: [rate(0), rate(1), rate(2)],
        service_p99_ns: of_periods(service, period_ns),
    })
}

/// Returns the 99 % quantile in each third of the measurement: of the windows that lie in it, and around the join of those
/// that it touches.
fn of_periods(service: &Distribution, period_ns: u64) -> Option<[f64; 3]> {
    let window_ns = service.window_ns.max(1);
    let first_around = period_ns / window_ns;
    let first_after = (2 * period_ns).div_ceil(window_ns);
    let count = |of: u64| usize::try_from(of).unwrap_or(usize::MAX);
    let [around, after] = [count(first_around), count(first_after)];
    let p99 = service.quantile_of_windows(0.99, &[0..around, around..after, after..usize::MAX]).ok()?;
    let [before, around, after] = p99[..] else { return None };
    Some([before? as f64, around? as f64, after? as f64])
}

/// Warns of samples that the late reader lost since it had joined, and of a reader that joined too late for any.
fn warn(evaluation: &mut Evaluation, record: &LateJoinRecord) {
    let counted = DeliveryCounts::sum(record.flows.iter().map(|flow| &flow.counted));
    let reader = &record.reader;
    if counted.lost > 0 {
        evaluation.warn(WarningKind::Loss, late_loss(reader, &counted));
    }
    if counted.undelivered > 0 {
        let text = format!(
            "{} samples to {reader}, which joined late, were still under way when the time limit of the drain was reached",
            counted.undelivered
        );
        evaluation.warn(WarningKind::Incomplete, text);
    }
    if counted.sent == 0 {
        let text = format!(
            "{reader} had joined {} ms after its opening began, when nothing more was written: raise `measure`",
            format_value(record.joined_ns as f64 / 1e6)
        );
        evaluation.warn(WarningKind::Incomplete, text);
    }
    if counted.corrupt > 0 {
        evaluation
            .warn(WarningKind::Corrupt, format!("{} samples came damaged to {reader}", counted.corrupt));
        evaluation.contradictions.push(format!("{} samples came damaged to {reader}", counted.corrupt));
    }
}
