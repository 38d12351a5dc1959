//! Evaluation of a run with a schedule: planned, offered, accepted and delivered samples, their latencies, and their
//! consistency.

mod checks;
mod warnings;

use control::{FlowWriterReport, WriterReport};
use experiment::Load;
use results::{
    DeliveryCounts, FlowRecord, Measurement, Paced, Received, SampleSizes, WarningKind, WritingTime,
    steady_rate,
};
use stats::total;

use self::{checks::check, warnings::warn};
use crate::{
    RunContext, cpu,
    ends::{AGE, Ends, KINDS},
    evaluation::{Evaluation, FlowTimes},
    reports::RunReports,
    streams::Streams,
    timeliness,
};

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, .. } = *context;
    let streams = match Streams::new(context, reports) {
        Ok(streams) => streams,
        Err(missing) => return Evaluation::incomplete(missing),
    };
    let Streams { writers, ends, .. } = &streams;
    let mut evaluation = Evaluation::default();
    let begin_ns = writers.iter().map(|writer| writer.begin_ns).min().unwrap_or(0);
    let end_ns = writers.iter().map(|writer| writer.end_ns).max().unwrap_or(0);
    let length_ns = ends.iter().map(|ends| ends.length_ns(context)).max().unwrap_or(design.measure_ns);
    let writing = WritingTime::new(begin_ns, end_ns).at_least(length_ns);
    for ends in ends {
        let own = design.writer(ends.route.writer());
        let planned = ends.schedule(context);
        let planned = planned.map(|schedule| schedule.planned(own.measure_ns).min(own.most()));
        check(&mut evaluation, ends, planned);
        let sizes = ends.route.sizes(context);
        let delivery = ends.delivery(sizes.as_ref());
        delivery.check(&mut evaluation);
        delivery.check_witnesses(&mut evaluation, factors, false);
        let late = ends.late(|error| evaluation.unreadable("response", &error));
        let counted = delivery.counted(factors.is_reliable(ends.route.flow) && !ends.route.reading.drained);
        evaluation.flows.push(FlowRecord {
            load: ends.route.load(factors),
            sizes: sizes.as_ref().map(|sizes| SampleSizes {
                smallest_bytes: sizes.smallest_bytes(),
                sent_bytes: sizes.sum(0..ends.writer.accepted),
            }),
            planned: ends.writer.planned,
            offered: ends.writer.offered,
            counted: DeliveryCounts { foreign: ends.foreign(), ..counted },
            delivered_in_time: writing.delivered(&ends.read.received),
            unplaced: ends.read.unplaced,
            late,
            timeliness: timeliness::of(&ends.route, ends.writer.planned, ends.read, factors),
            lag_in_writes_pct: ends.lag_in_writes().map(|share| 100.0 * share),
            ..ends.route.record(factors)
        });
    }
    streams.check(&mut evaluation, context);
    latencies(&mut evaluation, ends);
    let first_routes: Vec<&Ends<'_>> = ends.iter().filter(|one| one.is_first_of_writer).collect();
    let written: Vec<&FlowWriterReport> = first_routes.iter().map(|ends| ends.writer).collect();
    let received: Vec<&Received> = ends.iter().map(|ends| &ends.read.received).collect();
    let throughput = streams.throughput(&mut evaluation, context, writing, &written, &received);
    let paced = paced(length_ns, writers, &first_routes);
    evaluation.measured = Some(Measurement::Paced { throughput, paced: paced.clone() });
    steady(&mut evaluation, ends, writing);
    streams.warn(&mut evaluation, context, writing, &written, &received);
    warn(&mut evaluation, writing.ns(), &paced, ends);
    let has = |kind| evaluation.warnings.iter().any(|warning| warning.kind == kind);
    let (sender_limited, back_pressure) = (has(WarningKind::SenderLimited), has(WarningKind::BackPressure));
    if let Some(record) = evaluation.measured.as_mut().and_then(Measurement::paced_mut) {
        *record = Paced { sender_limited, back_pressure, ..paced };
    }
    cpu::add(&mut evaluation, reports);
    evaluation
}

/// Adds the latencies of the run and, if there are several routes, of each route. Those of a writer count once.
fn latencies(evaluation: &mut Evaluation, ends: &[Ends<'_>]) {
    let names = FlowRecord::log_names(&evaluation.flows);
    for (index, kind) in KINDS.into_iter().enumerate() {
        let of_writers = ["send_lag", "write_call"].contains(&kind);
        let times = ends.iter().zip(&names).map(|(ends, name)| {
            let negative = ends.negative(index);
            FlowTimes {
                name: name.clone(),
                distribution: ends.distributions()[index],
                is_pooled: kind != AGE && (!of_writers || ends.is_first_of_writer),
                lost: 0,
                clock_error_ns: negative.map(|_| ends.clock_error_ns()),
                negative: negative.map_or(0, |negative| negative.count),
            }
        });
        evaluation.add_flows(kind, &times.collect::<Vec<_>>());
    }
    if let [record] = &mut evaluation.flows[..] {
        let own = |kind: &str| Some((kind.to_owned(), evaluation.latency.get(kind)?.clone()));
        record.latency.extend(KINDS.into_iter().filter_map(own));
    }
}

/// Adds the steady state, if the schedule has a constant level. The delivered rate is evaluated only for a single
/// stream: each stream has windows of its own.
fn steady(evaluation: &mut Evaluation, ends: &[Ends<'_>], writing: WritingTime) {
    let is_level = |ends: &Ends<'_>| !matches!(ends.load, Load::Burst { .. } | Load::Trace { .. });
    if !ends.iter().all(is_level) {
        evaluation.steady_state.clear();
        return;
    }
    if let [ends] = ends {
        let state = steady_rate(&ends.read.received, writing);
        evaluation.steady_state.extend(state.map(|state| ("delivered".to_owned(), state)));
    }
}

/// Returns the record of the schedule, which took `length_ns`, and of how the senders kept it. `written`: one route of each
/// stream.
fn paced(length_ns: u64, writers: &[&WriterReport], written: &[&Ends<'_>]) -> Paced {
    let planned = total(written.iter().map(|ends| ends.writer.planned));
    let unsent = |ends: &&Ends<'_>| ends.writer.planned.saturating_sub(ends.writer.offered);
    let all_have_times = written.iter().all(|ends| ends.has_times());
    Paced {
        planned,
        planned_sps: all_have_times.then(|| planned as f64 * 1e9 / length_ns.max(1) as f64),
        unsent: total(written.iter().map(unsent)),
        sender_limited: false,
        back_pressure: false,
        throttle: writers.first().and_then(|writer| writer.throttle.clone()),
        spin_ns: writers.iter().map(|writer| writer.spin_ns).max().unwrap_or(0),
    }
}
