//! Simulation of a ring with several samples in flight.
//!
//! Each hop is a link with a finite queue. A node passes on one sample after the other; a full queue makes it wait, and
//! the samples that come meanwhile wait before it.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    mem,
};

use control::TimestampPair;
use sim_model::SampleOutcome;

use crate::{
    HOST_NS,
    link::Network,
    reports::Traffic,
    round_trips::{CLOCK_START_NS, Counts, Outcome, RoundTrips, timeout_after},
    series::Recorder,
    setup::RunSetup,
};

/// Event in a ring.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A sample comes to a node; to node 0 after its way around the ring. `copies`: it and its duplicates.
    Comes { node: usize, sequence: u64, copies: u64 },
    /// A node writes the next sample that waits before it.
    Writes { node: usize },
    /// A sample counts as lost, if it has not returned.
    TimesOut { sequence: u64 },
    /// A place for a sample in flight is free.
    Sends,
}

/// Sample that waits to be passed on, and its copies.
type Waiting = (u64, u64);

/// Node of a ring. Its writer is the link of the same number, and its reader the reader of the same number.
#[derive(Default)]
struct Node {
    /// Samples that wait; node 0 numbers them when it sends them.
    waiting: VecDeque<Waiting>,
    /// Time of the first attempt to write the first of them.
    first_ns: Option<u64>,
    /// Writes that found the queue full.
    held_writes: u64,
    /// Counts of its reader.
    counts: Counts,
}

/// One phase of traffic.
struct Phase<'a> {
    network: &'a mut Network,
    nodes: Vec<Node>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Number of events so far: those of one time keep their order.
    scheduled: u64,
    check_every: u64,
    begin_ns: u64,
    end_ns: u64,
    /// Maximum number of samples.
    most: u64,
    timeout_ns: u64,
    /// Whether each sample has returned in time, or is lost.
    settled: Vec<bool>,
    /// Time at which the last sample returned or was lost.
    closed_ns: u64,
    sent: u64,
    in_time: u64,
    /// Time of arrival and RTT of each sample that returned.
    rtt: Vec<(u64, u64)>,
}

impl Phase<'_> {
    fn at(&mut self, at_ns: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at_ns, self.scheduled, event)));
    }

    /// Keeps this number of samples in flight, until all have returned or are lost and none is on its way.
    fn run(&mut self, in_flight: u32) {
        for _ in 0..in_flight {
            self.at(self.begin_ns, Event::Sends);
        }
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            match event {
                Event::Sends if now < self.end_ns && self.is_short_of(self.most) => {
                    self.nodes[0].waiting.push_back((0, 1));
                    self.write_first(0, now);
                }
                Event::Sends => {}
                Event::Writes { node } => self.write(node, now),
                Event::Comes { node: 0, sequence, copies } => self.returned(now, sequence, copies),
                Event::Comes { node, sequence, copies } => {
                    self.nodes[node].waiting.push_back((sequence, copies));
                    self.write_first(node, now);
                }
                Event::TimesOut { sequence } => {
                    if !mem::replace(&mut self.settled[sequence as usize], true) {
                        self.closed_ns = now;
                        self.at(now + HOST_NS, Event::Sends);
                    }
                }
            }
        }
    }

    /// Returns whether fewer samples were sent or wait to be sent.
    fn is_short_of(&self, most: u64) -> bool {
        self.sent + (self.nodes[0].waiting.len() as u64) < most
    }

    /// Writes the sample that has come to a node, unless others wait before it.
    fn write_first(&mut self, node: usize, now: u64) {
        if self.nodes[node].waiting.len() == 1 {
            self.write(node, now);
        }
    }

    /// Writes the samples that wait before a node, until there is no room.
    fn write(&mut self, node: usize, now: u64) {
        while let Some(&(waiting, copies)) = self.nodes[node].waiting.front() {
            let first_ns = *self.nodes[node].first_ns.get_or_insert(now);
            let link = &mut self.network.links[node];
            let outcome = link.flow.offer(now, link.spec.stream.size_bytes);
            let next = link.readers.first().map_or(0, |(reader, _)| *reader);
            let of_node = &mut self.nodes[node];
            if let SampleOutcome::Full { until_ns } = outcome {
                of_node.held_writes += 1;
                return self.at(until_ns, Event::Writes { node });
            }
            of_node.waiting.pop_front();
            of_node.first_ns = None;
            let sequence = if node == 0 { self.sent } else { waiting };
            let stamps = &mut of_node.counts.stamps;
            if node == 0 {
                stamps.push(TimestampPair { first_ns, second_ns: 0 });
                self.sent += 1;
                self.settled.push(false);
                self.at(now + self.timeout_ns, Event::TimesOut { sequence });
            } else {
                if stamps.len() <= sequence as usize {
                    stamps.resize(sequence as usize + 1, TimestampPair::default());
                }
                stamps[sequence as usize] = TimestampPair { first_ns, second_ns: first_ns };
                of_node.counts.came += copies;
                of_node.counts.duplicate += copies - 1;
            }
            if let SampleOutcome::Comes { due_ns, twice, .. } = outcome {
                let copies = copies * (1 + u64::from(twice));
                self.at(due_ns, Event::Comes { node: next, sequence, copies });
            }
        }
    }

    fn returned(&mut self, now: u64, sequence: u64, copies: u64) {
        let counts = &mut self.nodes[0].counts;
        counts.duplicate += copies - 1;
        if mem::replace(&mut self.settled[sequence as usize], true) {
            return counts.late_ns.push(now);
        }
        counts.came += 1;
        counts.checked_in_full += u64::from(sequence.is_multiple_of(self.check_every));
        let stamp = &mut counts.stamps[sequence as usize];
        stamp.second_ns = now;
        self.rtt.push((now - self.begin_ns, now - stamp.first_ns));
        self.closed_ns = now;
        self.in_time += u64::from(now <= self.end_ns);
        self.at(now + HOST_NS, Event::Sends);
    }
}

/// Simulates `in_flight` samples that go around the ring of a run.
pub(crate) fn measure(
    trips: &mut RoundTrips,
    recorder: &mut Recorder,
    network: &mut Network,
    run: &RunSetup<'_>,
    in_flight: u32,
) -> Traffic {
    let design = run.design;
    let mut phase = |begin_ns, (duration_ns, most), timeout_ns| {
        let mut phase = Phase {
            nodes: network.links.iter().map(|_| Node::default()).collect(),
            network: &mut *network,
            events: BinaryHeap::new(),
            scheduled: 0,
            check_every: u64::from(design.check_every.max(1)),
            begin_ns,
            end_ns: begin_ns + duration_ns,
            most,
            timeout_ns,
            settled: Vec::new(),
            closed_ns: begin_ns + duration_ns,
            sent: 0,
            in_time: 0,
            rtt: Vec::new(),
        };
        phase.run(in_flight);
        let Phase { nodes, sent, in_time, closed_ns, rtt, .. } = phase;
        (nodes, sent, in_time, closed_ns, rtt)
    };
    let warm_up = (design.warm_up_ns, design.warm_up_samples.unwrap_or(u64::MAX));
    let (_, _, _, warm_ns, warm_up) = phase(CLOCK_START_NS, warm_up, run.ping_ns);
    let timeout_ns =
        timeout_after(run.ping_ns, &mut warm_up.into_iter().map(|(_, rtt)| rtt).collect::<Vec<_>>());
    let (begin_ns, most) = (warm_ns + HOST_NS, design.samples.unwrap_or(u64::MAX));
    let (nodes, sent, in_time, closed_ns, rtt) = phase(begin_ns, (design.measure_ns, most), timeout_ns);
    let until_closed_ns = if sent >= most { closed_ns - begin_ns } else { u64::MAX };
    trips.clear(1);
    rtt.into_iter().for_each(|(at_ns, ns)| trips.record(0, at_ns, ns));
    let (held_writes, counts) = nodes.into_iter().map(|node| (node.held_writes, node.counts)).unzip();
    let outcome = Outcome {
        roles: run.topology.endpoints.iter().map(|endpoint| endpoint.role).collect(),
        returning: vec![0],
        counts,
        held_writes,
        sent,
        in_time,
        timeout_ns,
        elapsed_ns: design.measure_ns.min(until_closed_ns),
        closed_ns,
    };
    outcome.traffic(trips, recorder, network, run)
}
