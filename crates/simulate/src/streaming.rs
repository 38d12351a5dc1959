//! Simulation of a throughput run or a paced run: one thread of each writing endpoint writes the samples of its streams as
//! fast as back-pressure allows, or at planned times, late if necessary.

use std::slice::IterMut;

use collector::TraceFiles;
use control::{
    AgentReport, FlowReaderReport, FlowWriterReport, ReaderReport, RoleReport, WriterReport, lead_ns,
    windows_of_flow,
};
use experiment::{Design, Load, Workload, WriterDesign};
use results::{TimelinessRecorder, WritingTime};

use crate::{
    drain::{self, Drain, WriterEnd},
    late_reader,
    link::{Link, Network},
    reader::Reader,
    reports::{AgentTraffic, Traffic, Wire},
    series::{Recorder, Series},
    setup::RunSetup,
    stream::{Stream, WrittenSeries},
};

/// Recorded values of the streams of a run. The memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// By writer.
    written: Vec<WrittenSeries>,
    /// By reader and stream.
    read: Vec<ReadSeries>,
}

/// Recorded values of a stream at one of its readers.
#[derive(Debug, Default)]
struct ReadSeries {
    service: Series,
    response: Series,
}

impl Recorded {
    /// Returns the values of the last run with their kinds.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &Series)> {
        let written =
            self.written.iter().flat_map(|of| [("send_lag", &of.send_lag), ("write_call", &of.write_call)]);
        written.chain(self.read.iter().flat_map(|of| [("service", &of.service), ("response", &of.response)]))
    }
}

/// Writing thread of an endpoint.
struct Sender<'w> {
    endpoint: usize,
    streams: Vec<Stream<'w>>,
    now: u64,
    busy_ns: u64,
    /// Time at which the last write returned.
    end_ns: u64,
}

impl Sender<'_> {
    fn begin(&mut self, begin: u64, seed: u64, most: u64) {
        self.streams.iter_mut().for_each(|stream| stream.begin(seed, most));
        (self.now, self.busy_ns, self.end_ns) = (begin, 0, begin);
    }

    /// Returns the time of the next write, and its stream: of samples due at the same time, the first stream goes first.
    /// `None` if there is none before the end.
    fn next(&self, begin: u64, end: u64) -> Option<(u64, usize)> {
        let due = self
            .streams
            .iter()
            .enumerate()
            .filter_map(|(index, stream)| Some((stream.due_ns(self.now - begin)?, index)));
        let (due_ns, index) = due.min().filter(|(due_ns, _)| self.now < end && begin + due_ns < end)?;
        Some((self.now.max(begin + due_ns), index))
    }

    fn write(&mut self, readers: &mut [Reader], begin: u64, (tried, index): (u64, usize), end: u64) {
        let stream = &mut self.streams[index];
        self.now = match stream.write(readers, begin, tried, end) {
            Some(free) => {
                self.busy_ns += stream.cost_ns;
                free
            }
            // The end comes before there is room.
            None => end,
        };
        self.end_ns = self.now;
    }

    fn flush(&mut self, readers: &mut [Reader]) {
        for stream in &mut self.streams {
            let flushed = stream.flush(readers, self.now);
            if flushed > self.now {
                (self.now, self.end_ns) = (flushed, flushed);
            }
        }
    }
}

/// Lets all senders write from the time `begin` on, within the limits of their endpoints. The one whose next write is first goes
/// first.
fn write(
    senders: &mut [Sender<'_>],
    readers: &mut [Reader],
    begin: u64,
    limits: &dyn Fn(usize) -> WriterDesign,
    seed: u64,
) {
    readers.iter_mut().for_each(Reader::begin);
    senders.iter_mut().for_each(|sender| sender.begin(begin, seed, limits(sender.endpoint).most()));
    let end = |sender: &Sender<'_>| begin + limits(sender.endpoint).measure_ns;
    let next = |senders: &[Sender<'_>]| {
        let all =
            senders.iter().enumerate().filter_map(|(index, of)| Some((of.next(begin, end(of))?, index)));
        all.min_by_key(|((tried, _), index)| (*tried, *index))
    };
    while let Some((write, index)) = next(senders) {
        let end = end(&senders[index]);
        senders[index].write(readers, begin, write, end);
    }
    senders.iter_mut().for_each(|sender| sender.flush(readers));
}

/// Returns the limits of the warm-up.
fn warm_up(design: &Design) -> WriterDesign {
    WriterDesign {
        measure_ns: design.warm_up_ns,
        samples: design.warm_up_samples,
        ..design.writer(usize::MAX)
    }
}

/// Returns the writing threads of a network, one for each endpoint.
fn senders<'w>(links: &'w mut [Link], traces: &TraceFiles, recorded: &'w mut Recorded) -> Vec<Sender<'w>> {
    recorded.written.resize_with(links.len(), WrittenSeries::default);
    let mut senders: Vec<Sender<'w>> = Vec::new();
    for (link, recorded) in links.iter_mut().zip(&mut recorded.written) {
        let endpoint = link.endpoint;
        let stream = Stream::new(link, traces, recorded);
        match senders.last_mut().filter(|sender| sender.endpoint == endpoint) {
            Some(sender) => sender.streams.push(stream),
            None => senders.push(Sender { endpoint, streams: vec![stream], now: 0, busy_ns: 0, end_ns: 0 }),
        }
    }
    senders
}

/// Measures the streams of all writers together.
pub(crate) fn measure(
    recorded: &mut Recorded,
    recorder: &mut Recorder,
    network: &mut Network,
    traces: &TraceFiles,
    run: &RunSetup<'_>,
) -> Traffic {
    let RunSetup { topology, factors, design, drain_ns, .. } = *run;
    let reliable = factors.is_reliable(0);
    let Network { links, readers } = network;
    let config = links.first().map(|link| link.config.clone()).unwrap_or_default();
    let mut senders = senders(links, traces, recorded);
    late_reader::plan(readers, run, &config, None);
    write(&mut senders, readers, 0, &|_| warm_up(design), design.seed);
    let warmed_up = senders.iter().map(|sender| sender.end_ns).max().unwrap_or(0);
    let is_paced = factors.workload == Workload::Paced;
    // The agents answer the request for the warm-up at once. A throughput run is not scheduled.
    let begin = if is_paced { warmed_up.max(design.warm_up_ns) + lead_ns(0) } else { warmed_up };
    late_reader::plan(readers, run, &config, Some(begin));
    write(&mut senders, readers, begin, &|endpoint| design.writer(endpoint), design.seed);
    readers.iter_mut().for_each(|reader| reader.read(&config));
    let written: Vec<WriterEnd> = senders
        .iter()
        .map(|sender| WriterEnd {
            endpoint: sender.endpoint,
            accepted: sender
                .streams
                .iter()
                .map(|of| (of.link.spec.stream.writer, of.link.sent.accepted))
                .collect(),
            missed: sender.streams.iter().filter_map(|of| late_reader::missed(of.link)).collect(),
            end_ns: begin + writing_ns(begin, sender, design, is_paced),
        })
        .collect();
    let drained = drain::drain(readers, &written, reliable, drain_ns);
    let wire =
        Wire::of(senders.iter().flat_map(|sender| &sender.streams).map(|stream| &*stream.link), readers);
    let mode = senders.first().map_or(1.0, |sender| sender.streams[0].link.flow.mode);
    let streams = senders.iter().flat_map(|sender| &sender.streams);
    let length_ns = streams.map(|stream| stream.length_ns(design)).max().unwrap_or(design.measure_ns);
    let mut reports = Reports { recorder, design, is_paced, begin, length_ns, drained };
    let mut agents: Vec<AgentTraffic> = senders.iter_mut().map(|sender| reports.of_sender(sender)).collect();
    drop(senders);
    let streams: usize = readers.iter().map(|reader| reader.spec.streams.len()).sum();
    recorded.read.resize_with(streams, ReadSeries::default);
    let Recorded { written, read } = recorded;
    let times_of = |writer: u16| {
        let link = links.iter().position(|link| link.spec.stream.writer == writer);
        link.map_or(&[][..], |link| &written[link].times)
    };
    let mut read = read.iter_mut();
    for endpoint in agents.len()..topology.endpoints.len() {
        let own = readers.iter_mut().filter(|reader| reader.endpoint == endpoint).collect();
        agents.push(reports.of_readers(endpoint, own, times_of, &mut read));
    }
    Traffic { agents, wire, join: late_reader::joined(readers, run), mode }
}

/// Returns the time of a writing endpoint: of a paced run, at least the length of its schedule.
fn writing_ns(begin: u64, sender: &Sender<'_>, design: &Design, is_paced: bool) -> u64 {
    let writing = WritingTime::new(begin, sender.end_ns);
    let length_ns = sender.streams.iter().map(|stream| stream.length_ns(design)).max();
    if is_paced { writing.at_least(length_ns.unwrap_or(design.measure_ns)).ns() } else { writing.ns() }
}

/// Maker of the reports of the agents.
struct Reports<'m> {
    recorder: &'m mut Recorder,
    design: &'m Design,
    is_paced: bool,
    /// Start of the measurement.
    begin: u64,
    /// Planned length of the traffic in ns.
    length_ns: u64,
    drained: Drain,
}

impl Reports<'_> {
    fn of_sender(&mut self, sender: &mut Sender<'_>) -> AgentTraffic {
        let Self { recorder, design, is_paced, begin, drained, .. } = self;
        let windows = windows_of_flow(design.windows, sender.streams.len());
        let flows: Vec<FlowWriterReport> =
            sender.streams.iter_mut().map(|stream| stream.report(recorder, windows, design)).collect();
        let sent = flows.iter().map(|flow| flow.accepted).sum();
        let report =
            WriterReport { begin_ns: *begin, end_ns: sender.end_ns, flows, ..WriterReport::default() };
        AgentTraffic {
            report: AgentReport { role: RoleReport::Writer(report), ..AgentReport::default() },
            sent,
            drained: drained.is_acknowledged(sender.endpoint),
            cpu_ns: sender.busy_ns,
            elapsed_ns: writing_ns(*begin, sender, design, *is_paced),
            samples: sent,
        }
    }

    /// Returns what an agent reports of its readers. `times_of`: intended and actual send times of a writer's samples.
    fn of_readers<'w>(
        &mut self,
        endpoint: usize,
        mut readers: Vec<&mut Reader>,
        times_of: impl Fn(u16) -> &'w [(u64, u64)],
        read: &mut IterMut<'_, ReadSeries>,
    ) -> AgentTraffic {
        let Self { recorder, design, is_paced, begin, drained, length_ns } = self;
        let (is_paced, begin) = (*is_paced, *begin);
        let (arrived, closed_ns) = drained.of_reader(endpoint);
        let streams = readers.iter().map(|reader| reader.spec.streams.len()).sum();
        let windows = windows_of_flow(design.windows, streams);
        let mut flows: Vec<FlowReaderReport> = Vec::with_capacity(streams);
        let mut cpu_ns = 0;
        for reader in &mut readers {
            reader.close(closed_ns);
            cpu_ns += reader.reading_ns();
            for (position, stream) in reader.spec.streams.iter().enumerate() {
                let series = read.next().expect("one for each stream");
                series.service.clear();
                series.response.clear();
                let timed = stream.load.as_ref().is_some_and(Load::has_times);
                let times = times_of(stream.writer);
                let mut timeliness = stream
                    .deadline_ns
                    .map(|deadline_ns| TimelinessRecorder::new(deadline_ns, design.measure_ns));
                let (received, join) = reader.receive(position, design, |taken_ns, sequence| {
                    let at = taken_ns - begin;
                    let (intended, sent) = times[sequence as usize];
                    if is_paced {
                        series.service.record(at, at - sent);
                    }
                    if timed {
                        series.response.record(at, at - intended);
                        timeliness.iter_mut().for_each(|timeliness| timeliness.arrived(at, intended));
                    }
                });
                let mut distribution = |series| recorder.distribution(series, windows, design.measure_ns);
                flows.push(FlowReaderReport {
                    received,
                    join,
                    service: distribution(&series.service),
                    response: distribution(&series.response),
                    timeliness: timeliness.as_mut().map(TimelinessRecorder::report),
                    ..FlowReaderReport::default()
                });
            }
        }
        let last_ns = flows.iter().map(|flow| flow.received.last_ns).max().unwrap_or(begin);
        let elapsed_ns = match readers.iter().filter_map(|reader| reader.first_taken_ns()).min() {
            // The time of a reader of a throughput run starts with its first packet.
            Some(first_ns) if !is_paced => last_ns.saturating_sub(first_ns).max(1),
            _ => last_ns.saturating_sub(begin).max(*length_ns),
        };
        let samples = flows.iter().map(|flow| flow.received.delivered).sum();
        let report = ReaderReport { flows, ..ReaderReport::default() };
        AgentTraffic {
            report: AgentReport {
                role: RoleReport::Reader(report),
                participant: late_reader::participant(readers.first().map(|reader| &**reader)),
                ..AgentReport::default()
            },
            sent: 0,
            drained: arrived,
            cpu_ns,
            elapsed_ns,
            samples,
        }
    }
}
