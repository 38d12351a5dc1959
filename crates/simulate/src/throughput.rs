//! Simulation of a throughput run: writes as fast as back-pressure allows.

use control::{AgentReport, ReaderReport, WriterReport};
use experiment::{Design, Factors};
use results::{Batches, COARSE_WINDOWS};

use crate::{
    Series,
    drain::Drained,
    link::{Link, samples_per_packet},
    reports::{Traffic, TrafficUsage},
    series::Recorder,
};

/// Counts of the writer in a phase.
#[derive(Default)]
struct Phase {
    offered: u64,
    accepted: u64,
    begin_ns: u64,
    end_ns: u64,
    busy_ns: u64,
    /// Accepted packets. All are full, also with turbo: the next sample is always due.
    packets: u64,
}

struct Writer<'w, 'r> {
    link: &'w mut Link<'r>,
    /// Number of samples in a packet.
    samples: u64,
    cost_ns: u64,
    now: u64,
}

impl Writer<'_, '_> {
    /// Writes for `duration_ns`.
    fn write(&mut self, duration_ns: u64, call: &mut Series) -> Phase {
        self.link.begin();
        call.clear();
        let samples = self.samples;
        let begin = self.now;
        let end = begin + duration_ns;
        let mut writer_report = Phase { begin_ns: begin, ..Phase::default() };
        while self.now < end {
            let tried = self.now;
            // The samples of a packet are written one after the other; the packet is sent with the last one.
            let leaves = tried + self.cost_ns * (samples - 1);
            writer_report.offered += samples;
            let Some(at) = self.link.send(leaves, end, samples) else {
                // The end comes before there is room.
                writer_report.busy_ns += leaves - tried;
                self.now = end.max(leaves);
                break;
            };
            writer_report.accepted += samples;
            writer_report.packets += 1;
            writer_report.busy_ns += self.cost_ns * samples;
            self.now = at + self.cost_ns;
            for _ in 1..samples {
                call.record(tried - begin, self.cost_ns);
            }
            call.record(tried - begin, self.now - leaves);
        }
        writer_report.end_ns = self.now;
        writer_report
    }
}

/// Measures a stream.
pub(super) fn measure(
    call: &mut Series,
    recorder: &mut Recorder,
    link: &mut Link<'_>,
    factors: &Factors,
    design: &Design,
    drain_ns: u64,
) -> Traffic {
    let samples = samples_per_packet(factors.batch_bytes, factors.size_bytes);
    let cost_ns = link.write_ns(samples);
    let mut writer = Writer { link, samples, cost_ns, now: 0 };
    writer.write(design.warm_up_ns, call);
    let writer_report = writer.write(design.measure_ns, call);
    let writing_ns = writer_report.end_ns - writer_report.begin_ns;
    link.read();
    let reliable = factors.is_reliable(0);
    let drained =
        Drained::new(link.arrivals(), (writer_report.accepted, reliable), writer_report.end_ns, drain_ns);
    let received = link.receive(1, design, drained.closed_ns, |_, _| {});
    let sent = link.sent();
    // The reader's time starts with its first sample. Without any sample, the writer's time counts.
    let reading_ns = received.last_ns - received.first_ns.saturating_sub(link.read_ns(samples));
    let usage = TrafficUsage {
        writer_ns: writer_report.busy_ns,
        writer_elapsed_ns: writing_ns,
        reader_ns: link.reading_ns(),
        reader_elapsed_ns: if received.delivered > 0 { reading_ns.max(1) } else { writing_ns },
        received: received.delivered,
        wire_bytes: sent.wire_bytes,
        wire_packets: sent.wire_packets,
        dropped: sent.dropped,
        mode: link.mode(),
    };
    let batches = (factors.batch_bytes > 0)
        .then(|| Batches::new(writer_report.packets, writer_report.accepted, samples));
    let windows = design.windows.min(COARSE_WINDOWS);
    let report = WriterReport {
        offered: writer_report.offered,
        accepted: writer_report.accepted,
        warm_up: sent.warm_up,
        timed_out: 0,
        refused: 0,
        begin_ns: writer_report.begin_ns,
        end_ns: writer_report.end_ns,
        write_call: recorder.distribution(call, windows, design.measure_ns),
        batches,
        probes: None,
    };
    let read = ReaderReport { received: vec![received], probes: None, takes: None, foreign: 0 };
    Traffic {
        sent: writer_report.accepted,
        drained,
        driving: AgentReport { writer: Some(report), ..AgentReport::default() },
        serving: vec![AgentReport { reader: Some(read), ..AgentReport::default() }],
        usage,
    }
}
