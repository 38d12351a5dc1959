//! A throughput run: what the writer offered, what the reader got, and that these agree.

use control::Written;
use experiment::{Factors, Reliability};
use results::{Counted, Received, Throughput, WarningKind, steady_rate};
use stats::total;

use super::{Figures, cpu, percent};
use crate::pair::{DRIVING, Evidence, SERVING};

pub(super) fn figures(evidence: &Evidence, factors: &Factors) -> Figures {
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
    check(&mut figures, evidence, factors, written, received);

    let trailing = written.accepted.saturating_sub(received.next);
    let reliable = factors.qos.reliability == Some(Reliability::Reliable);
    let still_owed = reliable && !evidence.arrived;
    let undelivered = if still_owed { trailing } else { 0 };
    let counted = Counted {
        writer: received.writer,
        reader: 0,
        sent: written.accepted,
        delivered: received.delivered,
        lost: received.missing.saturating_add(trailing - undelivered),
        undelivered,
        duplicate: received.duplicate,
        out_of_order: received.out_of_order,
        corrupt: received.corrupt,
        foreign: read.foreign,
        checked_in_full: received.checked_in_full,
    };
    let Counted { sent, delivered, lost, .. } = counted;
    figures.check(sent == total([delivered, lost, undelivered]), || {
        format!(
            "{sent} samples were sent, but {delivered} delivered, {lost} lost and {undelivered} still owed"
        )
    });
    figures.throughput = Some(throughput(written, received, &counted));
    figures.steady_state.extend(steady_rate(received).map(|state| ("delivered".to_owned(), state)));
    figures.counted.push(counted);
    figures.warn_of_counts("samples");
    if reliable && evidence.arrived && !evidence.acknowledged {
        let text = "all samples arrived, but were not acknowledged within the time limit of the drain";
        figures.warn(WarningKind::Incomplete, text.to_owned());
    }
    if written.timed_out > 0 || written.refused > 0 {
        let text = format!(
            "{} writes timed out and {} were refused for want of room; they were tried again",
            written.timed_out, written.refused
        );
        figures.warn(WarningKind::WritesRefused, text);
    }
    figures.cpu = cpu(evidence, written.accepted, received.delivered);
    figures
}

/// Independent counts that must agree.
fn check(
    figures: &mut Figures,
    evidence: &Evidence,
    factors: &Factors,
    written: &Written,
    received: &Received,
) {
    let (offered, accepted) = (written.offered, written.accepted);
    figures.check(accepted == evidence.sent, || {
        format!("{} samples were sent when measured, {accepted} when reported", evidence.sent)
    });
    figures.check(accepted <= offered, || format!("{accepted} samples were accepted of {offered} offered"));
    figures.check(written.write_call.n >= accepted, || {
        format!("{accepted} samples were accepted in {} write calls", written.write_call.n)
    });
    figures.check(received.next <= accepted, || {
        format!("sample {} came, but only {accepted} were sent", received.next.saturating_sub(1))
    });
    figures.check(total([received.delivered, received.missing]) == received.next, || {
        format!(
            "{} samples came and {} are missing, of the first {}",
            received.delivered, received.missing, received.next
        )
    });
    let in_windows = total(received.window_delivered.iter().copied());
    figures.check(received.delivered == in_windows, || {
        format!("{} samples came, but {in_windows} in all windows", received.delivered)
    });
    figures.check(received.beyond_reach == 0, || {
        format!("{} samples came too late to tell them from duplicates", received.beyond_reach)
    });
    figures.check(received.bytes == received.delivered.saturating_mul(factors.size_bytes), || {
        format!(
            "{} samples of {} bytes came, with {} bytes in all",
            received.delivered, factors.size_bytes, received.bytes
        )
    });
}

/// Rates are over each end's own time, counted between its first and its last sample: n samples span n - 1 periods at
/// the reader, whose window begins with one.
fn throughput(written: &Written, received: &Received, counted: &Counted) -> Throughput {
    let rate = |samples: u64, begin_ns: u64, end_ns: u64| match end_ns.saturating_sub(begin_ns) {
        0 => 0.0,
        ns => samples as f64 * 1e9 / ns as f64,
    };
    let delivered_sps = rate(received.delivered.saturating_sub(1), received.first_ns, received.last_ns);
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
    }
}
