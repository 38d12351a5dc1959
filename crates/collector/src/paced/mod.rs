//! Evaluation of a run with a schedule: planned, offered, accepted and delivered samples, their latencies, and their
//! consistency.

mod checks;
mod ends;
mod warnings;

use control::{FlowWriterReport, PacedReaderReport, PacedWriterReport};
use experiment::{Load, probe_every};
use results::{
    Batches, DeliveryCounts, EndpointSpread, FlowRecord, Measurement, Paced, Received, SampleSizes,
    TakeStats, Throughput, WarningKind, WritingTime, steady_rate,
};
use stats::total;

use self::{
    checks::{check, takes},
    ends::{AGE, Ends, KINDS, ends_of, missing},
    warnings::warn,
};
use crate::{
    RunContext, cpu,
    delivery::Delivery,
    evaluation::{Evaluation, FlowTimes},
    latency::sum_of,
    probes,
    reports::RunReports,
    routes::Route,
    timeliness,
};

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, .. } = *context;
    let writers: Option<Vec<&PacedWriterReport>> =
        reports.all_driving().map(|agent| agent.report.paced_writer()).collect();
    let readers: Option<Vec<&PacedReaderReport>> =
        reports.all_serving().map(|agent| agent.report.paced_reader()).collect();
    let (Some(writers), Some(readers)) = (writers, readers) else { return Evaluation::unreported() };
    let mut evaluation = Evaluation::default();
    if let Some(text) = missing(reports) {
        evaluation.contradictions.push(text);
        return evaluation;
    }
    let ends = ends_of(factors, reports);
    let reliable = |flow| factors.is_reliable(flow);
    let begin_ns = writers.iter().map(|writer| writer.begin_ns).min().unwrap_or(0);
    let end_ns = writers.iter().map(|writer| writer.end_ns).max().unwrap_or(0);
    let length_ns = ends.iter().map(|ends| ends.length_ns(context)).max().unwrap_or(design.measure_ns);
    let writing = WritingTime::new(begin_ns, end_ns).at_least(length_ns);
    for ends in &ends {
        let own = design.writer(ends.route.writer());
        let planned = ends.schedule(context);
        let planned = planned.map(|schedule| schedule.planned(own.measure_ns).min(own.most()));
        check(&mut evaluation, ends, planned);
        let sizes = ends.route.sizes(context);
        let delivery = Delivery {
            whose: &ends.whose,
            route: &ends.route,
            sizes: sizes.as_ref(),
            offered: ends.route.expected(ends.writer.offered),
            accepted: ends.route.expected(ends.writer.accepted),
            filtered: ends.writer.accepted - ends.route.expected(ends.writer.accepted),
            warm_up: ends.route.expected(ends.writer.warm_up),
            write_calls: ends.writer.write_call.n,
            received: &ends.read.received,
        };
        delivery.check(&mut evaluation);
        delivery.check_witnesses(&mut evaluation, factors, false);
        let late = ends.late(|error| evaluation.unreadable("response", &error));
        let counted = delivery.counted(reliable(ends.route.flow) && !ends.route.reading.drained);
        let foreign = if ends.route.position == 0 { foreign(&ends.route) } else { 0 };
        evaluation.flows.push(FlowRecord {
            load: ends.route.load(factors),
            sizes: sizes.as_ref().map(|sizes| SampleSizes {
                smallest_bytes: sizes.smallest_bytes(),
                sent_bytes: sizes.sum(0..ends.writer.accepted),
            }),
            planned: ends.writer.planned,
            offered: ends.writer.offered,
            counted: DeliveryCounts { foreign, ..counted },
            delivered_in_time: writing.delivered(&ends.read.received),
            unplaced: ends.read.unplaced,
            late,
            timeliness: timeliness::of(&ends.route, ends.writer.planned, ends.read, factors),
            lag_in_writes_pct: ends.lag_in_writes().map(|share| 100.0 * share),
            ..ends.route.record(factors)
        });
    }
    takes(&mut evaluation, factors, reports);
    latencies(&mut evaluation, &ends);
    let written: Vec<&Ends<'_>> = ends.iter().filter(|one| one.is_first_of_writer).collect();
    let sum = |of: fn(&FlowWriterReport) -> u64| total(written.iter().map(|ends| of(ends.writer)));
    let [offered, accepted] = [sum(|flow| flow.offered), sum(|flow| flow.accepted)];
    // Also of writers whose readers all ended during the measurement.
    let reported = total(writers.iter().flat_map(|writer| &writer.flows).map(|flow| flow.accepted));
    evaluation.check(reported == reports.sent(), || {
        format!("{} samples were sent when measured, {reported} when reported", reports.sent())
    });
    let received: Vec<&Received> = ends.iter().map(|ends| &ends.read.received).collect();
    let rates =
        writing.throughput([offered, accepted], &evaluation.counts(), &received, evaluation.readers());
    evaluation.writing = Some(writing);
    let throughput = Throughput {
        batches: Batches::sum(written.iter().filter_map(|ends| ends.writer.batches.as_ref())),
        takes: TakeStats::sum(
            readers.iter().flat_map(|read| &read.flows).filter_map(|flow| flow.takes.as_ref()),
        ),
        // The processes of a system have different flows.
        readers: EndpointSpread::of_readers(&evaluation.flows, &rates).filter(|_| !factors.is_system()),
        writers: EndpointSpread::of_writers(&evaluation.flows, &rates).filter(|_| !factors.is_system()),
        ..rates
    };
    let paced = paced(length_ns, &writers, &written);
    evaluation.measured = Some(Measurement::Paced { throughput, paced: paced.clone() });
    steady(&mut evaluation, &ends, writing);

    if let (Some(writer), Some(read)) = (writers.first(), readers.first()) {
        let probes = (writer.probes.as_ref(), read.probes.as_ref());
        probes::add(&mut evaluation, probe_every(factors, design), probes);
    }
    evaluation.warn_of_counts("samples");
    if !ends.iter().all(Ends::has_times) {
        evaluation.warn_of_few();
    }
    let some_reliable = (0..factors.streams().len()).any(reliable);
    evaluation.warn_of_writes(reports, some_reliable, sum(|flow| flow.timed_out), sum(|flow| flow.refused));
    evaluation.warn_of_tail(writing, &received);
    warn(&mut evaluation, writing.ns(), &paced, &ends);
    let has = |kind| evaluation.warnings.iter().any(|warning| warning.kind == kind);
    let (sender_limited, back_pressure) = (has(WarningKind::SenderLimited), has(WarningKind::BackPressure));
    if let Some(record) = evaluation.measured.as_mut().and_then(Measurement::paced_mut) {
        *record = Paced { sender_limited, back_pressure, ..paced };
    }
    cpu::add(&mut evaluation, reports);
    evaluation
}

/// Returns the number of samples that a reading endpoint received and that are not of this run.
fn foreign(route: &Route<'_>) -> u64 {
    route.reading.report.paced_reader().map_or(0, |read| read.foreign)
}

/// Adds the latencies of the run and, if there are several routes, of each route. Those of a writer count once.
fn latencies(evaluation: &mut Evaluation, ends: &[Ends<'_>]) {
    let mut records = std::mem::take(&mut evaluation.flows);
    let names = FlowRecord::log_names(&records);
    for (index, kind) in KINDS.into_iter().enumerate() {
        let of_writers = ["send_lag", "write_call"].contains(&kind);
        let worst_ns = ends.iter().map(Ends::clock_error_ns).max().unwrap_or(0);
        let negatives = sum_of(&ends.iter().filter_map(|one| one.negative(index)).collect::<Vec<_>>());
        let times = ends.iter().zip(&names).map(|(ends, name)| FlowTimes {
            name: name.clone(),
            distribution: ends.distributions()[index],
            is_pooled: kind != AGE && (!of_writers || ends.is_first_of_writer),
            lost: 0,
        });
        let of_flows = evaluation.add_flows(kind, &times.collect::<Vec<_>>());
        if !of_writers && kind != AGE {
            evaluation.between_hosts(kind, worst_ns, negatives);
        }
        if let [record] = &mut records[..] {
            let latency = evaluation.latency.get(kind).cloned();
            record.latency.extend(latency.map(|latency| (kind.to_owned(), latency)));
            continue;
        }
        for ((latency, record), one) in of_flows.into_iter().zip(&mut records).zip(ends) {
            let latency = latency.map(|latency| match one.negative(index) {
                Some(negative) => latency.between_hosts(one.clock_error_ns(), negative.count),
                None => latency,
            });
            record.latency.extend(latency.map(|latency| (kind.to_owned(), latency)));
        }
    }
    evaluation.flows = records;
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
fn paced(length_ns: u64, writers: &[&PacedWriterReport], written: &[&Ends<'_>]) -> Paced {
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
