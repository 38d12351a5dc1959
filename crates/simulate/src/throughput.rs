//! Simulation of a throughput run: writes as fast as back-pressure allows.

use control::{AgentReport, FlowReaderReport, FlowWriterReport, ReaderReport, RoleReport, WriterReport};
use experiment::{Design, Factors, WriterDesign};
use results::{Batches, COARSE_WINDOWS};

use crate::{
    drain::{self, Drain, WriterEnd},
    late_join, late_reader,
    link::{Link, Network},
    paced::warm_up,
    reader::Reader,
    reports::{AgentTraffic, Traffic, Wire},
    series::{Recorder, Series},
    setup::RunSetup,
};

/// Counts of a writer in a phase.
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

struct Writer<'w> {
    link: &'w mut Link,
    /// Durations of its write calls.
    call: &'w mut Series,
    /// Number of samples in a packet.
    samples: u64,
    cost_ns: u64,
    now: u64,
    phase: Phase,
}

impl Writer<'_> {
    fn begin(&mut self, begin_ns: u64) {
        self.link.begin();
        self.call.clear();
        self.now = begin_ns;
        self.phase = Phase { begin_ns, ..Phase::default() };
    }

    /// Writes one packet. `end`: end of the phase, in which at most `most` samples are written.
    fn write(&mut self, readers: &mut [Reader], end: u64, most: u64) {
        let (samples, begin) = (self.samples.min(most - self.phase.accepted), self.phase.begin_ns);
        let tried = self.now;
        // The samples of a packet are written one after the other; the packet is sent with the last one.
        let leaves = tried + self.cost_ns * (samples - 1);
        self.phase.offered += samples;
        let Some(at) = self.link.send(readers, leaves, end, samples) else {
            // The end comes before there is room.
            self.phase.busy_ns += leaves - tried;
            self.now = end.max(leaves);
            return;
        };
        self.phase.accepted += samples;
        self.phase.packets += 1;
        self.phase.busy_ns += self.cost_ns * samples;
        self.now = at + self.cost_ns;
        for _ in 1..samples {
            self.call.record(tried - begin, self.cost_ns);
        }
        self.call.record(tried - begin, self.now - leaves);
    }
}

/// Lets all writers write within the limits of their endpoints, from the time at which the last one is ready. The one that is free
/// first writes first.
fn write(writers: &mut [Writer<'_>], readers: &mut [Reader], limits: &dyn Fn(usize) -> WriterDesign) {
    let begin = writers.iter().map(|writer| writer.now).max().unwrap_or(0);
    readers.iter_mut().for_each(Reader::begin);
    writers.iter_mut().for_each(|writer| writer.begin(begin));
    let limits = |writer: &Writer<'_>| {
        let own = limits(writer.link.endpoint);
        (begin + own.measure_ns, own.most())
    };
    let is_free = |writer: &Writer<'_>| {
        let (end, most) = limits(writer);
        writer.now < end && writer.phase.accepted < most
    };
    let next = |writers: &[Writer<'_>]| {
        let free = writers.iter().enumerate().filter(|(_, of)| is_free(of));
        free.min_by_key(|(_, of)| of.now).map(|(index, _)| index)
    };
    while let Some(index) = next(writers) {
        let (end, most) = limits(&writers[index]);
        writers[index].write(readers, end, most);
    }
    for writer in writers {
        writer.phase.end_ns = writer.now;
    }
}

/// Measures the streams of all writers together.
pub(super) fn measure(
    calls: &mut Vec<Series>,
    recorder: &mut Recorder,
    network: &mut Network,
    run: &RunSetup<'_>,
) -> Traffic {
    let RunSetup { topology, factors, design, drain_ns, .. } = *run;
    let Network { links, readers } = network;
    calls.resize_with(links.len(), Series::default);
    let mut writers: Vec<Writer<'_>> = links
        .iter_mut()
        .zip(calls)
        .map(|(link, call)| {
            let (samples, cost_ns) = (link.samples(), link.write_ns(0));
            Writer { link, call, samples, cost_ns, now: 0, phase: Phase::default() }
        })
        .collect();
    let config = writers.first().map(|writer| writer.link.config.clone()).unwrap_or_default();
    late_reader::plan(readers, run, &config, None);
    write(&mut writers, readers, &|_| warm_up(design));
    let warmed_up = writers.iter().map(|writer| writer.now).max().unwrap_or(0);
    late_reader::plan(readers, run, &config, Some(warmed_up));
    write(&mut writers, readers, &|endpoint| design.writer(endpoint));
    readers.iter_mut().for_each(|reader| reader.read(&config));
    let reliable = factors.is_reliable(0);
    let written: Vec<WriterEnd> = writers
        .iter()
        .map(|Writer { link, phase, .. }| WriterEnd {
            endpoint: link.endpoint,
            accepted: [(link.spec.stream.writer, phase.accepted)].into(),
            missed: late_reader::missed(link).into_iter().collect(),
            end_ns: phase.end_ns,
        })
        .collect();
    let drained = drain::drain(readers, &written, reliable, drain_ns);
    let wire = Wire::of(writers.iter().map(|writer| &*writer.link), readers);
    let mut agents = Vec::with_capacity(topology.endpoints.len());
    for writer in &writers {
        agents.push(of_writer(writer, recorder, factors, design, &drained));
    }
    let writing_ns = writers.iter().map(|of| of.phase.end_ns - of.phase.begin_ns).max().unwrap_or(0);
    let samples = writers.first().map_or(1, |writer| writer.samples);
    for reader in &mut *readers {
        agents.push(of_reader(reader, samples, design, &drained, writing_ns));
    }
    let join = late_reader::joined(readers, run);
    Traffic { agents, wire, join, mode: links.first().map_or(1.0, |link| link.flow.mode) }
}

fn of_writer(
    writer: &Writer<'_>,
    recorder: &mut Recorder,
    factors: &Factors,
    design: &Design,
    drained: &Drain,
) -> AgentTraffic {
    let Writer { link, call, samples, phase, .. } = writer;
    let batches = (factors.batch_bytes > 0).then(|| Batches::new(phase.packets, phase.accepted, *samples));
    let windows = design.windows.min(COARSE_WINDOWS);
    let flow = FlowWriterReport {
        planned: phase.offered,
        offered: phase.offered,
        accepted: phase.accepted,
        warm_up: link.sent.warm_up,
        before_join: late_join::before(link.kept.as_ref()),
        write_call: recorder.distribution(call, windows, design.measure_ns),
        batches,
        ..FlowWriterReport::default()
    };
    let report = WriterReport {
        begin_ns: phase.begin_ns,
        end_ns: phase.end_ns,
        flows: vec![flow],
        ..WriterReport::default()
    };
    AgentTraffic {
        report: AgentReport { role: RoleReport::Writer(report), ..AgentReport::default() },
        sent: phase.accepted,
        drained: drained.is_acknowledged(link.endpoint),
        cpu_ns: phase.busy_ns,
        elapsed_ns: phase.end_ns - phase.begin_ns,
        samples: phase.accepted,
    }
}

/// `samples`: those in a packet.
fn of_reader(
    reader: &mut Reader,
    samples: u64,
    design: &Design,
    drained: &Drain,
    writing_ns: u64,
) -> AgentTraffic {
    let (arrived, closed_ns) = drained.of_reader(reader.endpoint);
    reader.close(closed_ns);
    let streams = 0..reader.spec.streams.len();
    let flows: Vec<FlowReaderReport> = streams
        .map(|position| {
            let (received, join) = reader.receive(position, design, |_, _| {});
            FlowReaderReport { received, join, ..FlowReaderReport::default() }
        })
        .collect();
    // The reader's time starts with its first sample. Without any sample, the writers' time counts.
    let some = || flows.iter().map(|flow| &flow.received).filter(|received| received.delivered > 0);
    let last_ns = some().map(|received| received.last_ns).max();
    let first_ns = some().map(|received| received.first_ns).min().unwrap_or(0);
    let first_ns = first_ns.saturating_sub(reader.read_ns(samples * reader.spec.max_size_bytes(), samples));
    let elapsed_ns = last_ns.map_or(writing_ns, |last_ns| (last_ns - first_ns).max(1));
    let delivered = some().map(|received| received.delivered).sum();
    let read = ReaderReport { flows, ..ReaderReport::default() };
    AgentTraffic {
        report: AgentReport {
            role: RoleReport::Reader(read),
            participant: late_reader::participant(Some(reader)),
            ..AgentReport::default()
        },
        sent: 0,
        drained: arrived,
        cpu_ns: reader.reading_ns(),
        elapsed_ns,
        samples: delivered,
    }
}
