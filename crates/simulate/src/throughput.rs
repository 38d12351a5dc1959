//! Writes as fast as back-pressure allows, and what a reader makes of what comes.

use std::collections::BTreeMap;

use experiment::{Design, Factors};
use results::{Counted, SequenceSet, Throughput};
use sim_model::{Fate, Flow};

use crate::{Figures, HOST_NS, Series, samples_per_packet};

/// A sample that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    due_ns: u64,
    /// Which of those due at once comes first.
    order: u64,
    sequence: u64,
}

/// What a writer did.
struct Written {
    offered: u64,
    accepted: u64,
    elapsed_ns: u64,
}

/// Writes for so long; every packet of samples has one fate.
fn write(
    flow: &mut Flow,
    now: &mut u64,
    duration_ns: u64,
    packet: (u64, u64),
    call: &mut Series,
    arrivals: &mut Vec<Arrival>,
) -> Written {
    let (samples, size) = packet;
    let begin = *now;
    let end = begin + duration_ns;
    let mut written = Written { offered: 0, accepted: 0, elapsed_ns: 0 };
    while *now < end {
        let tried = *now;
        // the samples of a packet are written one after the other, and leave with the last
        let leaves = tried + HOST_NS * (samples - 1);
        let mut at = leaves;
        let fate = loop {
            match flow.offer(at, samples * size) {
                Fate::Full { until_ns } if until_ns < end => at = until_ns,
                other => break other,
            }
        };
        written.offered += samples;
        match fate {
            Fate::Full { .. } => {
                // the end comes before there is room
                *now = end.max(leaves);
                break;
            }
            Fate::Lost => {}
            Fate::Comes { due_ns, twice, .. } => {
                for copy in 0..=u64::from(twice) {
                    let of_packet = (0..samples).map(|sample| written.accepted + sample);
                    let order = |sequence| sequence * 2 + copy * 2 * samples;
                    arrivals.extend(of_packet.map(|sequence| Arrival {
                        due_ns,
                        order: order(sequence),
                        sequence,
                    }));
                }
            }
        }
        written.accepted += samples;
        *now = at + HOST_NS;
        for _ in 1..samples {
            call.record(tried - begin, HOST_NS);
        }
        call.record(tried - begin, *now - leaves);
    }
    written.elapsed_ns = *now - begin;
    written
}

pub(super) fn measure(
    series: &mut BTreeMap<&'static str, Series>,
    arrivals: &mut Vec<Arrival>,
    mut flow: Flow,
    factors: &Factors,
    design: &Design,
) -> Figures {
    let packet = (samples_per_packet(factors), factors.size_bytes);
    let call = series.entry("write_call").or_default();
    let mut now = 0;
    write(&mut flow, &mut now, design.warm_up_ns, packet, call, arrivals);
    call.clear();
    arrivals.clear();
    let written = write(&mut flow, &mut now, design.measure_ns, packet, call, arrivals);
    arrivals.sort_unstable();
    let mut set = SequenceSet::new();
    let (mut first_ns, mut last_ns) = (None, 0);
    for arrival in arrivals.iter() {
        if set.insert(arrival.sequence) {
            first_ns.get_or_insert(arrival.due_ns);
            last_ns = arrival.due_ns;
        }
    }
    let received = set.received(1);
    let sent = written.accepted;
    let counted = Counted {
        writer: received.writer,
        reader: 0,
        sent,
        delivered: received.delivered,
        lost: received.missing + (sent - received.next),
        undelivered: 0,
        duplicate: received.duplicate,
        out_of_order: received.out_of_order,
        ..Counted::default()
    };
    let rate = |samples: u64, ns: u64| if ns == 0 { 0.0 } else { samples as f64 * 1e9 / ns as f64 };
    let delivered_sps = rate(counted.delivered.saturating_sub(1), last_ns - first_ns.unwrap_or(last_ns));
    let throughput = Throughput {
        offered_sps: rate(written.offered, written.elapsed_ns),
        accepted_sps: rate(written.accepted, written.elapsed_ns),
        delivered_sps,
        goodput_mbps: delivered_sps * factors.size_bytes as f64 * 8.0 / 1e6,
        sent,
        delivered: counted.delivered,
        lost: counted.lost,
        undelivered: 0,
        lost_pct: if sent == 0 { 0.0 } else { counted.lost as f64 / sent as f64 * 100.0 },
        duplicate: counted.duplicate,
        out_of_order: counted.out_of_order,
    };
    Figures { counted, throughput: Some(throughput) }
}
