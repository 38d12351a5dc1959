//! Evaluation of a throughput run: offered and delivered samples, and their consistency.

use control::{ReaderReport, WriterReport};
use experiment::probe_every;
use results::{
    Batches, DeliveryCounts, EndpointSpread, FlowRecord, TakeStats, Throughput, WritingTime, steady_rate,
};
use stats::total;

use crate::{AgentOutcome, RunContext, RunReports, cpu, delivery::Delivery, evaluation::Evaluation, probes};

/// Returns the report of each writing agent; `None` if one is missing.
fn writers(reports: &RunReports) -> Option<Vec<(&AgentOutcome, &WriterReport)>> {
    reports.all_driving().map(|agent| Some((agent, agent.report.writer.as_ref()?))).collect()
}

/// Returns the report of each reading agent; `None` if one is missing.
fn readers(reports: &RunReports) -> Option<Vec<(&AgentOutcome, &ReaderReport)>> {
    reports.all_serving().map(|agent| Some((agent, agent.report.reader.as_ref()?))).collect()
}

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, .. } = *context;
    let mut evaluation = Evaluation::default();
    let (Some(writers), Some(readers)) = (writers(reports), readers(reports)) else {
        evaluation.contradictions.push("an agent did not report what its role records".to_owned());
        return evaluation;
    };
    for (agent, writer) in &writers {
        evaluation.check_writer(&reports.whose(agent), agent.sent, writer.accepted, writer.batches.as_ref());
    }
    evaluation.add_together(
        "write_call",
        &writers.iter().map(|(_, of)| &of.write_call).collect::<Vec<_>>(),
        0,
    );
    for (agent, read) in &readers {
        let whose = reports.whose(agent);
        let expected = agent.endpoint.readers.iter().flat_map(|reader| &reader.streams).count();
        if read.received.len() != expected {
            let text = format!("{whose}of {expected} streams, {} were reported", read.received.len());
            evaluation.contradictions.push(text);
            return evaluation;
        }
        let delivered = total(read.received.iter().map(|received| received.delivered));
        evaluation.check_takes(&whose, factors, read.takes.as_ref(), delivered);
    }
    let begin_ns = writers.iter().map(|(_, writer)| writer.begin_ns).min().unwrap_or(0);
    let end_ns = writers.iter().map(|(_, writer)| writer.end_ns).max().unwrap_or(0);
    let writing = WritingTime::new(begin_ns, end_ns);
    let reliable = factors.is_reliable(0);
    let routes = reports.routes();
    let mut all_received = Vec::new();
    for route in &routes {
        let (Some(writer), Some(read)) = (&route.writing.report.writer, &route.reading.report.reader) else {
            continue;
        };
        let Some(received) = read.received.get(route.position) else { continue };
        let whose = route.whose(factors, reports.is_pair());
        let delivery = Delivery {
            whose: &whose,
            route,
            offered: writer.offered,
            accepted: writer.accepted,
            warm_up: writer.warm_up,
            write_calls: writer.write_call.n,
            received,
        };
        delivery.check(&mut evaluation);
        delivery.check_witnesses(&mut evaluation, factors, true);
        let counted = delivery.counted(reliable && !route.reading.drained);
        // What belongs to no stream is counted with the first one.
        let foreign = if route.position == 0 { read.foreign } else { 0 };
        evaluation.flows.push(FlowRecord {
            planned: writer.offered,
            offered: writer.offered,
            delivered_in_time: writing.delivered(received),
            counted: DeliveryCounts { foreign, ..counted },
            ..route.record(factors)
        });
        all_received.push(received);
    }
    let offered = total(writers.iter().map(|(_, writer)| writer.offered));
    let accepted = total(writers.iter().map(|(_, writer)| writer.accepted));
    let rates = writing.throughput([offered, accepted], &evaluation.counts(), &all_received, readers.len());
    evaluation.throughput = Some(Throughput {
        batches: Batches::sum(writers.iter().filter_map(|(_, writer)| writer.batches.as_ref())),
        takes: TakeStats::sum(readers.iter().filter_map(|(_, read)| read.takes.as_ref())),
        readers: EndpointSpread::of_readers(&evaluation.flows, writing),
        writers: EndpointSpread::of_writers(&evaluation.flows, writing),
        ..rates
    });
    if let [received] = &all_received[..] {
        let state = steady_rate(received, writing);
        evaluation.steady_state.extend(state.map(|state| ("delivered".to_owned(), state)));
    }
    if let ([(_, writer)], [(_, read)]) = (&writers[..], &readers[..]) {
        let probes = (writer.probes.as_ref(), read.probes.as_ref());
        probes::add(&mut evaluation, probe_every(factors, design), probes, factors.size_bytes);
    }
    evaluation.warn_of_counts("samples");
    evaluation.warn_of_few();
    let quickest_ns = all_received.iter().map(|received| received.quickest_ns).max().unwrap_or(0);
    evaluation.warn_of_tail(writing, quickest_ns);
    let timed_out = total(writers.iter().map(|(_, writer)| writer.timed_out));
    let refused = total(writers.iter().map(|(_, writer)| writer.refused));
    evaluation.warn_of_writes(reports, reliable, timed_out, refused);
    cpu::add(&mut evaluation, reports);
    evaluation
}
