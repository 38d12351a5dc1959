//! Simulation of a ring with several samples in flight.
//!
//! Each hop is a flow with a finite queue. A node passes on one sample after the other; a full queue makes it wait, and
//! the samples that come meanwhile wait before it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, VecDeque},
};

use control::{TimestampPair, ping_timeout_ns};
use experiment::{Design, Factors};
use sim_model::{Config, Flow, SampleOutcome};

use crate::{
    HOST_NS, HostModel, Series,
    latency::{CLOCK_START_NS, Counts, EchoCounts, HOPS, PhaseEnd},
    reports::Traffic,
    series::Recorder,
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

/// Node of a ring.
#[derive(Default)]
struct Node {
    /// Samples that wait; node 0 numbers them when it sends them.
    waiting: VecDeque<Waiting>,
    /// Time of the first attempt to write the first of them.
    first_ns: Option<u64>,
}

/// One phase of traffic.
struct Phase<'a> {
    flows: &'a mut [Flow],
    nodes: Vec<Node>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Number of events so far: those of one time keep their order.
    scheduled: u64,
    bytes: u64,
    check_every: u64,
    begin_ns: u64,
    end_ns: u64,
    timeout_ns: u64,
    /// Whether each sample has returned in time, or is lost.
    settled: Vec<bool>,
    /// Time at which the last sample returned or was lost.
    closed_ns: u64,
    counts: Counts,
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
                Event::Sends if now < self.end_ns => {
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
                    if !std::mem::replace(&mut self.settled[sequence as usize], true) {
                        self.closed_ns = now;
                        self.at(now + HOST_NS, Event::Sends);
                    }
                }
            }
        }
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
            let outcome = self.flows[node].offer(now, self.bytes);
            if let SampleOutcome::Full { until_ns } = outcome {
                match node.checked_sub(1) {
                    None => self.counts.held_writes += 1,
                    Some(echo) => self.counts.echoes[echo].held_writes += 1,
                }
                return self.at(until_ns, Event::Writes { node });
            }
            self.nodes[node].waiting.pop_front();
            self.nodes[node].first_ns = None;
            let sequence = if node == 0 { self.counts.sent } else { waiting };
            if let Some(echo) = node.checked_sub(1).map(|echo| &mut self.counts.echoes[echo]) {
                let stamp = TimestampPair { first_ns, second_ns: first_ns };
                if echo.stamps.len() <= sequence as usize {
                    echo.stamps.resize(sequence as usize + 1, TimestampPair::default());
                }
                echo.stamps[sequence as usize] = stamp;
                echo.echoed += copies;
                echo.duplicate += copies - 1;
            } else {
                self.counts.sent += 1;
                self.counts.stamps.push(TimestampPair { first_ns, second_ns: 0 });
                self.settled.push(false);
                self.at(now + self.timeout_ns, Event::TimesOut { sequence });
            }
            if let SampleOutcome::Comes { due_ns, twice, .. } = outcome {
                let (node, copies) = ((node + 1) % self.nodes.len(), copies * (1 + u64::from(twice)));
                self.at(due_ns, Event::Comes { node, sequence, copies });
            }
        }
    }

    fn returned(&mut self, now: u64, sequence: u64, copies: u64) {
        self.counts.duplicate += copies - 1;
        if std::mem::replace(&mut self.settled[sequence as usize], true) {
            return self.counts.late_ns.push(now);
        }
        self.closed_ns = now;
        self.counts.returned += 1;
        self.counts.in_time += u64::from(now <= self.end_ns);
        self.counts.checked_in_full += u64::from(sequence.is_multiple_of(self.check_every));
        let stamp = &mut self.counts.stamps[sequence as usize];
        stamp.second_ns = now;
        self.rtt.push((now - self.begin_ns, now - stamp.first_ns));
        self.at(now + HOST_NS, Event::Sends);
    }

    /// Returns the one-way times of the samples that returned, for each hop.
    fn hops(&self) -> Vec<Vec<(u64, u64)>> {
        let of_echo = |echo: usize, sequence: usize| self.counts.echoes[echo].stamps[sequence];
        let last = self.counts.echoes.len();
        let returned = || self.counts.stamps.iter().enumerate().filter(|(_, stamp)| stamp.second_ns > 0);
        let hop = |hop: usize| {
            let times = returned().map(|(sequence, stamp)| {
                let sent_ns = if hop == 0 { stamp.first_ns } else { of_echo(hop - 1, sequence).second_ns };
                let came_ns = if hop == last { stamp.second_ns } else { of_echo(hop, sequence).first_ns };
                (stamp.second_ns - self.begin_ns, came_ns - sent_ns)
            });
            times.collect()
        };
        (0..=last).map(hop).collect()
    }
}

/// Simulates `in_flight` samples that go around a ring of these flows.
#[allow(clippy::too_many_arguments, reason = "the inputs of a run")]
pub(super) fn measure(
    series: &mut BTreeMap<&'static str, Series>,
    recorder: &mut Recorder,
    mut flows: Vec<Flow>,
    in_flight: u32,
    config: &Config,
    host: &HostModel,
    factors: &Factors,
    design: &Design,
) -> Traffic {
    let (nodes, mode) = (flows.len(), flows[0].mode());
    let mut phase = |begin_ns, duration_ns, timeout_ns| {
        let mut phase = Phase {
            flows: &mut flows,
            nodes: (0..nodes).map(|_| Node::default()).collect(),
            events: BinaryHeap::new(),
            scheduled: 0,
            bytes: factors.size_bytes,
            check_every: u64::from(design.check_every.max(1)),
            begin_ns,
            end_ns: begin_ns + duration_ns,
            timeout_ns,
            settled: Vec::new(),
            closed_ns: begin_ns + duration_ns,
            counts: Counts { echoes: vec![EchoCounts::default(); nodes - 1], ..Counts::default() },
            rtt: Vec::new(),
        };
        phase.run(in_flight);
        let hops = phase.hops();
        (phase.closed_ns, phase.counts, phase.rtt, hops)
    };
    let (warm_ns, _, mut warm_up, _) = phase(CLOCK_START_NS, design.warm_up_ns, ping_timeout_ns(0));
    let median_ns = if warm_up.is_empty() {
        0
    } else {
        let middle = warm_up.len() / 2;
        warm_up.select_nth_unstable_by_key(middle, |(_, rtt)| *rtt).1.1
    };
    let timeout_ns = ping_timeout_ns(median_ns);
    let (closed_ns, counts, rtt, hops) = phase(warm_ns + HOST_NS, design.measure_ns, timeout_ns);
    for (kind, times) in std::iter::once("rtt").chain(HOPS).zip(std::iter::once(rtt).chain(hops)) {
        let recorded = series.entry(kind).or_default();
        times.into_iter().for_each(|(at_ns, ns)| recorded.record(at_ns, ns));
    }
    let end = PhaseEnd { ping_timeout_ns: timeout_ns, elapsed_ns: design.measure_ns, closed_ns };
    counts.traffic(&end, &series["rtt"], recorder, mode, config, host, factors, design)
}
