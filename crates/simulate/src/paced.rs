//! Simulation of an open loop: one thread writes the samples of all flows at planned times, late if necessary.

use std::sync::Arc;

use control::{
    AgentReport, FlowReaderReport, FlowWriterReport, PacedReaderReport, PacedWriterReport, lead_ns,
    windows_of_flow,
};
use experiment::{Design, Flow, Schedule};
use results::{BatchPolicy, COARSE_WINDOWS, WritingTime};

use crate::{
    Series,
    drain::Drained,
    link::Link,
    reports::{Traffic, TrafficUsage},
    series::Recorder,
};

/// Recorded values of a flow. The memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub service: Series,
    pub response: Series,
    pub send_lag: Series,
    pub write_call: Series,
    /// Intended send time (0 without one) and start of the write of each sample, by number.
    times: Vec<(u64, u64)>,
}

impl Recorded {
    /// Returns the values by kind.
    pub fn kinds(&self) -> [(&'static str, &Series); 4] {
        [
            ("service", &self.service),
            ("response", &self.response),
            ("send_lag", &self.send_lag),
            ("write_call", &self.write_call),
        ]
    }

    fn clear(&mut self) {
        for series in [&mut self.service, &mut self.response, &mut self.send_lag, &mut self.write_call] {
            series.clear();
        }
        self.times.clear();
    }
}

/// Flow with its link.
pub(crate) struct Stream<'r> {
    flow: &'r Flow,
    number: usize,
    /// Times of its trace file, if its load follows one.
    trace: Arc<[u64]>,
    link: Link<'r>,
    recorded: &'r mut Recorded,
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

impl<'r> Stream<'r> {
    pub fn new(
        (number, flow): (usize, &'r Flow),
        trace: Arc<[u64]>,
        link: Link<'r>,
        packing: BatchPolicy,
        samples: u64,
        recorded: &'r mut Recorded,
    ) -> Self {
        let cost_ns = link.write_ns(samples);
        Self {
            flow,
            number,
            trace,
            link,
            recorded,
            packing,
            samples,
            cost_ns,
            schedule: None,
            next_ns: None,
            offered: 0,
        }
    }

    pub fn into_link(self) -> Link<'r> {
        self.link
    }

    /// Starts the schedule.
    fn begin(&mut self, seed: u64) {
        self.link.begin();
        self.recorded.clear();
        self.schedule = Schedule::new(&self.flow.load, seed, self.number, self.trace.clone());
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
    fn write(&mut self, begin: u64, tried: u64, end: u64) -> Option<u64> {
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
            sent = self.link.send(tried, end, self.packing.capacity_bytes())?;
            self.packing.flushed();
        }
        let free = sent + self.cost_ns;
        self.recorded.write_call.record(at, free - tried);
        Some(free)
    }

    /// Sends the samples of an incomplete batch without a time limit. Returns when they are sent.
    fn flush(&mut self, now: u64) -> u64 {
        let held = self.packing.capacity_bytes();
        if held == 0 || held == self.samples {
            return now;
        }
        let sent = self.link.send(now, u64::MAX, held).unwrap_or(now);
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

    /// Returns the writer's report.
    fn writer_report(&mut self, recorder: &mut Recorder, windows: u32, design: &Design) -> FlowWriterReport {
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

    /// Returns the report of the reader, which is closed at `closed_ns`.
    fn read(
        &mut self,
        recorder: &mut Recorder,
        windows: u32,
        (begin, closed_ns): (u64, u64),
        design: &Design,
    ) -> FlowReaderReport {
        let Recorded { service, response, times, .. } = &mut *self.recorded;
        let timed = self.flow.load.has_times();
        let received = self.link.receive(self.number as u16 + 1, design, closed_ns, |taken_ns, sequence| {
            let at = taken_ns - begin;
            let (intended, sent) = times[sequence as usize];
            service.record(at, at - sent);
            if timed {
                response.record(at, at - intended);
            }
        });
        let mut distribution = |series| recorder.distribution(series, windows, design.measure_ns);
        FlowReaderReport {
            received,
            service: distribution(service),
            response: distribution(response),
            unplaced: 0,
            takes: None,
        }
    }
}

/// Activity of the writing thread in a phase.
struct Phase {
    busy_ns: u64,
    /// Time at which the last write returned.
    end: u64,
}

/// Writes the samples of all streams in the order of their intended send times.
fn write(streams: &mut [Stream<'_>], begin: u64, duration_ns: u64, seed: u64) -> Phase {
    for stream in &mut *streams {
        stream.begin(seed);
    }
    let end = begin + duration_ns;
    let mut writer_report = Phase { busy_ns: 0, end: begin };
    let mut now = begin;
    while now < end {
        // Of samples due at the same time, the first flow goes first.
        let due = streams
            .iter()
            .enumerate()
            .filter_map(|(index, stream)| Some((stream.due_ns(now - begin)?, index)));
        let Some((due_ns, index)) = due.min().filter(|(due_ns, _)| *due_ns < duration_ns) else { break };
        let stream = &mut streams[index];
        let tried = now.max(begin + due_ns);
        match stream.write(begin, tried, end) {
            Some(free) => now = free,
            // The end comes before there is room.
            None => now = end,
        }
        writer_report.busy_ns += stream.cost_ns;
        writer_report.end = now;
    }
    for stream in streams {
        let flushed = stream.flush(now);
        if flushed > now {
            (now, writer_report.end) = (flushed, flushed);
        }
    }
    writer_report
}

/// Measures all streams together.
pub(crate) fn measure(
    streams: &mut [Stream<'_>],
    recorder: &mut Recorder,
    reliable: bool,
    design: &Design,
    drain_ns: u64,
) -> Traffic {
    let warm_up = write(streams, 0, design.warm_up_ns, design.seed);
    // The agents answer the request for the warm-up at once.
    let begin = warm_up.end.max(design.warm_up_ns) + lead_ns(0);
    let writer_report = write(streams, begin, design.measure_ns, design.seed);
    for stream in &mut *streams {
        stream.link.read();
    }
    let sent = streams.iter().map(|stream| stream.link.sent().accepted).sum();
    let writing = WritingTime::new(begin, writer_report.end).at_least(design.measure_ns);
    let arrivals = streams.iter().flat_map(|stream| stream.link.arrivals());
    let drained = Drained::new(arrivals, (sent, reliable), begin + writing.ns(), drain_ns);
    let windows = windows_of_flow(design.windows, streams.len());
    let read: Vec<FlowReaderReport> = streams
        .iter_mut()
        .map(|stream| stream.read(recorder, windows, (begin, drained.closed_ns), design))
        .collect();
    let last_ns = read.iter().map(|flow| flow.received.last_ns).max().unwrap_or(begin);
    let mut usage = TrafficUsage {
        writer_ns: writer_report.busy_ns,
        writer_elapsed_ns: writing.ns(),
        reader_elapsed_ns: last_ns.saturating_sub(begin).max(design.measure_ns),
        received: read.iter().map(|flow| flow.received.delivered).sum(),
        ..TrafficUsage::default()
    };
    for Stream { link, .. } in &*streams {
        let sent = link.sent();
        usage.reader_ns += link.reading_ns();
        usage.wire_bytes += sent.wire_bytes;
        usage.wire_packets += sent.wire_packets;
        usage.dropped += sent.dropped;
        usage.mode = link.mode();
    }
    let flows = streams.iter_mut().map(|stream| stream.writer_report(recorder, windows, design)).collect();
    let report = PacedWriterReport {
        begin_ns: begin,
        end_ns: writer_report.end,
        throttle: None,
        spin_ns: 0,
        flows,
        probes: None,
    };
    Traffic {
        sent,
        drained,
        driving: AgentReport { paced_writer: Some(report), ..AgentReport::default() },
        serving: vec![AgentReport {
            paced_reader: Some(PacedReaderReport { flows: read, probes: None, foreign: 0 }),
            ..AgentReport::default()
        }],
        usage,
    }
}
