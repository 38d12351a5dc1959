//! Simulation of an open loop: one thread writes the samples of all flows at planned times, late if necessary.

use std::{collections::BTreeMap, sync::Arc};

use experiment::{Design, Flow, Schedule};
use results::{
    Batches, Counted, FlowRecord, Latency, Lateness, Paced, Packing, Received, Sender, Throughput,
    WritingTime,
};

use crate::{
    Series,
    lab::Measured,
    usage::Used,
    way::{Way, counted, rate},
};

/// Time in ns from the end of the warm-up to the start of the schedule.
const LEAD_NS: u64 = 100_000_000;

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

/// Counts of the schedule of a flow.
#[derive(Clone, Copy, Debug)]
struct OpenFlow {
    planned: u64,
    offered: u64,
    delivered_in_time: u64,
}

/// Counts of the schedules of all flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open(Vec<OpenFlow>);

impl Open {
    /// Returns the number of samples whose intended send time is in the measurement.
    pub fn planned(&self) -> u64 {
        self.0.iter().map(|flow| flow.planned).sum()
    }

    fn offered(&self) -> u64 {
        self.0.iter().map(|flow| flow.offered).sum()
    }

    /// Returns the number of planned samples that were not offered.
    pub fn unsent(&self) -> u64 {
        self.planned() - self.offered()
    }

    /// Returns the record for a result.
    pub fn record(
        self,
        flows: Vec<Flow>,
        latencies: Vec<BTreeMap<String, Latency>>,
        counted: &[Counted],
        used: &Used,
        design: &Design,
    ) -> Paced {
        let planned = self.planned();
        let timed = flows.iter().all(|flow| flow.load.has_times());
        // The writer uses CPU time only for writing.
        let busy = used.writer_ns as f64 / used.writer_elapsed_ns as f64;
        let sender = Sender { in_writes: 1.0, busy, used: busy, waited: 0.0 };
        let late = |(flow, latency): (&Flow, &BTreeMap<_, _>)| {
            Lateness::of(&flow.load, latency, used.writer_elapsed_ns, sender)
        };
        let late: Vec<Lateness> = flows.iter().zip(&latencies).filter_map(late).collect();
        let unsent = self.unsent();
        let each = flows.into_iter().zip(latencies).zip(self.0).zip(counted);
        let flows = each.map(|(((flow, latency), open), counted)| FlowRecord {
            load: flow.load.to_string(),
            name: flow.name,
            size_bytes: flow.size_bytes,
            planned: open.planned,
            offered: open.offered,
            counted: counted.clone(),
            delivered_in_time: open.delivered_in_time,
            lag_in_writes_pct: latency
                .get("send_lag")
                .and_then(|lag: &Latency| (lag.max_ns > 0).then_some(100.0)),
            latency,
            unplaced: 0,
        });
        Paced {
            planned,
            planned_sps: timed.then(|| rate(planned, design.measure_ns)),
            unsent,
            sender_limited: !late.iter().all(Lateness::is_back_pressure),
            back_pressure: late.iter().any(Lateness::is_back_pressure),
            throttle: None,
            spin_ns: 0,
            flows: flows.collect(),
        }
    }
}

/// Flow with its link.
pub(crate) struct Stream<'r> {
    flow: &'r Flow,
    number: usize,
    /// Times of its trace file, if its load follows one.
    trace: Arc<[u64]>,
    way: Way<'r>,
    recorded: &'r mut Recorded,
    packing: Packing,
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
        way: Way<'r>,
        packing: Packing,
        samples: u64,
        recorded: &'r mut Recorded,
    ) -> Self {
        let cost_ns = way.write_ns(samples);
        Self {
            flow,
            number,
            trace,
            way,
            recorded,
            packing,
            samples,
            cost_ns,
            schedule: None,
            next_ns: None,
            offered: 0,
        }
    }

    pub fn into_way(self) -> Way<'r> {
        self.way
    }

    /// Starts the schedule.
    fn begin(&mut self, seed: u64) {
        self.way.begin();
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
            sent = self.way.send(tried, end, self.packing.held())?;
            self.packing.flushed();
        }
        let free = sent + self.cost_ns;
        self.recorded.write_call.record(at, free - tried);
        Some(free)
    }

    /// Sends the samples of an incomplete batch without a time limit. Returns when they are sent.
    fn flush(&mut self, now: u64) -> u64 {
        let held = self.packing.held();
        if held == 0 || held == self.samples {
            return now;
        }
        let sent = self.way.send(now, u64::MAX, held).unwrap_or(now);
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

    /// Returns the reader's record of what arrives.
    fn receive(&mut self, begin: u64, design: &Design) -> Received {
        let Recorded { service, response, times, .. } = &mut *self.recorded;
        let timed = self.schedule.is_some();
        self.way.receive(self.number as u16 + 1, design, |taken_ns, sequence| {
            let at = taken_ns - begin;
            let (intended, sent) = times[sequence as usize];
            service.record(at, at - sent);
            if timed {
                response.record(at, at - intended);
            }
        })
    }
}

/// Activity of the writing thread in a phase.
struct Written {
    busy_ns: u64,
    /// Time at which the last write returned.
    end: u64,
}

/// Writes the samples of all streams in the order of their intended send times.
fn write(streams: &mut [Stream<'_>], begin: u64, duration_ns: u64, seed: u64) -> Written {
    for stream in &mut *streams {
        stream.begin(seed);
    }
    let end = begin + duration_ns;
    let mut written = Written { busy_ns: 0, end: begin };
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
        written.busy_ns += stream.cost_ns;
        written.end = now;
    }
    for stream in streams {
        let flushed = stream.flush(now);
        if flushed > now {
            (now, written.end) = (flushed, flushed);
        }
    }
    written
}

/// Measures all streams together.
pub(crate) fn measure(streams: &mut [Stream<'_>], design: &Design, seed: u64) -> Measured {
    let warm_up = write(streams, 0, design.warm_up_ns, seed);
    let begin = warm_up.end.max(design.warm_up_ns) + LEAD_NS;
    let written = write(streams, begin, design.measure_ns, seed);
    let mut received: Vec<Received> =
        streams.iter_mut().map(|stream| stream.receive(begin, design)).collect();
    let each = streams.iter().zip(&received);
    let counted: Vec<Counted> =
        each.map(|(stream, received)| counted(stream.way.sent().accepted, received)).collect();
    let batches: Vec<Batches> = streams.iter().filter_map(|stream| stream.packing.batches()).collect();
    let writing = WritingTime::new(begin, written.end).at_least(design.measure_ns);
    let open = streams.iter_mut().zip(&received).map(|(stream, received)| OpenFlow {
        planned: stream.planned(design),
        offered: stream.offered,
        delivered_in_time: writing.delivered(received),
    });
    let open = Open(open.collect());
    let all: Vec<&Received> = received.iter().collect();
    let throughput = Throughput {
        batches: Batches::sum(batches.iter()),
        ..writing.throughput(open.offered(), &Counted::sum(&counted), &all)
    };
    let last_ns = received.iter().map(|received| received.last_ns).max().unwrap_or(begin);
    let mut used = Used {
        writer_ns: written.busy_ns,
        writer_elapsed_ns: writing.ns(),
        reader_elapsed_ns: last_ns.saturating_sub(begin).max(design.measure_ns),
        ..Used::default()
    };
    for Stream { way, .. } in streams {
        let sent = way.sent();
        used.reader_ns += way.reading_ns();
        used.wire_bytes += sent.wire_bytes;
        used.wire_packets += sent.wire_packets;
        used.dropped += sent.dropped;
        used.mode = way.mode();
    }
    // The delivered rate is recorded per window only for a single flow: each flow has windows of its own.
    let received =
        if received.len() == 1 { received.pop().map(|received| (received, writing)) } else { None };
    Measured { counted, throughput: Some(throughput), received, open: Some(open), used }
}
