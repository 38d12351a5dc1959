//! An open loop: samples of one or more flows are written at planned times by one thread, late if it must be, and never moved.

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

/// From the end of the warm-up until the plan of the measured time begins: both ends are told.
const LEAD_NS: u64 = 100_000_000;

/// What was recorded of a flow. Memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub service: Series,
    pub response: Series,
    pub send_lag: Series,
    pub write_call: Series,
    /// Of each sample, by its number: intended time, where it has one, and begin of its write.
    times: Vec<(u64, u64)>,
}

impl Recorded {
    /// By the names of their kinds.
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

/// What became of the plan of a flow.
#[derive(Clone, Copy, Debug)]
struct OpenFlow {
    planned: u64,
    offered: u64,
    delivered_in_time: u64,
}

/// What became of the plan of each flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open(Vec<OpenFlow>);

impl Open {
    /// Samples whose intended time lay within the measured time.
    pub fn planned(&self) -> u64 {
        self.0.iter().map(|flow| flow.planned).sum()
    }

    fn offered(&self) -> u64 {
        self.0.iter().map(|flow| flow.offered).sum()
    }

    /// Samples of the plan that were not tried.
    pub fn unsent(&self) -> u64 {
        self.planned() - self.offered()
    }

    /// As a result has it.
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
        // nothing else than writing takes a writer's time here
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

/// A flow with its way.
pub(crate) struct Stream<'r> {
    flow: &'r Flow,
    number: usize,
    /// The times of its file, where its load follows one.
    trace: Arc<[u64]>,
    way: Way<'r>,
    recorded: &'r mut Recorded,
    packing: Packing,
    /// Samples of a full packet, and what writing one costs.
    samples: u64,
    cost_ns: u64,
    /// None: without intended times.
    schedule: Option<Schedule>,
    /// Intended time of the next sample, from the begin of the plan.
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

    /// The plan, from its begin on.
    fn begin(&mut self, seed: u64) {
        self.way.begin();
        self.recorded.clear();
        self.schedule = Schedule::new(&self.flow.load, seed, self.number, self.trace.clone());
        self.next_ns = self.schedule.as_mut().and_then(Iterator::next);
        self.packing.begin();
        self.offered = 0;
    }

    /// When the next sample is to leave, at this time of the plan. None: there is none.
    fn due_ns(&self, now: u64) -> Option<u64> {
        if self.schedule.is_some() { self.next_ns } else { Some(now) }
    }

    /// Tries to write the next sample, at this time. When the writer is free again; none if the end comes before.
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
        // by the agents' rule: a turbo batch waits only for what is due when this write is done
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

    /// What is held back goes, however long that takes.
    fn flush(&mut self, now: u64) -> u64 {
        let held = self.packing.held();
        if held == 0 || held == self.samples {
            return now;
        }
        let sent = self.way.send(now, u64::MAX, held).unwrap_or(now);
        self.packing.flushed();
        sent
    }

    /// Samples whose intended time lies within the measured time. Without intended times: those offered.
    fn planned(&mut self, design: &Design) -> u64 {
        let Some(schedule) = self.schedule.take() else { return self.offered };
        let next = u64::from(self.next_ns.is_some_and(|next| next < design.measure_ns));
        self.offered + next + schedule.planned(design.measure_ns)
    }

    /// What its reader makes of what comes.
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

/// What the writing thread did in a phase.
struct Written {
    busy_ns: u64,
    /// When the last write had returned.
    end: u64,
}

/// Follows the plans of all streams, in the order of intended times.
fn write(streams: &mut [Stream<'_>], begin: u64, duration_ns: u64, seed: u64) -> Written {
    for stream in &mut *streams {
        stream.begin(seed);
    }
    let end = begin + duration_ns;
    let mut written = Written { busy_ns: 0, end: begin };
    let mut now = begin;
    while now < end {
        // of those due at once, the first flow
        let due = streams
            .iter()
            .enumerate()
            .filter_map(|(index, stream)| Some((stream.due_ns(now - begin)?, index)));
        let Some((due_ns, index)) = due.min().filter(|(due_ns, _)| *due_ns < duration_ns) else { break };
        let stream = &mut streams[index];
        let tried = now.max(begin + due_ns);
        match stream.write(begin, tried, end) {
            Some(free) => now = free,
            // the end comes before there is room
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
    // of several flows no count of samples is one: each has windows of its own
    let received =
        if received.len() == 1 { received.pop().map(|received| (received, writing)) } else { None };
    Measured { counted, throughput: Some(throughput), received, open: Some(open), used }
}
