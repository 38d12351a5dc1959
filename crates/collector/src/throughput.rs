//! Evaluation of a throughput run: offered and delivered samples, and their consistency.

use std::borrow::Cow;

use control::{ReaderReport, WriterReport};
use experiment::probe_every;
use results::{
    Batches, DeliveryCounts, Distribution, EndpointSpread, FlowRecord, Measurement, Received, TakeStats,
    Throughput, WarningKind, WritingTime, steady_rate,
};
use stats::total;

use crate::{
    RunContext, cpu,
    delivery::Delivery,
    evaluation::Evaluation,
    probes,
    reports::{AgentOutcome, RunReports},
};

/// Returns the report of each writing agent; `None` if one is missing.
fn writers(reports: &RunReports) -> Option<Vec<(&AgentOutcome, &WriterReport)>> {
    reports.all_driving().map(|agent| Some((agent, agent.report.writer()?))).collect()
}

/// Returns the report of each reading agent; `None` if one is missing.
fn readers(reports: &RunReports) -> Option<Vec<(&AgentOutcome, &ReaderReport)>> {
    reports.all_serving().map(|agent| Some((agent, agent.report.reader()?))).collect()
}

/// Returns the time of all writers. Without a common clock they count as started together: the longest time.
fn writing_time(writers: &[(&AgentOutcome, &WriterReport)], on_one_clock: bool) -> WritingTime {
    let begin_ns = writers.iter().map(|(_, writer)| writer.begin_ns).min().unwrap_or(0);
    let end_ns = if on_one_clock {
        writers.iter().map(|(_, writer)| writer.end_ns).max().unwrap_or(0)
    } else {
        let lengths = writers.iter().map(|(_, writer)| writer.end_ns.saturating_sub(writer.begin_ns));
        begin_ns.saturating_add(lengths.max().unwrap_or(0))
    };
    WritingTime::new(begin_ns, end_ns)
}

/// Returns a reception at the times that it would have had if its quickest sample had taken no time: on the clock of its
/// writer, and as if the writer had started at `begin_ns`.
fn without_clock(received: &Received, writer: &WriterReport, begin_ns: u64) -> Received {
    let shift = |at_ns: u64| {
        let on_clock_of_writer = at_ns.wrapping_sub(received.quickest_ns.cast_unsigned());
        on_clock_of_writer.wrapping_sub(writer.begin_ns).wrapping_add(begin_ns)
    };
    let (first_ns, last_ns) = (shift(received.first_ns), shift(received.last_ns));
    Received { first_ns, last_ns, quickest_ns: 0, ..received.clone() }
}

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, .. } = *context;
    let (Some(writers), Some(readers)) = (writers(reports), readers(reports)) else {
        return Evaluation::unreported();
    };
    let mut evaluation = Evaluation::default();
    let names = reports.names();
    for (agent, writer) in &writers {
        evaluation.check_writer(&names.whose(agent), agent.sent, writer.accepted, writer.batches.as_ref());
    }
    let write_calls: Vec<&Distribution> = writers.iter().map(|(_, of)| &of.write_call).collect();
    evaluation.add_together("write_call", &write_calls);
    for (agent, read) in &readers {
        let whose = names.whose(agent);
        let expected = agent.endpoint.readers.iter().flat_map(|reader| &reader.streams).count();
        if read.received.len() != expected {
            let text = format!("{whose}of {expected} streams, {} were reported", read.received.len());
            evaluation.contradictions.push(text);
            return evaluation;
        }
        let delivered = total(read.received.iter().map(|received| received.delivered));
        evaluation.check_takes(&whose, factors, read.takes.as_ref(), delivered);
    }
    let on_one_clock = reports.on_one_clock();
    let writing = writing_time(&writers, on_one_clock);
    let reliable = factors.is_reliable(0);
    let routes = reports.routes();
    let mut all_received = Vec::new();
    for route in &routes {
        let (Some(writer), Some(read)) = (route.writing.report.writer(), route.reading.report.reader())
        else {
            continue;
        };
        let Some(received) = read.received.get(route.position) else { continue };
        let whose = route.whose(factors, reports.is_pair());
        let delivery = Delivery {
            whose: &whose,
            route,
            sizes: None,
            offered: route.expected(writer.offered),
            accepted: route.expected(writer.accepted),
            filtered: writer.accepted - route.expected(writer.accepted),
            warm_up: route.expected(writer.warm_up),
            write_calls: writer.write_call.n,
            received,
        };
        delivery.check(&mut evaluation);
        delivery.check_witnesses(&mut evaluation, factors, true);
        let counted = delivery.counted(reliable && !route.reading.drained);
        // What belongs to no stream is counted with the first one.
        let foreign = if route.position == 0 { read.foreign } else { 0 };
        let received = if on_one_clock {
            Cow::Borrowed(received)
        } else {
            Cow::Owned(without_clock(received, writer, writing.begin_ns()))
        };
        evaluation.flows.push(FlowRecord {
            planned: writer.offered,
            offered: writer.offered,
            delivered_in_time: writing.delivered(&received),
            counted: DeliveryCounts { foreign, ..counted },
            ..route.record(factors)
        });
        all_received.push(received);
    }
    let all_received: Vec<&Received> = all_received.iter().map(|received| &**received).collect();
    let offered = total(writers.iter().map(|(_, writer)| writer.offered));
    let accepted = total(writers.iter().map(|(_, writer)| writer.accepted));
    let rates = writing.throughput([offered, accepted], &evaluation.counts(), &all_received, readers.len());
    evaluation.writing = Some(writing);
    let throughput = Throughput {
        batches: Batches::sum(writers.iter().filter_map(|(_, writer)| writer.batches.as_ref())),
        takes: TakeStats::sum(readers.iter().filter_map(|(_, read)| read.takes.as_ref())),
        readers: EndpointSpread::of_readers(&evaluation.flows, &rates),
        writers: EndpointSpread::of_writers(&evaluation.flows, &rates),
        ..rates
    };
    evaluation.measured = Some(Measurement::Throughput { throughput });
    if let [received] = &all_received[..] {
        let state = steady_rate(received, writing);
        evaluation.steady_state.extend(state.map(|state| ("delivered".to_owned(), state)));
    }
    if let (Some((_, writer)), Some((_, read))) = (writers.first(), readers.first()) {
        let probes = (writer.probes.as_ref(), read.probes.as_ref());
        probes::add(&mut evaluation, probe_every(factors, design), probes);
    }
    evaluation.warn_of_counts("samples");
    evaluation.warn_of_few();
    evaluation.warn_of_tail(writing, &all_received);
    if !on_one_clock {
        let text = "the clocks of the hosts could not be compared: delivered rates are as if the quickest sample of each \
                    stream had taken no time";
        evaluation.warn(WarningKind::Incomplete, text.to_owned());
    }
    let timed_out = total(writers.iter().map(|(_, writer)| writer.timed_out));
    let refused = total(writers.iter().map(|(_, writer)| writer.refused));
    evaluation.warn_of_writes(reports, reliable, timed_out, refused);
    cpu::add(&mut evaluation, reports);
    evaluation
}
