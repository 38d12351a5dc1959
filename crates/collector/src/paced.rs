//! Evaluation of a run with a schedule: planned, offered, accepted and delivered samples, their latencies, and their
//! consistency.

use control::{FlowReaderReport, FlowWriterReport, PacedWriterReport};
use experiment::{Design, Flow, Load, Schedule, probe_every};
use results::{
    Batches, DeliveryCounts, Distribution, FlowRecord, Latency, Lateness, Paced, Received, Sender, TakeStats,
    Throughput, Usage, WarningKind, WritingTime, format_value, kind_of_flow, steady_rate,
};
use stats::total;

use crate::{
    RunContext, RunReports, cpu,
    delivery::Delivery,
    evaluation::{Evaluation, percent},
    probes,
};

/// Kinds of latency of a stream, in the order of [`Ends::distributions`].
const KINDS: [&str; 4] = ["response", "service", "send_lag", "write_call"];
/// Relative tolerance for the sum of two means: means are exact sums divided by a count.
const ROUNDING: f64 = 1e-9;

/// Reports of both endpoints of one stream.
struct Ends<'a> {
    flow: &'a Flow,
    /// Prefix of each message.
    whose: String,
    writer: &'a FlowWriterReport,
    read: &'a FlowReaderReport,
}

impl<'a> Ends<'a> {
    const fn distributions(&self) -> [&'a Distribution; 4] {
        let (writer, read) = (self.writer, self.read);
        [&read.response, &read.service, &writer.send_lag, &writer.write_call]
    }

    fn has_times(&self) -> bool {
        self.flow.load.has_times()
    }

    /// Returns the share of the total send lag that write calls caused.
    fn lag_in_writes(&self) -> Option<f64> {
        let lag_ns = self.writer.send_lag.mean_ns;
        (self.has_times() && lag_ns > 0.0).then(|| self.writer.held_ns / lag_ns)
    }
}

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, traces, .. } = *context;
    let mut evaluation = Evaluation::default();
    let (Some(writer), Some(read)) =
        (&reports.driving().report.paced_writer, &reports.serving().report.paced_reader)
    else {
        evaluation.contradictions.push("an agent did not report what its role records".to_owned());
        return evaluation;
    };
    let flows = factors.streams();
    if [writer.flows.len(), read.flows.len()] != [flows.len(); 2] {
        evaluation.contradictions.push(format!(
            "of {} flows the writer reported {} and the reader {}",
            flows.len(),
            writer.flows.len(),
            read.flows.len()
        ));
        return evaluation;
    }
    let whose =
        |flow: &Flow| if flows.len() == 1 { String::new() } else { format!("flow `{}`: ", flow.name) };
    let ends: Vec<Ends<'_>> = (flows.iter().zip(&writer.flows).zip(&read.flows))
        .map(|((flow, writer), read)| Ends { flow, whose: whose(flow), writer, read })
        .collect();
    let reliable = |stream| factors.is_reliable(stream);
    let writing = WritingTime::new(writer.begin_ns, writer.end_ns).at_least(design.measure_ns);
    for (number, ends) in ends.iter().enumerate() {
        let planned = Schedule::new(&ends.flow.load, design.seed, number, traces.times(&ends.flow.load))
            .map(|schedule| schedule.planned(design.measure_ns));
        check(&mut evaluation, ends, planned);
        let delivery = Delivery {
            whose: &ends.whose,
            stream: number,
            size_bytes: ends.flow.size_bytes,
            offered: ends.writer.offered,
            accepted: ends.writer.accepted,
            warm_up: ends.writer.warm_up,
            write_calls: ends.writer.write_call.n,
            received: &ends.read.received,
        };
        delivery.check(&mut evaluation);
        delivery.check_witnesses(&mut evaluation, reports, factors, false);
        evaluation.check_takes(&ends.whose, factors, ends.read.takes.as_ref(), delivery.received.delivered);
        let counted = delivery.counted(reliable(number) && !reports.arrived());
        let foreign = if number == 0 { read.foreign } else { 0 };
        evaluation.flows.push(FlowRecord {
            name: ends.flow.name.clone(),
            load: Some(ends.flow.load.to_string()),
            planned: ends.writer.planned,
            offered: ends.writer.offered,
            counted: DeliveryCounts { foreign, ..counted },
            delivered_in_time: writing.delivered(&ends.read.received),
            unplaced: ends.read.unplaced,
            lag_in_writes_pct: ends.lag_in_writes().map(|share| 100.0 * share),
            ..reports.flow(number)
        });
    }
    latencies(&mut evaluation, &ends);
    let sum = |of: fn(&FlowWriterReport) -> u64| total(writer.flows.iter().map(of));
    let accepted = sum(|flow| flow.accepted);
    evaluation.check(accepted == reports.sent(), || {
        format!("{} samples were sent when measured, {accepted} when reported", reports.sent())
    });
    let delivered = total(read.flows.iter().map(|flow| flow.received.delivered));
    evaluation.throughput = Some(throughput(writing, &ends, &evaluation.counts()));
    steady(&mut evaluation, &ends, writing);

    let probes = (writer.probes.as_ref(), read.probes.as_ref());
    probes::add(&mut evaluation, probe_every(factors, design), probes, factors.size_bytes);
    evaluation.warn_of_counts("samples");
    if !ends.iter().all(Ends::has_times) {
        evaluation.warn_of_few();
    }
    let some_reliable = (0..ends.len()).any(reliable);
    evaluation.warn_of_writes(reports, some_reliable, sum(|flow| flow.timed_out), sum(|flow| flow.refused));
    let paced = paced(design, writer, &ends);
    let quickest_ns = ends.iter().map(|ends| ends.read.received.quickest_ns).max().unwrap_or(0);
    evaluation.warn_of_tail(writing, quickest_ns);
    warn(&mut evaluation, writing.ns(), &paced, &flows, &reports.driving().report.usage);
    let has = |kind| evaluation.warnings.iter().any(|warning| warning.kind == kind);
    let (sender_limited, back_pressure) = (has(WarningKind::SenderLimited), has(WarningKind::BackPressure));
    evaluation.paced = Some(Paced { sender_limited, back_pressure, ..paced });
    cpu::add(&mut evaluation, reports, accepted, delivered);
    evaluation
}

/// Checks the counts and sums beyond those of any delivery. `planned`: by the runner's own computation of the
/// schedule.
fn check(evaluation: &mut Evaluation, ends: &Ends<'_>, planned: Option<u64>) {
    let Ends { whose, writer, read, .. } = ends;
    let delivered = read.received.delivered;
    let [response, service, lag, _] = ends.distributions();
    let batches = writer.batches.as_ref();
    evaluation.check(batches.is_none_or(|batches| batches.samples == writer.accepted), || {
        format!(
            "{whose}{} samples were accepted, but {} were flushed in batches",
            writer.accepted,
            batches.map_or(0, |batches| batches.samples)
        )
    });
    evaluation.check(service.n == delivered, || {
        format!("{whose}{delivered} samples came, but {} service times were recorded", service.n)
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
    evaluation.check(total([response.n, read.unplaced]) == delivered, || {
        format!(
            "{whose}{delivered} samples came, but {} responses were recorded and {} came too late for one",
            response.n, read.unplaced
        )
    });
    if response.n != service.n || service.n == 0 {
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

/// Adds the latencies of the run and, if there are several streams, of each stream.
fn latencies(evaluation: &mut Evaluation, ends: &[Ends<'_>]) {
    let mut records = std::mem::take(&mut evaluation.flows);
    for (index, kind) in KINDS.into_iter().enumerate() {
        let parts: Vec<&Distribution> = ends.iter().map(|ends| ends.distributions()[index]).collect();
        if let ([part], [record]) = (&parts[..], &mut records[..]) {
            evaluation.add(kind, part);
            record
                .latency
                .extend(evaluation.latency.get(kind).cloned().map(|latency| (kind.to_owned(), latency)));
            continue;
        }
        match Distribution::together(&parts) {
            Ok(all) => evaluation.add(kind, &all),
            Err(error) => evaluation.unreadable(kind, &error),
        }
        for (part, record) in parts.iter().zip(&mut records) {
            let own = kind_of_flow(kind, &record.name);
            evaluation.add(&own, part);
            // Latencies of one stream are part of its record.
            let latency: Option<Latency> = evaluation.latency.remove(&own);
            record.latency.extend(latency.map(|latency| (kind.to_owned(), latency)));
        }
    }
    evaluation.flows = records;
}

/// Returns the rates of all streams together, which share one writing time.
fn throughput(writing: WritingTime, ends: &[Ends<'_>], counted: &DeliveryCounts) -> Throughput {
    let received: Vec<&Received> = ends.iter().map(|ends| &ends.read.received).collect();
    let offered = total(ends.iter().map(|ends| ends.writer.offered));
    Throughput {
        batches: Batches::sum(ends.iter().filter_map(|ends| ends.writer.batches.as_ref())),
        takes: TakeStats::sum(ends.iter().filter_map(|ends| ends.read.takes.as_ref())),
        ..writing.throughput(offered, counted, &received)
    }
}

/// Adds the steady state, if the schedule has a constant level. The delivered rate is evaluated only for a single
/// stream: each stream has windows of its own.
fn steady(evaluation: &mut Evaluation, ends: &[Ends<'_>], writing: WritingTime) {
    let is_level = |ends: &Ends<'_>| !matches!(ends.flow.load, Load::Burst { .. } | Load::Trace { .. });
    if !ends.iter().all(is_level) {
        evaluation.steady_state.clear();
        return;
    }
    if let [ends] = ends {
        let state = steady_rate(&ends.read.received, writing);
        evaluation.steady_state.extend(state.map(|state| ("delivered".to_owned(), state)));
    }
}

/// Returns the record of the schedule and of how the sender kept it.
fn paced(design: &Design, writer: &PacedWriterReport, ends: &[Ends<'_>]) -> Paced {
    let planned = total(ends.iter().map(|ends| ends.writer.planned));
    let unsent = |ends: &Ends<'_>| ends.writer.planned.saturating_sub(ends.writer.offered);
    let all_have_times = ends.iter().all(Ends::has_times);
    Paced {
        planned,
        planned_sps: all_have_times.then(|| planned as f64 * 1e9 / design.measure_ns.max(1) as f64),
        unsent: total(ends.iter().map(unsent)),
        sender_limited: false,
        back_pressure: false,
        throttle: writer.throttle.clone(),
        spin_ns: writer.spin_ns,
    }
}

/// Warns of a sender that did not keep its schedule, or was held up by back-pressure. `writing_ns` is the writing
/// time, `usage` the resource usage of its process.
fn warn(evaluation: &mut Evaluation, writing_ns: u64, paced: &Paced, flows: &[Flow], usage: &Usage) {
    let records = evaluation.flows.clone();
    for (flow, record) in flows.iter().zip(&records) {
        let whose = if flows.len() == 1 { String::new() } else { format!("flow `{}`: ", flow.name) };
        let sender = Sender::new(record.lag_in_writes_pct.unwrap_or(0.0) / 100.0, usage);
        if let Some(late) = Lateness::classify(&flow.load, &record.latency, writing_ns, sender) {
            let kind =
                if late.is_back_pressure() { WarningKind::BackPressure } else { WarningKind::SenderLimited };
            evaluation.warn(kind, format!("{whose}{late}"));
        }
    }
    if paced.unsent > 0 {
        let text = format!(
            "{} of {} planned samples ({} %) were not tried before the measured time ended",
            paced.unsent,
            paced.planned,
            format_value(percent(paced.unsent, paced.planned))
        );
        evaluation.warn(WarningKind::Unsent, text);
    }
}
