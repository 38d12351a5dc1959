//! Evaluation of echo probes in a stream: consistency of both agents, and the RTT under load.

use control::{ProbeEchoReport, ProbeReport};
use results::{DeliveryCounts, Measurement, ProbeStats, Throughput, WarningKind, format_value};

use crate::evaluation::{Evaluation, percent};

/// Adds the results of echo probes, those of the first flow: of the first writer, echoed by the first reader. `probed`: N if
/// every Nth sample was to be echoed.
pub(crate) fn add(
    evaluation: &mut Evaluation,
    probed: Option<u32>,
    ends: (Option<&ProbeReport>, Option<&ProbeEchoReport>),
) {
    let Some(every) = probed else { return };
    let (Some(writer), Some(read)) = ends else {
        evaluation.contradictions.push("an agent did not report its probes".to_owned());
        return;
    };
    let Some(flow) = evaluation.flows.first() else { return };
    let mean_bytes = flow.mean_bytes();
    let (counted, between) = (flow.counted.clone(), (flow.writer.clone(), flow.reader.clone()));
    check(evaluation, u64::from(every), &counted, (writer, read));
    // The steady state of a stream is determined from all of its samples, not from the probes.
    let steady = std::mem::take(&mut evaluation.steady_state);
    let lost = writer.sent.saturating_sub(writer.returned);
    evaluation.add_with_lost("rtt", &writer.rtt, lost);
    evaluation.steady_state = steady;
    if lost > 0 {
        let text = format!(
            "{lost} of {} probes had no echo ({} %)",
            writer.sent,
            format_value(percent(lost, writer.sent))
        );
        evaluation.warn(WarningKind::Loss, text);
    }
    if writer.corrupt > 0 {
        evaluation.contradictions.push(format!("{} echoes came damaged", writer.corrupt));
    }
    if writer.foreign > 0 {
        let text = format!("{} echoes came that are not of this run", writer.foreign);
        evaluation.warn(WarningKind::Foreign, text);
    }
    let rates = evaluation.measured.as_mut().and_then(Measurement::throughput_mut);
    let Some(Throughput { accepted_sps, sent, probes, .. }) = rates else { return };
    let seconds = if *accepted_sps > 0.0 { *sent as f64 / *accepted_sps } else { 0.0 };
    let bits = read.echoed as f64 * mean_bytes * 8.0;
    *probes = Some(ProbeStats {
        writer: between.0,
        reader: between.1,
        every: writer.every,
        sent: writer.sent,
        came: read.came,
        echoed: read.echoed,
        returned: writer.returned,
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
    let (writer, read) = ends;
    evaluation.check(writer.sent == counted.sent.div_ceil(every.max(1)), || {
        format!("{} of {} samples were probes, not one in {every}", writer.sent, counted.sent)
    });
    evaluation.check(read.came <= writer.sent.min(counted.delivered), || {
        format!("{} probes came, of {} that were sent", read.came, writer.sent)
    });
    evaluation.check(read.came == read.echoed.saturating_add(read.refused), || {
        format!("{} probes came, {} were echoed and {} refused", read.came, read.echoed, read.refused)
    });
    evaluation.check(writer.returned <= read.echoed, || {
        format!("{} echoes came back, of {} that were sent", writer.returned, read.echoed)
    });
    evaluation.check(writer.rtt.n == writer.returned, || {
        format!("{} echoes came back, but {} round trips were recorded", writer.returned, writer.rtt.n)
    });
}
