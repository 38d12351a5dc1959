//! Evaluation of a throughput run: offered and delivered samples, and their consistency.

use std::borrow::Cow;

use control::WriterReport;
use results::{DeliveryCounts, FlowRecord, Measurement, Received, WarningKind, WritingTime, steady_rate};

use crate::{RunContext, cpu, evaluation::Evaluation, reports::RunReports, streams::Streams};

/// Returns the time of all writers. Without a common clock they count as started together: the longest time.
fn writing_time(writers: &[&WriterReport], on_one_clock: bool) -> WritingTime {
    let begin_ns = writers.iter().map(|writer| writer.begin_ns).min().unwrap_or(0);
    let end_ns = if on_one_clock {
        writers.iter().map(|writer| writer.end_ns).max().unwrap_or(0)
    } else {
        let lengths = writers.iter().map(|writer| writer.end_ns.saturating_sub(writer.begin_ns));
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
    let factors = context.factors;
    let streams = match Streams::new(context, reports) {
        Ok(streams) => streams,
        Err(missing) => return Evaluation::incomplete(missing),
    };
    let mut evaluation = Evaluation::default();
    streams.check(&mut evaluation, context);
    let written = streams.all_written();
    evaluation.add_together("write_call", &written.iter().map(|flow| &flow.write_call).collect::<Vec<_>>());
    let on_one_clock = reports.on_one_clock();
    let writing = writing_time(&streams.writers, on_one_clock);
    let mut received = Vec::new();
    for ends in &streams.ends {
        evaluation.check_batches(&ends.whose, ends.writer);
        let delivery = ends.delivery(None);
        delivery.check(&mut evaluation);
        delivery.check_witnesses(&mut evaluation, factors, true);
        let counted = delivery.counted(factors.is_reliable(0) && !ends.route.reading.drained);
        let of_flow = match ends.route.writing.report.writer() {
            Some(writer) if !on_one_clock => {
                Cow::Owned(without_clock(&ends.read.received, writer, writing.begin_ns()))
            }
            _ => Cow::Borrowed(&ends.read.received),
        };
        evaluation.flows.push(FlowRecord {
            planned: ends.writer.offered,
            offered: ends.writer.offered,
            delivered_in_time: writing.delivered(&of_flow),
            counted: DeliveryCounts { foreign: ends.foreign(), ..counted },
            ..ends.route.record(factors)
        });
        received.push(of_flow);
    }
    let received: Vec<&Received> = received.iter().map(|of_flow| &**of_flow).collect();
    let throughput = streams.throughput(&mut evaluation, context, writing, &written, &received);
    evaluation.measured = Some(Measurement::Throughput { throughput });
    if let [received] = &received[..] {
        let state = steady_rate(received, writing);
        evaluation.steady_state.extend(state.map(|state| ("delivered".to_owned(), state)));
    }
    streams.warn(&mut evaluation, context, writing, &written, &received);
    if !on_one_clock {
        let text = "the clocks of the hosts could not be compared: delivered rates are as if the quickest sample of each \
                    stream had taken no time";
        evaluation.warn(WarningKind::Incomplete, text.to_owned());
    }
    cpu::add(&mut evaluation, reports);
    evaluation
}
