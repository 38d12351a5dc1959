//! A throughput run: what the writer offered, what the reader got, and that these agree.

use control::Written;
use experiment::{Design, Factors};
use results::{Counted, Received, Throughput, steady_rate};

use super::{Figures, cpu, delivery::Delivery, percent, probes};
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
        size_bytes: factors.size_bytes,
        offered: written.offered,
        accepted: written.accepted,
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
    figures.check_takes("", factors, read.takes.as_ref(), received.delivered);
    let reliable = factors.is_reliable(0);
    let counted = delivery.counted(&mut figures, reliable && !evidence.arrived);
    let counted = Counted { foreign: read.foreign, ..counted };
    figures.throughput =
        Some(Throughput { takes: read.takes.clone(), ..throughput(written, received, &counted) });
    figures.steady_state.extend(steady_rate(received).map(|state| ("delivered".to_owned(), state)));
    figures.counted.push(counted);
    let probes = (written.probes.as_ref(), read.probes.as_ref());
    probes::add(&mut figures, design.probe_every, probes, factors.size_bytes);
    figures.warn_of_counts("samples");
    figures.warn_of_few();
    figures.warn_of_writes(evidence, reliable, written.timed_out, written.refused);
    figures.cpu = cpu(evidence, written.accepted, received.delivered);
    figures
}

/// Rates are over the writer's measured time; what is delivered, over the reader's window where that is longer.
fn throughput(written: &Written, received: &Received, counted: &Counted) -> Throughput {
    let delivered_sps = received.delivered_sps(written.end_ns.saturating_sub(written.begin_ns));
    let mean_size = received.bytes as f64 / received.delivered.max(1) as f64;
    Throughput {
        offered_sps: rate(written.offered, written.begin_ns, written.end_ns),
        accepted_sps: rate(written.accepted, written.begin_ns, written.end_ns),
        delivered_sps,
        goodput_mbps: delivered_sps * mean_size * 8.0 / 1e6,
        sent: counted.sent,
        delivered: counted.delivered,
        lost: counted.lost,
        undelivered: counted.undelivered,
        lost_pct: percent(counted.lost, counted.sent),
        duplicate: counted.duplicate,
        out_of_order: counted.out_of_order,
        batches: written.batches.clone(),
        takes: None,
        probes: None,
    }
}

fn rate(samples: u64, begin_ns: u64, end_ns: u64) -> f64 {
    match end_ns.saturating_sub(begin_ns) {
        0 => 0.0,
        ns => samples as f64 * 1e9 / ns as f64,
    }
}
