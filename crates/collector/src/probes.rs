//! Evaluation of echo probes in a stream: consistency of both agents, and the RTT under load.

use control::{ProbeEchoReport, ProbeReport};
use results::{DeliveryCounts, ProbeStats, Throughput, WarningKind, format_value};

use crate::evaluation::{Evaluation, percent};

/// Adds the results of echo probes. `probed`: N if every Nth sample was to be echoed.
pub(crate) fn add(
    evaluation: &mut Evaluation,
    probed: Option<u32>,
    ends: (Option<&ProbeReport>, Option<&ProbeEchoReport>),
    size_bytes: u64,
) {
    let Some(every) = probed else { return };
    let (Some(written), Some(read)) = ends else {
        evaluation.contradictions.push("an agent did not report its probes".to_owned());
        return;
    };
    let counted = evaluation.counted.first().cloned().unwrap_or_default();
    check(evaluation, u64::from(every), &counted, (written, read));
    // The steady state of a stream is determined from all of its samples, not from the probes.
    let steady = std::mem::take(&mut evaluation.steady_state);
    let lost = written.sent.saturating_sub(written.returned);
    evaluation.add_with_lost("rtt", &written.rtt, lost);
    evaluation.steady_state = steady;
    if lost > 0 {
        let text = format!(
            "{lost} of {} probes had no echo ({} %)",
            written.sent,
            format_value(percent(lost, written.sent))
        );
        evaluation.warn(WarningKind::Loss, text);
    }
    if written.corrupt > 0 {
        evaluation.contradictions.push(format!("{} echoes came damaged", written.corrupt));
    }
    if written.foreign > 0 {
        let text = format!("{} echoes came that are not of this run", written.foreign);
        evaluation.warn(WarningKind::Foreign, text);
    }
    let Some(Throughput { accepted_sps, sent, probes, .. }) = &mut evaluation.throughput else { return };
    let seconds = if *accepted_sps > 0.0 { *sent as f64 / *accepted_sps } else { 0.0 };
    let bits = read.echoed as f64 * size_bytes as f64 * 8.0;
    *probes = Some(ProbeStats {
        every: written.every,
        sent: written.sent,
        came: read.came,
        echoed: read.echoed,
        returned: written.returned,
        lost,
        echo_mbps: if seconds > 0.0 { bits / 1e6 / seconds } else { 0.0 },
    });
}

/// Checks the counts of both agents.
fn check(
    evaluation: &mut Evaluation,
    every: u64,
    counted: &DeliveryCounts,
    ends: (&ProbeReport, &ProbeEchoReport),
) {
    let (written, read) = ends;
    evaluation.check(written.sent == counted.sent / every.max(1), || {
        format!("{} of {} samples were probes, not one in {every}", written.sent, counted.sent)
    });
    evaluation.check(read.came <= written.sent.min(counted.delivered), || {
        format!("{} probes came, of {} that were sent", read.came, written.sent)
    });
    evaluation.check(read.came == read.echoed.saturating_add(read.refused), || {
        format!("{} probes came, {} were echoed and {} refused", read.came, read.echoed, read.refused)
    });
    evaluation.check(written.returned <= read.echoed, || {
        format!("{} echoes came back, of {} that were sent", written.returned, read.echoed)
    });
    evaluation.check(written.rtt.n == written.returned, || {
        format!("{} echoes came back, but {} round trips were recorded", written.returned, written.rtt.n)
    });
}
