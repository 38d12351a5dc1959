//! Simulation of a throughput run: writes as fast as back-pressure allows.

use experiment::{Design, Factors};
use results::{Batches, Throughput, WritingTime};

use crate::{
    Series,
    lab::{Measured, samples_per_packet},
    usage::Used,
    way::{Way, counted},
};

/// Counts of the writer in a phase.
struct Written {
    offered: u64,
    accepted: u64,
    time: WritingTime,
    busy_ns: u64,
    /// Accepted packets. All are full, also with turbo: the next sample is always due.
    packets: u64,
}

struct Writer<'w, 'r> {
    way: &'w mut Way<'r>,
    /// Number of samples in a packet.
    samples: u64,
    cost_ns: u64,
    now: u64,
}

impl Writer<'_, '_> {
    /// Writes for `duration_ns`.
    fn write(&mut self, duration_ns: u64, call: &mut Series) -> Written {
        self.way.begin();
        call.clear();
        let samples = self.samples;
        let begin = self.now;
        let end = begin + duration_ns;
        let time = WritingTime::new(begin, begin);
        let mut written = Written { offered: 0, accepted: 0, time, busy_ns: 0, packets: 0 };
        while self.now < end {
            let tried = self.now;
            // The samples of a packet are written one after the other; the packet is sent with the last one.
            let leaves = tried + self.cost_ns * (samples - 1);
            written.offered += samples;
            let Some(at) = self.way.send(leaves, end, samples) else {
                // The end comes before there is room.
                written.busy_ns += leaves - tried;
                self.now = end.max(leaves);
                break;
            };
            written.accepted += samples;
            written.packets += 1;
            written.busy_ns += self.cost_ns * samples;
            self.now = at + self.cost_ns;
            for _ in 1..samples {
                call.record(tried - begin, self.cost_ns);
            }
            call.record(tried - begin, self.now - leaves);
        }
        written.time = WritingTime::new(begin, self.now);
        written
    }
}

pub(super) fn measure(call: &mut Series, way: &mut Way<'_>, factors: &Factors, design: &Design) -> Measured {
    let samples = samples_per_packet(factors.batch_bytes, factors.size_bytes);
    let cost_ns = way.write_ns(samples);
    let mut writer = Writer { way, samples, cost_ns, now: 0 };
    writer.write(design.warm_up_ns, call);
    let written = writer.write(design.measure_ns, call);
    let received = way.receive(1, design, |_, _| {});
    let sent = way.sent();
    // The reader's time starts with its first sample. Without any sample, the writer's time counts.
    let reading_ns = received.last_ns - received.first_ns.saturating_sub(way.read_ns(samples));
    let used = Used {
        writer_ns: written.busy_ns,
        writer_elapsed_ns: written.time.ns(),
        reader_ns: way.reading_ns(),
        reader_elapsed_ns: if received.delivered > 0 { reading_ns.max(1) } else { written.time.ns() },
        wire_bytes: sent.wire_bytes,
        wire_packets: sent.wire_packets,
        dropped: sent.dropped,
        mode: way.mode(),
    };
    let counted = counted(written.accepted, &received);
    let batches = (factors.batch_bytes > 0).then(|| Batches::new(written.packets, written.accepted, samples));
    let throughput =
        Throughput { batches, ..written.time.throughput(written.offered, &counted, &[&received]) };
    Measured {
        counted: vec![counted],
        throughput: Some(throughput),
        received: Some((received, written.time)),
        open: None,
        used,
    }
}
