//! Writes as fast as back-pressure allows, and what a reader makes of what comes.

use std::{collections::BTreeMap, sync::Arc};

use experiment::{Design, Factors, Reliability};
use results::{Counted, Received, SequenceSet, Throughput, WindowCounts};
use sim_model::{Config, Fate, Flow};

use crate::{
    Measured, Series,
    machine::{Intake, Machine},
    samples_per_packet,
    usage::Used,
};

/// A packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    due_ns: u64,
    /// Which of those due at once comes first.
    order: u64,
    /// Number of its first sample.
    sequence: u64,
}

/// What a writer did in the measured time.
#[derive(Default)]
struct Written {
    offered: u64,
    accepted: u64,
    elapsed_ns: u64,
    busy_ns: u64,
    wire_bytes: u64,
    wire_packets: u64,
}

struct Writer<'r> {
    flow: Flow,
    config: Arc<Config>,
    machine: &'r Machine,
    /// Of a reliable one: a packet that the reader has no room for waits here.
    reader: Option<Intake>,
    /// Samples, and bytes of each.
    packet: (u64, u64),
    cost_ns: u64,
    now: u64,
}

impl Writer<'_> {
    /// What becomes of a packet that is tried to be sent then, and when it is sent.
    fn send(&mut self, mut at: u64, end: u64) -> (Fate, u64) {
        let bytes = self.packet.0 * self.packet.1;
        loop {
            let no_room = self.reader.as_mut().and_then(|reader| reader.full_until(at));
            let fate = match no_room {
                Some(until_ns) => Fate::Full { until_ns },
                None => self.flow.offer(at, bytes),
            };
            match fate {
                Fate::Full { until_ns } if until_ns < end => at = until_ns,
                other => return (other, at),
            }
        }
    }

    /// Writes for so long; every packet of samples has one fate.
    fn write(&mut self, duration_ns: u64, call: &mut Series, arrivals: &mut Vec<Arrival>) -> Written {
        let (samples, size) = self.packet;
        let begin = self.now;
        let end = begin + duration_ns;
        let wire = self.machine.on_wire(&self.config, samples * size);
        let mut written = Written::default();
        while self.now < end {
            let tried = self.now;
            // the samples of a packet are written one after the other, and leave with the last
            let leaves = tried + self.cost_ns * (samples - 1);
            let (fate, at) = self.send(leaves, end);
            written.offered += samples;
            let mut transmissions = 1;
            match fate {
                Fate::Full { .. } => {
                    // the end comes before there is room
                    written.busy_ns += leaves - tried;
                    self.now = end.max(leaves);
                    break;
                }
                Fate::Dropped => transmissions = 0,
                Fate::Lost => {}
                Fate::Comes { due_ns, twice, retransmissions } => {
                    transmissions += u64::from(retransmissions);
                    let due_ns = self.reader.as_mut().map_or(due_ns, |reader| reader.take(due_ns));
                    for copy in 0..=u64::from(twice) {
                        let order = written.accepted * 2 + copy * 2 * samples;
                        arrivals.push(Arrival { due_ns, order, sequence: written.accepted });
                    }
                }
            }
            written.wire_bytes += transmissions * wire.0;
            written.wire_packets += transmissions * wire.1;
            written.accepted += samples;
            written.busy_ns += self.cost_ns * samples;
            self.now = at + self.cost_ns;
            for _ in 1..samples {
                call.record(tried - begin, self.cost_ns);
            }
            call.record(tried - begin, self.now - leaves);
        }
        written.elapsed_ns = self.now - begin;
        written
    }
}

/// What comes to a best effort reader, in its order: when each packet is read. Those that its buffer has no room for are
/// left out, and counted.
fn read(arrivals: &mut Vec<Arrival>, reader: &mut Intake) -> u64 {
    arrivals.sort_unstable();
    let before = arrivals.len();
    arrivals.retain_mut(|arrival| {
        let room = reader.full_until(arrival.due_ns).is_none();
        if room {
            arrival.due_ns = reader.take(arrival.due_ns);
        }
        room
    });
    (before - arrivals.len()) as u64
}

pub(super) fn measure(
    series: &mut BTreeMap<&'static str, Series>,
    arrivals: &mut Vec<Arrival>,
    flow: Flow,
    config: &Arc<Config>,
    machine: &Machine,
    factors: &Factors,
    design: &Design,
) -> Measured {
    let packet = (samples_per_packet(factors), factors.size_bytes);
    let (write_ns, read_ns) = (machine.write_cost(factors, packet.0), machine.read_cost(factors, packet.0));
    let intake = || Intake::new(read_ns, machine.receive_buffer);
    let reliable = factors.qos.reliability == Some(Reliability::Reliable);
    let mut best_effort = (!reliable).then(intake);
    let mut writer = Writer {
        flow,
        config: config.clone(),
        machine,
        reader: reliable.then(intake),
        packet,
        cost_ns: write_ns,
        now: 0,
    };
    let call = series.entry("write_call").or_default();
    arrivals.clear();
    let mut read_all =
        |arrivals: &mut Vec<Arrival>| best_effort.as_mut().map_or(0, |reader| read(arrivals, reader));
    writer.write(design.warm_up_ns, call, arrivals);
    read_all(arrivals);
    call.clear();
    arrivals.clear();
    let written = writer.write(design.measure_ns, call, arrivals);
    let dropped_packets = read_all(arrivals);
    let received = receive(arrivals, packet, design);
    // its own time, from the first sample on; of none, the writer's
    let reading_ns = received.last_ns - received.first_ns.saturating_sub(read_ns);
    let reader_elapsed_ns = if received.delivered > 0 { reading_ns.max(1) } else { written.elapsed_ns };
    let used = Used {
        writer_ns: written.busy_ns,
        writer_elapsed_ns: written.elapsed_ns,
        reader_ns: arrivals.len() as u64 * read_ns,
        reader_elapsed_ns,
        wire_bytes: written.wire_bytes,
        wire_packets: written.wire_packets,
        dropped: dropped_packets * config.datagrams(packet.0 * packet.1),
        mode: writer.flow.mode(),
    };
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
    let throughput = throughput(&written, &received, &counted, factors);
    Measured { counted, throughput: Some(throughput), received: Some(received), used }
}

/// Counts as the reader's agent does.
fn receive(arrivals: &[Arrival], packet: (u64, u64), design: &Design) -> Received {
    let mut set = SequenceSet::new();
    let mut windows = WindowCounts::new(design.windows, design.measure_ns);
    let (mut first_ns, mut last_ns) = (None, 0);
    for arrival in arrivals {
        for sequence in arrival.sequence..arrival.sequence + packet.0 {
            if set.insert(sequence) {
                first_ns.get_or_insert(arrival.due_ns);
                last_ns = arrival.due_ns;
                windows.count(arrival.due_ns);
            }
        }
    }
    let received = set.received(1);
    Received {
        bytes: received.delivered * packet.1,
        first_ns: first_ns.unwrap_or(last_ns),
        last_ns,
        window_ns: windows.window_ns(),
        window_delivered: windows.counts().to_vec(),
        ..received
    }
}

fn throughput(written: &Written, received: &Received, counted: &Counted, factors: &Factors) -> Throughput {
    let rate = |samples: u64, ns: u64| if ns == 0 { 0.0 } else { samples as f64 * 1e9 / ns as f64 };
    let delivered_sps = rate(counted.delivered.saturating_sub(1), received.last_ns - received.first_ns);
    let Counted { sent, delivered, lost, .. } = *counted;
    Throughput {
        offered_sps: rate(written.offered, written.elapsed_ns),
        accepted_sps: rate(written.accepted, written.elapsed_ns),
        delivered_sps,
        goodput_mbps: delivered_sps * factors.size_bytes as f64 * 8.0 / 1e6,
        sent,
        delivered,
        lost,
        undelivered: 0,
        lost_pct: if sent == 0 { 0.0 } else { lost as f64 / sent as f64 * 100.0 },
        duplicate: counted.duplicate,
        out_of_order: counted.out_of_order,
    }
}
