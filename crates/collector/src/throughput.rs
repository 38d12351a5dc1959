//! Evaluation of a throughput run: offered and delivered samples, and their consistency.

use experiment::probe_every;
use results::{DeliveryCounts, FlowRecord, Received, Throughput, WritingTime, steady_rate};

use crate::{RunContext, RunReports, cpu, delivery::Delivery, evaluation::Evaluation, probes};

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, .. } = *context;
    let mut evaluation = Evaluation::default();
    let (Some(writer), Some(read)) = (&reports.driving().report.writer, &reports.serving().report.reader)
    else {
        evaluation.contradictions.push("an agent did not report what its role records".to_owned());
        return evaluation;
    };
    evaluation.add("write_call", &writer.write_call);
    evaluation.check(read.received.len() <= 1, || {
        format!("one writer wrote, but samples of {} came", read.received.len())
    });
    let nothing = Received::default();
    let received = read.received.first().unwrap_or(&nothing);
    let delivery = Delivery {
        whose: "",
        stream: 0,
        size_bytes: factors.size_bytes,
        offered: writer.offered,
        accepted: writer.accepted,
        warm_up: writer.warm_up,
        write_calls: writer.write_call.n,
        received,
    };
    evaluation.check(writer.accepted == reports.sent(), || {
        format!("{} samples were sent when measured, {} when reported", reports.sent(), writer.accepted)
    });
    let batches = writer.batches.as_ref();
    evaluation.check(batches.is_none_or(|batches| batches.samples == writer.accepted), || {
        format!(
            "{} samples were accepted, but {} were flushed in batches",
            writer.accepted,
            batches.map_or(0, |batches| batches.samples)
        )
    });
    delivery.check(&mut evaluation);
    delivery.check_witnesses(&mut evaluation, reports, factors, true);
    evaluation.check_takes("", factors, read.takes.as_ref(), received.delivered);
    let reliable = factors.is_reliable(0);
    let counted = delivery.counted(reliable && !reports.arrived());
    let counted = DeliveryCounts { foreign: read.foreign, ..counted };
    let writing = WritingTime::new(writer.begin_ns, writer.end_ns);
    evaluation.throughput = Some(Throughput {
        batches: writer.batches.clone(),
        takes: read.takes.clone(),
        ..writing.throughput(writer.offered, &counted, &[received])
    });
    evaluation
        .steady_state
        .extend(steady_rate(received, writing).map(|state| ("delivered".to_owned(), state)));
    evaluation.flows.push(FlowRecord {
        planned: writer.offered,
        offered: writer.offered,
        delivered_in_time: writing.delivered(received),
        counted,
        ..reports.flow(0)
    });
    let probes = (writer.probes.as_ref(), read.probes.as_ref());
    probes::add(&mut evaluation, probe_every(factors, design), probes, factors.size_bytes);
    evaluation.warn_of_counts("samples");
    evaluation.warn_of_few();
    evaluation.warn_of_tail(writing, received.quickest_ns);
    evaluation.warn_of_writes(reports, reliable, writer.timed_out, writer.refused);
    cpu::add(&mut evaluation, reports, writer.accepted, received.delivered);
    evaluation
}
