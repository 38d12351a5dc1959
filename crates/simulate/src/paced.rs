//! Simulation of an open loop: one thread of each writing endpoint writes the samples of its streams at planned times,
//! late if necessary.

use std::{slice::IterMut, sync::Arc};

use collector::TraceTimes;
use control::{
    AgentReport, FlowReaderReport, FlowWriterReport, PacedReaderReport, PacedWriterReport, lead_ns,
    windows_of_flow,
};
use experiment::{Design, Load, Schedule};
use results::{BatchPolicy, COARSE_WINDOWS, WritingTime};

use crate::{
    Series,
    drain::{self, Drain, Written},
    link::{Link, Network, Reader},
    reports::{AgentTraffic, Traffic, Wire},
    series::Recorder,
    setup::RunSetup,
};

/// Recorded values of an open loop. The memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// By writer.
    written: Vec<WrittenSeries>,
    /// By reader and stream.
    read: Vec<ReadSeries>,
}

/// Recorded values of a writer.
#[derive(Debug, Default)]
struct WrittenSeries {
    send_lag: Series,
    write_call: Series,
    /// Intended send time (0 without one) and start of the write of each sample, by number.
    times: Vec<(u64, u64)>,
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

impl WrittenSeries {
    fn clear(&mut self) {
        self.send_lag.clear();
        self.write_call.clear();
        self.times.clear();
    }
}

/// Stream with its link.
struct Stream<'w> {
    link: &'w mut Link,
    load: Load,
    /// Times of its trace file, if its load follows one.
    trace: Arc<[u64]>,
    recorded: &'w mut WrittenSeries,
    packing: BatchPolicy,
    /// Number of samples in a full packet; `cost_ns` is the CPU time of writing one sample.
    samples: u64,
    cost_ns: u64,
    /// Schedule; `None` without intended send times.
    schedule: Option<Schedule>,
    /// Intended send time of the next sample, from the start of the schedule.
    next_ns: Option<u64>,
    offered: u64,
}

impl<'w> Stream<'w> {
    fn new(link: &'w mut Link, traces: &TraceTimes, recorded: &'w mut WrittenSeries) -> Self {
        let load = link.spec.stream.load.clone().unwrap_or(Load::Max);
        let (samples, cost_ns) = (link.samples(), link.write_ns());
        let size_bytes = link.spec.stream.size_bytes;
        Self {
            trace: traces.times(&load),
            load,
            recorded,
            packing: BatchPolicy::new(link.spec.batch_bytes, link.spec.batching, size_bytes),
            samples,
            cost_ns,
            schedule: None,
            next_ns: None,
            offered: 0,
            link,
        }
    }

    /// Starts the schedule.
    fn begin(&mut self, seed: u64) {
        self.link.begin();
        self.recorded.clear();
        let spec = &self.link.spec.stream;
        self.schedule = Schedule::new(&self.load, seed, spec.index(), self.trace.clone())
            .map(|schedule| schedule.delayed(spec.delay_ns));
        self.next_ns = self.schedule.as_mut().and_then(Iterator::next);
        self.packing.begin();
        self.offered = 0;
    }

    /// Returns when the next sample is due, at the time `now` of the schedule; `None` if there is none.
    fn due_ns(&self, now: u64) -> Option<u64> {
        if self.schedule.is_some() { self.next_ns } else { Some(now) }
    }

    /// Writes the next sample at the time `tried`. Returns when the writer is free again; `None` if the end comes
    /// first.
    fn write(&mut self, readers: &mut [Reader], begin: u64, tried: u64, end: u64) -> Option<u64> {
        let at = tried - begin;
        self.offered += 1;
        let full = self.packing.took();
        if let Some(intended) = self.next_ns {
            self.recorded.send_lag.record(at, at - intended);
        }
        self.recorded.times.push((self.next_ns.unwrap_or(0), at));
        self.next_ns = self.schedule.as_mut().and_then(Iterator::next);
        let mut sent = tried;
        // Rule of the agents: a turbo batch waits only for samples that are due when this write ends.
        let free = tried + self.cost_ns - begin;
        let eager = self.packing.is_eager() && self.due_ns(free).is_none_or(|due_ns| due_ns > free);
        if full || eager || self.samples == 1 {
            sent = self.link.send(readers, tried, end, self.packing.capacity_bytes())?;
            self.packing.flushed();
        }
        let free = sent + self.cost_ns;
        self.recorded.write_call.record(at, free - tried);
        Some(free)
    }

    /// Sends the samples of an incomplete batch without a time limit. Returns when they are sent.
    fn flush(&mut self, readers: &mut [Reader], now: u64) -> u64 {
        let held = self.packing.capacity_bytes();
        if held == 0 || held == self.samples {
            return now;
        }
        let sent = self.link.send(readers, now, u64::MAX, held).unwrap_or(now);
        self.packing.flushed();
        sent
    }

    /// Returns the number of samples whose intended send time is in the measurement; without intended times, those
    /// offered.
    fn planned(&mut self, design: &Design) -> u64 {
        let Some(schedule) = self.schedule.take() else { return self.offered };
        let next = u64::from(self.next_ns.is_some_and(|next| next < design.measure_ns));
        self.offered + next + schedule.planned(design.measure_ns)
    }

    fn report(&mut self, recorder: &mut Recorder, windows: u32, design: &Design) -> FlowWriterReport {
        let planned = self.planned(design);
        let windows = windows.min(COARSE_WINDOWS);
        let send_lag = recorder.distribution(&self.recorded.send_lag, windows, design.measure_ns);
        let sent = self.link.sent();
        FlowWriterReport {
            planned,
            offered: self.offered,
            accepted: sent.accepted,
            warm_up: sent.warm_up,
            timed_out: 0,
            refused: 0,
            // A simulated writer is never woken late: only its writes make it late.
            held_ns: send_lag.mean_ns,
            send_lag,
            write_call: recorder.distribution(&self.recorded.write_call, windows, design.measure_ns),
            batches: self.packing.batches(),
        }
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
    fn begin(&mut self, begin: u64, seed: u64) {
        self.streams.iter_mut().for_each(|stream| stream.begin(seed));
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
        // Otherwise the end comes before there is room.
        self.now = stream.write(readers, begin, tried, end).unwrap_or(end);
        self.busy_ns += stream.cost_ns;
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

/// Lets all senders write from the time `begin` on. The one whose next write is first goes first.
fn write(senders: &mut [Sender<'_>], readers: &mut [Reader], begin: u64, duration_ns: u64, seed: u64) {
    readers.iter_mut().for_each(Reader::begin);
    senders.iter_mut().for_each(|sender| sender.begin(begin, seed));
    let end = begin + duration_ns;
    let next = |senders: &[Sender<'_>]| {
        let all = senders.iter().enumerate().filter_map(|(index, of)| Some((of.next(begin, end)?, index)));
        all.min_by_key(|((tried, _), index)| (*tried, *index))
    };
    while let Some((write, index)) = next(senders) {
        senders[index].write(readers, begin, write, end);
    }
    senders.iter_mut().for_each(|sender| sender.flush(readers));
}

/// Returns the writing threads of a network, one for each endpoint.
fn senders<'w>(links: &'w mut [Link], traces: &TraceTimes, recorded: &'w mut Recorded) -> Vec<Sender<'w>> {
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
    traces: &TraceTimes,
    run: &RunSetup<'_>,
) -> Traffic {
    let RunSetup { shape, factors, design, drain_ns } = *run;
    let reliable = factors.is_reliable(0);
    let Network { links, readers } = network;
    let config = links.first().map(|link| link.config.clone()).unwrap_or_default();
    let mut senders = senders(links, traces, recorded);
    write(&mut senders, readers, 0, design.warm_up_ns, design.seed);
    let warmed_up = senders.iter().map(|sender| sender.end_ns).max().unwrap_or(0);
    // The agents answer the request for the warm-up at once.
    let begin = warmed_up.max(design.warm_up_ns) + lead_ns(0);
    write(&mut senders, readers, begin, design.measure_ns, design.seed);
    readers.iter_mut().for_each(|reader| reader.read(&config));
    let written: Vec<Written> = senders
        .iter()
        .map(|sender| Written {
            endpoint: sender.endpoint,
            accepted: sender
                .streams
                .iter()
                .map(|of| (of.link.spec.stream.writer, of.link.sent().accepted))
                .collect(),
            end_ns: begin + writing_ns(begin, sender, design),
        })
        .collect();
    let drained = drain::drain(readers, &written, reliable, drain_ns);
    let wire =
        Wire::of(senders.iter().flat_map(|sender| &sender.streams).map(|stream| &*stream.link), readers);
    let mode = senders.first().map_or(1.0, |sender| sender.streams[0].link.flow.mode());
    let mut reports = Reports { recorder, design, begin, drained };
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
    for endpoint in agents.len()..shape.endpoints.len() {
        let own = readers.iter_mut().filter(|reader| reader.endpoint == endpoint).collect();
        agents.push(reports.of_readers(endpoint, own, times_of, &mut read));
    }
    Traffic { agents, wire, mode }
}

fn writing_ns(begin: u64, sender: &Sender<'_>, design: &Design) -> u64 {
    WritingTime::new(begin, sender.end_ns).at_least(design.measure_ns).ns()
}

/// Maker of the reports of the agents.
struct Reports<'m> {
    recorder: &'m mut Recorder,
    design: &'m Design,
    /// Start of the schedule.
    begin: u64,
    drained: Drain,
}

impl Reports<'_> {
    fn of_sender(&mut self, sender: &mut Sender<'_>) -> AgentTraffic {
        let Self { recorder, design, begin, drained } = self;
        let windows = windows_of_flow(design.windows, sender.streams.len());
        let flows: Vec<FlowWriterReport> =
            sender.streams.iter_mut().map(|stream| stream.report(recorder, windows, design)).collect();
        let sent = flows.iter().map(|flow| flow.accepted).sum();
        let report = PacedWriterReport {
            begin_ns: *begin,
            end_ns: sender.end_ns,
            throttle: None,
            spin_ns: 0,
            flows,
            probes: None,
        };
        AgentTraffic {
            report: AgentReport { paced_writer: Some(report), ..AgentReport::default() },
            sent,
            drained: drained.is_acknowledged(sender.endpoint),
            cpu_ns: sender.busy_ns,
            elapsed_ns: writing_ns(*begin, sender, design),
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
        let Self { recorder, design, begin, drained } = self;
        let begin = *begin;
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
                let received = reader.receive(position, design, |taken_ns, sequence| {
                    let at = taken_ns - begin;
                    let (intended, sent) = times[sequence as usize];
                    series.service.record(at, at - sent);
                    if timed {
                        series.response.record(at, at - intended);
                    }
                });
                let mut distribution = |series| recorder.distribution(series, windows, design.measure_ns);
                flows.push(FlowReaderReport {
                    received,
                    service: distribution(&series.service),
                    response: distribution(&series.response),
                    unplaced: 0,
                    takes: None,
                });
            }
        }
        let last_ns = flows.iter().map(|flow| flow.received.last_ns).max().unwrap_or(begin);
        let samples = flows.iter().map(|flow| flow.received.delivered).sum();
        let report = PacedReaderReport { flows, probes: None, foreign: 0 };
        AgentTraffic {
            report: AgentReport { paced_reader: Some(report), ..AgentReport::default() },
            sent: 0,
            drained: arrived,
            cpu_ns,
            elapsed_ns: last_ns.saturating_sub(begin).max(design.measure_ns),
            samples,
        }
    }
}
