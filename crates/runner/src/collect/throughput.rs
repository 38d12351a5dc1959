//! Evaluation of a throughput run: offered and delivered samples, and their consistency.

use experiment::{Design, Factors};
use results::{Counted, Received, Throughput, WritingTime, steady_rate};

use super::{Figures, cpu, delivery::Delivery, probes};
use crate::pair::{DRIVING, Evidence, SERVING};

pub(super) fn figures(evidence: &Evidence, factors: &Factors, design: &Design) -> Figures {
    let mut figures = Figures::default();
    let reports = [&evidence.agents[DRIVING].report, &evidence.agents[SERVING].report];
    let (Some(written), Some(read)) = (&reports[0].writer, &reports[1].reader) else {
        figures.contradictions.push("an agent did not report what its role records".to_owned());
        return figures;
    };
    figures.add("write_call", &written.write_call);
    figures.check(read.received.len() <= 1, || {
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
    figures.check(written.accepted == evidence.sent, || {
        format!("{} samples were sent when measured, {} when reported", evidence.sent, written.accepted)
    });
    let batches = written.batches.as_ref();
    figures.check(batches.is_none_or(|batches| batches.samples == written.accepted), || {
        format!(
            "{} samples were accepted, but {} were flushed in batches",
            written.accepted,
            batches.map_or(0, |batches| batches.samples)
        )
    });
    delivery.check(&mut figures);
    delivery.check_witnesses(&mut figures, evidence, factors, true);
    figures.check_takes("", factors, read.takes.as_ref(), received.delivered);
    let reliable = factors.is_reliable(0);
    let counted = delivery.counted(reliable && !evidence.arrived);
    let counted = Counted { foreign: read.foreign, ..counted };
    let writing = WritingTime::new(written.begin_ns, written.end_ns);
    figures.throughput = Some(Throughput {
        batches: written.batches.clone(),
        takes: read.takes.clone(),
        ..writing.throughput(written.offered, &counted, &[received])
    });
    figures.steady_state.extend(steady_rate(received, writing).map(|state| ("delivered".to_owned(), state)));
    figures.counted.push(counted);
    let probes = (written.probes.as_ref(), read.probes.as_ref());
    probes::add(&mut figures, design.probe_every, probes, factors.size_bytes);
    figures.warn_of_counts("samples");
    figures.warn_of_few();
    figures.warn_of_tail(writing, received.quickest_ns);
    figures.warn_of_writes(evidence, reliable, written.timed_out, written.refused);
    cpu(&mut figures, evidence, written.accepted, received.delivered);
    figures
}
