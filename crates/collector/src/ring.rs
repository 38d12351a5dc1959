//! Evaluation of samples that go around a ring, one or several in flight: RTTs and the time per sample and hop, measured
//! by the first node, and counts and one-way times of each hop from the timestamps of all nodes.

use control::{EchoReport, NegativeTimes, PingerReport, ReturnReport, TimestampPair};
use results::{
    COARSE_WINDOWS, DeliveryCounts, FlowRecord, Hop, Measurement, Ring, WarningKind, Windows, format_value,
    kind_of_hop,
};
use stats::total;

use crate::{
    RunContext, cpu,
    evaluation::Evaluation,
    latency,
    reports::{AgentOutcome, RunReports},
};

/// Share of the samples in flight below which the ring was not full.
const LEAST_IN_FLIGHT: f64 = 0.5;

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let first = reports.driving();
    let echoes: Option<Vec<&EchoReport>> = reports.all_serving().map(|agent| agent.report.echo()).collect();
    let (Some(pinged), Some(echoes)) = (first.report.pinger(), echoes) else {
        return Evaluation::unreported();
    };
    let mut evaluation = Evaluation::default();
    let [returned] = pinged.returns.as_slice() else {
        evaluation.contradictions.push("the first node reads one topic, and reported several".to_owned());
        return evaluation;
    };
    evaluation.add_with_lost("rtt", &returned.rtt, returned.lost);
    latency::check_pings(&mut evaluation, reports, pinged);
    latency::check_return(&mut evaluation, "", pinged.sent, returned);
    evaluation.check(pinged.in_time <= returned.returned, || {
        format!("{} samples returned, but {} in time", returned.returned, pinged.in_time)
    });
    let nodes: Vec<&str> = reports.agents.iter().map(|agent| agent.endpoint.id.as_str()).collect();
    let instances = context.factors.instances.filter(|_| context.design.write_instance.is_none());
    let instances = instances.unwrap_or(1).max(1) as usize;
    let joined = Nodes { nodes, agents: &reports.agents, pinged, returned, echoes, instances };
    for (node, echo) in joined.nodes.iter().skip(1).zip(&joined.echoes) {
        latency::check_listener(&mut evaluation, &format!("{node}: "), echo);
    }
    let hops = joined.hops(&mut evaluation);
    joined.check(&mut evaluation, &hops);
    if reports.on_one_clock() {
        joined.one_way(&mut evaluation, context, &hops);
    }
    let sum = |of: fn(&EchoReport) -> u64| total(joined.echoes.iter().map(|echo| of(echo)));
    let damaged = [returned.corrupt, sum(|echo| echo.overwritten), sum(|echo| echo.wrong_size)];
    let counted = DeliveryCounts {
        // A sample that was never accepted counts as sent and lost.
        sent: pinged.sent.saturating_add(pinged.unsent),
        delivered: returned.returned,
        lost: returned.lost.saturating_add(pinged.unsent),
        duplicate: returned.duplicate,
        out_of_order: joined.out_of_order(returned.stamps.as_slice().iter().copied()),
        corrupt: total(damaged),
        foreign: returned.foreign.saturating_add(sum(|echo| echo.foreign)),
        checked_in_full: returned.checked_in_full,
        ..DeliveryCounts::default()
    };
    evaluation.flows.push(FlowRecord {
        planned: counted.sent,
        offered: counted.sent,
        delivered_in_time: counted.delivered,
        counted,
        // It returns to the node that wrote it.
        reader: first.endpoint.id.clone(),
        ..reports.routes().first().map(|route| route.record(context.factors)).unwrap_or_default()
    });
    evaluation.warn_of_counts("samples");
    joined.warn_of_losses(&mut evaluation, &hops);
    if context.factors.is_pipelined() {
        evaluation.warn_of_few();
        warn_of_back_pressure(&mut evaluation, &hops);
    }
    latency::warn_of_late(&mut evaluation, "", pinged, returned);
    latency::warn_of_writes(&mut evaluation, pinged);
    let ping_retries = latency::ping_retries(pinged, &joined.echoes);
    cpu::add(&mut evaluation, reports);
    let rtt = evaluation.latency.get("rtt");
    let per_hop = |ns: f64| ns / joined.nodes.len() as f64;
    let (elapsed_ns, in_time) = (pinged.elapsed_ns, pinged.in_time);
    let of_time = |in_time: f64| elapsed_ns as f64 / in_time;
    let in_flight = context.factors.in_flight.unwrap_or(1);
    let mean_in_flight = joined.mean_in_flight(elapsed_ns);
    let ring = Ring {
        per_hop_mean_ns: rtt.map(|rtt| per_hop(rtt.mean_ns)),
        per_hop_p50_ns: rtt.and_then(|rtt| Some(per_hop(rtt.p50_ns? as f64))),
        in_flight,
        mean_in_flight,
        per_sample_hop_ns: (in_time > 0).then(|| per_hop(of_time(in_time as f64))),
        returned_sps: if elapsed_ns == 0 { 0.0 } else { in_time as f64 * 1e9 / elapsed_ns as f64 },
        elapsed_ns,
        returned_in_time: in_time,
        hops,
    };
    evaluation.measured = Some(Measurement::Latency { ping_retries, ring: Some(ring) });
    if context.factors.is_pipelined() && mean_in_flight < LEAST_IN_FLIGHT * f64::from(in_flight) {
        let text = format!(
            "on average, {} of {in_flight} samples were in flight: lost samples keep their place for {} ms, and samples \
             that are not accepted are not in flight yet",
            format_value(mean_in_flight),
            pinged.ping_timeout_ns as f64 / 1e6
        );
        evaluation.warn(WarningKind::FewInFlight, text);
    }
    evaluation
}

/// Reports of all nodes, from the first one on.
struct Nodes<'a> {
    nodes: Vec<&'a str>,
    agents: &'a [AgentOutcome],
    pinged: &'a PingerReport,
    returned: &'a ReturnReport,
    echoes: Vec<&'a EchoReport>,
    /// Number of instances: samples have an order within each of them only.
    instances: usize,
}

impl Nodes<'_> {
    /// Returns the time at which a node wrote a sample; 0: it did not.
    fn written_ns(&self, node: usize, sequence: u64) -> u64 {
        match node.checked_sub(1) {
            None => self.returned.stamps.get(sequence).first_ns,
            Some(echo) => self.echoes[echo].stamps.get(sequence).second_ns,
        }
    }

    /// Returns the time at which a sample arrived after a hop; 0: it did not, or came back too late.
    fn arrived_ns(&self, hop: usize, sequence: u64) -> u64 {
        match self.echoes.get(hop) {
            Some(echo) => echo.stamps.get(sequence).first_ns,
            None => self.returned.stamps.get(sequence).second_ns,
        }
    }

    /// Returns the samples of the first node that have timestamps.
    fn sequences(&self) -> std::ops::Range<u64> {
        0..self.returned.stamps.as_slice().len() as u64
    }

    /// Returns how many samples arrived after one that was sent later. `times`: of each sample by sequence number, when it
    /// was sent and when it arrived; 0: it did not.
    fn out_of_order(&self, times: impl Iterator<Item = TimestampPair>) -> u64 {
        let mut times: Vec<(u64, u64, usize)> = times
            .enumerate()
            .filter(|(_, of)| of.first_ns > 0 && of.second_ns > 0)
            .map(|(sequence, of)| (of.first_ns, of.second_ns, sequence % self.instances))
            .collect();
        // Nearly sorted already.
        times.sort_unstable();
        let mut first_of_later = vec![u64::MAX; self.instances];
        let mut out_of_order = 0;
        for (_, arrived_ns, instance) in times.into_iter().rev() {
            let later = &mut first_of_later[instance];
            out_of_order += u64::from(arrived_ns > *later);
            *later = arrived_ns.min(*later);
        }
        out_of_order
    }

    /// Returns the mean number of samples in flight within this time, of those that returned.
    fn mean_in_flight(&self, elapsed_ns: u64) -> f64 {
        let stamps = self.returned.stamps.as_slice();
        let begin_ns = stamps.iter().map(|stamp| stamp.first_ns).find(|&sent| sent > 0).unwrap_or(0);
        let end_ns = begin_ns.saturating_add(elapsed_ns);
        let under_way = |stamp: &TimestampPair| stamp.second_ns.min(end_ns).saturating_sub(stamp.first_ns);
        let of_recorded = total(stamps.iter().map(under_way)) as f64;
        if elapsed_ns == 0 || stamps.is_empty() {
            return 0.0;
        }
        // Samples beyond the timestamps were in flight as long as the others.
        let of_all = of_recorded * (self.pinged.sent as f64 / stamps.len() as f64).max(1.0);
        of_all / elapsed_ns as f64
    }

    /// Returns the number of write calls of a node that were not accepted.
    fn held_writes(&self, node: usize) -> u64 {
        let (timed_out, refused) = match node.checked_sub(1) {
            None => (self.pinged.timed_out, self.pinged.refused),
            Some(echo) => (self.echoes[echo].timed_out, self.echoes[echo].refused),
        };
        timed_out.saturating_add(refused)
    }

    /// Counts the samples of each hop. The counts are those of the timestamps, which each node records for itself.
    fn hops(&self, evaluation: &mut Evaluation) -> Vec<Hop> {
        let nodes = self.nodes.len();
        let mut hops: Vec<Hop> = (0..nodes)
            .map(|hop| Hop {
                writer: self.nodes[hop].to_owned(),
                reader: self.nodes[(hop + 1) % nodes].to_owned(),
                duplicate: self.echoes.get(hop).map_or(self.returned.duplicate, |echo| echo.duplicate),
                held_writes: self.held_writes(hop),
                ..Hop::default()
            })
            .collect();
        for (index, hop) in hops.iter_mut().enumerate() {
            let times = |sequence| TimestampPair {
                first_ns: self.written_ns(index, sequence),
                second_ns: self.arrived_ns(index, sequence),
            };
            hop.out_of_order = self.out_of_order(self.sequences().map(times));
            let mut unsent = 0_u64;
            for sequence in self.sequences() {
                let (sent, arrived) =
                    (self.written_ns(index, sequence) > 0, self.arrived_ns(index, sequence) > 0);
                hop.sent += u64::from(sent);
                hop.delivered += u64::from(arrived);
                unsent += u64::from(arrived && !sent);
                if let Some(echo) = self.echoes.get(index) {
                    let stopped = |stamps: TimestampPair| stamps.first_ns > 0 && stamps.second_ns == 0;
                    hop.stopped += u64::from(stopped(echo.stamps.get(sequence)));
                }
            }
            if index + 1 == nodes {
                hop.delivered = hop.delivered.saturating_add(self.returned.late);
            }
            hop.lost = hop.sent.saturating_sub(hop.delivered);
            evaluation.check(unsent == 0 && hop.delivered <= hop.sent, || {
                format!(
                    "{} samples came from {}: {} were sent, and {unsent} of those that came were not",
                    hop.delivered,
                    hop.name(),
                    hop.sent
                )
            });
        }
        hops
    }

    /// Checks that the counts of the hops and of the nodes agree.
    fn check(&self, evaluation: &mut Evaluation, hops: &[Hop]) {
        let (sent, lost, late) = (self.pinged.sent, self.returned.lost, self.returned.late);
        let recorded = self.sequences().end;
        // More samples than timestamps: the counts of the hops are of the first ones.
        if recorded < sent {
            let text =
                format!("the counts and times of the hops are of the first {recorded} of {sent} samples");
            evaluation.warn(WarningKind::Incomplete, text);
            return;
        }
        let on_hops = total(hops.iter().map(|hop| hop.lost));
        let stopped = total(hops.iter().map(|hop| hop.stopped));
        evaluation.check(lost == total([on_hops, stopped, late]), || {
            format!(
                "{lost} samples did not return in time, but {on_hops} were lost on a hop, {stopped} were not passed on and {late} \
                 came late"
            )
        });
        for (index, (hop, echo)) in hops.iter().zip(&self.echoes).enumerate() {
            let passed_on = hops.get(index + 1).map_or(0, |next| next.sent);
            evaluation.check(hop.delivered == passed_on.saturating_add(hop.stopped), || {
                format!(
                    "{} samples came to {}, but {passed_on} left it and {} did not",
                    hop.delivered, hop.reader, hop.stopped
                )
            });
            let counted = hop.delivered.saturating_add(hop.duplicate);
            evaluation.check(echo.received >= counted && echo.echoed >= passed_on, || {
                format!(
                    "{} received {} samples and sent {}, but has timestamps of {counted} and {passed_on}",
                    hop.reader, echo.received, echo.echoed
                )
            });
        }
    }

    /// Adds the one-way times of each hop, of the samples that returned in time.
    fn one_way(&self, evaluation: &mut Evaluation, context: &RunContext<'_>, hops: &[Hop]) {
        let design = context.design;
        let begin = self.written_ns(0, 0);
        for (index, hop) in hops.iter().enumerate() {
            let mut times = Windows::new(design.windows.min(COARSE_WINDOWS), design.measure_ns);
            times.begin(begin);
            let mut negative = NegativeTimes::default();
            for sequence in self.sequences() {
                // The samples whose RTT is recorded, so that the hops are parts of it.
                let returned = self.returned.stamps.get(sequence).second_ns > 0;
                let (sent, arrived) = (self.written_ns(index, sequence), self.arrived_ns(index, sequence));
                if !returned || sent == 0 || arrived == 0 {
                    continue;
                }
                match arrived.checked_sub(sent) {
                    Some(ns) => times.record(sent, ns),
                    None => negative.count(sent - arrived),
                }
            }
            let next = (index + 1) % self.agents.len().max(1);
            let error_ns = self.agents[index].error_between(&self.agents[next]).unwrap_or(0);
            evaluation.check_negative(&format!("{}: ", hop.name()), error_ns, negative);
            let kind = kind_of_hop(index);
            evaluation.add_with_lost(&kind, &times.distribution(), self.returned.lost);
            evaluation.between_hosts(&kind, error_ns, negative.count);
        }
    }

    /// Names the hop of each loss.
    fn warn_of_losses(&self, evaluation: &mut Evaluation, hops: &[Hop]) {
        for hop in hops {
            let Hop { writer, reader, sent, delivered, lost, stopped, .. } = hop;
            if *lost > 0 {
                let text = format!("{lost} of {sent} samples were lost between {writer} and {reader}");
                evaluation.warn(WarningKind::Loss, text);
            }
            if *stopped > 0 {
                let text = format!(
                    "{reader} did not pass on {stopped} of {delivered} samples: its writes timed out or were rejected"
                );
                evaluation.warn(WarningKind::WritesRefused, text);
            }
        }
    }
}

/// Names the hops on which relays waited for room. The writes of node 1 have a warning of their own.
fn warn_of_back_pressure(evaluation: &mut Evaluation, hops: &[Hop]) {
    for Hop { writer, reader, held_writes, .. } in hops.iter().skip(1).filter(|hop| hop.held_writes > 0) {
        let text = format!(
            "{held_writes} writes from {writer} to {reader} timed out or were rejected: its samples waited for room"
        );
        evaluation.warn(WarningKind::WritesRefused, text);
    }
}
