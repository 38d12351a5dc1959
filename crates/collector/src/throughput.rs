//! Evaluation of a throughput run: offered and delivered samples, and their consistency.

use results::{DeliveryCounts, Received, Throughput, WritingTime, steady_rate};

use crate::{
    RunContext, RunReports, cpu, delivery::Delivery, evaluation::Evaluation, probes, reports::probe_every,
};

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, .. } = *context;
    let mut evaluation = Evaluation::default();
    let (Some(written), Some(read)) = (&reports.driving().report.writer, &reports.serving().report.reader)
    else {
        evaluation.contradictions.push("an agent did not report what its role records".to_owned());
        return evaluation;
    };
    evaluation.add("write_call", &written.write_call);
    evaluation.check(read.received.len() <= 1, || {
        format!("one writer wrote, but samples of {} came", read.received.len())
    });
    let nothing = Received::default();
    let received = read.received.first().unwrap_or(&nothing);
    let delivery = Delivery {
        whose: "",
        stream: 0,
        size_bytes: factors.size_bytes,
        offered: written.offered,
        accepted: written.accepted,
        warm_up: written.warm_up,
        write_calls: written.write_call.n,
        received,
    };
    evaluation.check(written.accepted == reports.sent, || {
        format!("{} samples were sent when measured, {} when reported", reports.sent, written.accepted)
    });
    let batches = written.batches.as_ref();
    evaluation.check(batches.is_none_or(|batches| batches.samples == written.accepted), || {
        format!(
            "{} samples were accepted, but {} were flushed in batches",
            written.accepted,
            batches.map_or(0, |batches| batches.samples)
        )
    });
    delivery.check(&mut evaluation);
    delivery.check_witnesses(&mut evaluation, reports, factors, true);
    evaluation.check_takes("", factors, read.takes.as_ref(), received.delivered);
    let reliable = factors.is_reliable(0);
    let counted = delivery.counted(reliable && !reports.arrived);
    let counted = DeliveryCounts { foreign: read.foreign, ..counted };
    let writing = WritingTime::new(written.begin_ns, written.end_ns);
    evaluation.throughput = Some(Throughput {
        batches: written.batches.clone(),
        takes: read.takes.clone(),
        ..writing.throughput(written.offered, &counted, &[received])
    });
    evaluation
        .steady_state
        .extend(steady_rate(received, writing).map(|state| ("delivered".to_owned(), state)));
    evaluation.counted.push(counted);
    let probes = (written.probes.as_ref(), read.probes.as_ref());
    probes::add(&mut evaluation, probe_every(factors, design), probes, factors.size_bytes);
    evaluation.warn_of_counts("samples");
    evaluation.warn_of_few();
    evaluation.warn_of_tail(writing, received.quickest_ns);
    evaluation.warn_of_writes(reports, reliable, written.timed_out, written.refused);
    cpu::add(&mut evaluation, reports, written.accepted, received.delivered);
    evaluation
}
