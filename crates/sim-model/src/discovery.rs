//! Discovery: when participants and their entities find each other.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use crate::{
    config::Config,
    flow::{Flow, SampleOutcome},
};

/// Payload of an announcement in bytes.
const ANNOUNCEMENT_BYTES: u64 = 256;

/// Entities that each participant announces, and the source of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcements {
    /// Number of its writers, and of its readers. The writers and readers with the same index of all participants match.
    pub endpoints: usize,
    /// Seed of the run.
    pub run: u64,
}

/// Entities that have found each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// Time of the last match of each writer, by participant, in ns.
    pub writers: Vec<Vec<u64>>,
    /// Time of the last match of each reader, by participant, in ns.
    pub readers: Vec<Vec<u64>>,
    /// Packets that all participants sent, and bytes of their payloads; retransmissions included.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
}

impl Discovered {
    /// Returns the time of the last match of all, in ns.
    #[must_use]
    pub fn all_matched_ns(&self) -> u64 {
        self.writers.iter().chain(&self.readers).flatten().copied().max().unwrap_or(0)
    }
}

/// Content of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Announcement {
    /// The participant itself.
    Participant,
    /// Its writer, or its reader, with this index.
    Writer(usize),
    Reader(usize),
}

/// Event: arrival of an announcement at a participant, or, from itself, the time at which it opens.
type Event = Reverse<(u64, u64, usize, usize, Announcement)>;

/// State of a discovery.
struct Exchange {
    announced: Announcements,
    /// Flow of each participant to all others, itself included, which it never uses.
    flows: Vec<Flow>,
    /// Time of the last offer of each flow.
    offered_ns: Vec<u64>,
    events: BinaryHeap<Event>,
    /// Number of events so far: those of one time happen in the order of their causes.
    number: u64,
    discovered: Discovered,
}

/// Returns when participants that open at these times find each other.
///
/// A participant that opens announces itself to all others that are open. One that receives the announcement of a new participant announces
/// itself to it, unless it has done so, and then its writers and readers. All announcements are reliable, and each is a
/// packet of the participant's own server. An entity is matched when the announcement of the last peer arrives. The
/// entities of one participant match when it opens.
#[must_use]
pub fn discover(config: &Arc<Config>, announced: Announcements, opens_ns: &[u64]) -> Discovered {
    let number = opens_ns.len();
    let flow = |stream: usize| {
        Flow::new(config.clone(), true, 0.0, announced.run, stream as u64)
            .to_readers(vec![1.0; number], false)
    };
    let opened = || opens_ns.iter().map(|at_ns| vec![*at_ns; announced.endpoints]).collect();
    let mut exchange = Exchange {
        announced,
        flows: (0..number).map(flow).collect(),
        offered_ns: vec![0; number],
        events: BinaryHeap::new(),
        number: 0,
        discovered: Discovered { writers: opened(), readers: opened(), packets: 0, bytes: 0 },
    };
    for (participant, at_ns) in opens_ns.iter().enumerate() {
        exchange.add(*at_ns, participant, participant, Announcement::Participant);
    }
    while let Some(Reverse((at_ns, _, from, to, announcement))) = exchange.events.pop() {
        if from == to {
            let open = (0..number).filter(|peer| *peer != from && opens_ns[*peer] <= at_ns);
            open.for_each(|peer| exchange.announce(at_ns, from, peer, Announcement::Participant));
        } else {
            // The later of two participants has announced itself when it opened.
            let answers = opens_ns[to] < opens_ns[from];
            exchange.receive(at_ns, (from, to), announcement, answers);
        }
    }
    exchange.discovered
}

impl Exchange {
    fn add(&mut self, at_ns: u64, from: usize, to: usize, announcement: Announcement) {
        self.number += 1;
        self.events.push(Reverse((at_ns, self.number, from, to, announcement)));
    }

    fn announce(&mut self, at_ns: u64, from: usize, to: usize, announcement: Announcement) {
        // A full queue delays the announcement, and all that follow it.
        let mut offered_ns = at_ns.max(self.offered_ns[from]);
        let flow = &mut self.flows[from];
        let (due_ns, retransmissions) = loop {
            match flow.offer_to(to..to + 1, offered_ns, ANNOUNCEMENT_BYTES) {
                SampleOutcome::Full { until_ns } => offered_ns = until_ns,
                SampleOutcome::Comes { due_ns, retransmissions, .. } => break (due_ns, retransmissions),
                SampleOutcome::Lost | SampleOutcome::Dropped => unreachable!("announcements are reliable"),
            }
        };
        self.offered_ns[from] = offered_ns;
        self.discovered.packets += 1 + u64::from(retransmissions);
        self.discovered.bytes += ANNOUNCEMENT_BYTES * (1 + u64::from(retransmissions));
        self.add(due_ns, from, to, announcement);
    }

    /// An announcement from one participant arrives at another. `answers`: the other has not announced itself yet.
    fn receive(&mut self, at_ns: u64, (from, to): (usize, usize), announcement: Announcement, answers: bool) {
        let matched = match announcement {
            Announcement::Participant => {
                if answers {
                    self.announce(at_ns, to, from, Announcement::Participant);
                }
                for index in 0..self.announced.endpoints {
                    self.announce(at_ns, to, from, Announcement::Writer(index));
                    self.announce(at_ns, to, from, Announcement::Reader(index));
                }
                return;
            }
            // A reader matches writers, and a writer readers.
            Announcement::Writer(index) => &mut self.discovered.readers[to][index],
            Announcement::Reader(index) => &mut self.discovered.writers[to][index],
        };
        *matched = (*matched).max(at_ns);
    }
}

/// True results of discovery with a constant latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscoveryTruth {
    latency_ns: f64,
    /// Time of the server for one announcement, in ns.
    transit_ns: f64,
    participants: f64,
    /// Announcements of the entities of a participant.
    entities: f64,
}

impl DiscoveryTruth {
    /// Returns the truth of participants with `endpoints` writers and as many readers each, in a run with the factor
    /// `mode`; `None` unless each announcement has the same latency and the same time of the server.
    #[must_use]
    pub fn new(config: &Config, mode: f64, participants: usize, endpoints: usize) -> Option<Self> {
        let (latency_ns, variance) = config.latency.mean_and_variance();
        let is_constant =
            variance == 0.0 && config.jitter == 0.0 && config.loss == 0.0 && config.reorder == 0.0;
        (is_constant && config.is_stationary()).then(|| Self {
            latency_ns: (latency_ns * mode).round(),
            transit_ns: (config.transit_ns(ANNOUNCEMENT_BYTES) as f64 * mode).round(),
            participants: participants as f64,
            entities: 2.0 * endpoints as f64,
        })
    }

    /// Returns the time from the common start until all are matched, in ns. The participant that is the last one in the
    /// order of all others receives their announcements at once, and then announces its entities to each.
    #[must_use]
    pub fn together_ns(&self) -> f64 {
        2.0 * self.latency_ns + (self.participants - 1.0) * self.slope_ns()
    }

    /// Returns what one more participant adds to this time, in ns.
    #[must_use]
    pub fn slope_ns(&self) -> f64 {
        (1.0 + self.entities) * self.transit_ns
    }

    /// Returns the time from the start of the last participant until all are matched, in ns, if all others are matched
    /// when it starts: it announces itself, the others answer, and it announces its entities to each of them.
    #[must_use]
    pub fn late_ns(&self) -> f64 {
        let others = self.participants - 1.0;
        let first_answer_ns = 2.0 * (self.latency_ns + self.transit_ns);
        first_answer_ns.max(others * self.transit_ns)
            + others * self.entities * self.transit_ns
            + self.latency_ns
    }

    /// Returns the number of packets until all are matched.
    #[must_use]
    pub fn packets(&self) -> f64 {
        self.participants * (self.participants - 1.0) * (1.0 + self.entities)
    }
}
