//! Outcome and arrival time of each sample of one writer.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use crate::{
    config::Config, distribution::Component, ground_truth::MOST_RETRANSMISSIONS, random::Random,
    values::OverflowPolicy,
};

/// Maximum latency of a sample in ns: 1,000 s.
const LONGEST_NS: f64 = 1e12;

/// Outcome of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOutcome {
    /// Rejected: the queue is full.
    Full {
        /// Time of the next departure from the queue, in ns.
        until_ns: u64,
    },
    /// Accepted, then lost in transit.
    Lost,
    /// Accepted, then dropped because the queue is full.
    Dropped,
    /// Accepted and delivered.
    Comes {
        /// Arrival time in ns.
        due_ns: u64,
        /// Whether the sample is delivered twice.
        twice: bool,
        /// Number of lost transmissions before the successful one.
        retransmissions: u32,
    },
}

/// Link from one writer to its readers: a server with a finite queue, followed by a latency to each reader.
///
/// By unicast the server moves one copy for each reader, in their order; by multicast one for all of them. Each copy
/// has an outcome of its own. A sample enters the queue whole, and leaves it with its last copy.
///
/// Samples arrive in the order of writing, with one exception: best effort samples that are held back can be
/// overtaken. A late reliable sample delays its successors, as for a reader that keeps the order.
#[derive(Clone, Debug)]
pub struct Flow {
    config: Arc<Config>,
    reliable: bool,
    qos_ns: f64,
    /// Mode factor of this run.
    pub mode: f64,
    random: Random,
    /// Whether one copy is for all readers.
    multicast: bool,
    /// Time of the first offer: origin of shapes, drift and stalls.
    epoch_ns: Option<u64>,
    /// Departure time of each packet in the server.
    queue: VecDeque<u64>,
    server_free_ns: u64,
    paths: Vec<Path>,
}

/// Way from the server to one reader.
#[derive(Clone, Debug)]
struct Path {
    /// Factor of its latency.
    factor: f64,
    last_due_ns: u64,
    /// Outcome of the last packet for this reader.
    outcome: SampleOutcome,
}

impl Path {
    const fn new(factor: f64) -> Self {
        Self { factor, last_due_ns: 0, outcome: SampleOutcome::Lost }
    }
}

impl Flow {
    /// Creates an idle flow to one reader. All flows of a `run` have the same mode; `stream` selects independent random
    /// numbers.
    #[must_use]
    pub fn new(config: Arc<Config>, reliable: bool, qos_ns: f64, run: u64, stream: u64) -> Self {
        let seed = config.seed ^ run.rotate_left(32);
        let mode = Random::new(seed, 0).pick(config.modes.iter().map(|mode| mode.weight));
        Self {
            reliable,
            qos_ns,
            mode: config.modes[mode].factor,
            random: Random::new(seed, stream.wrapping_add(1)),
            multicast: false,
            epoch_ns: None,
            queue: VecDeque::with_capacity(config.queue.min(1 << 16)),
            server_free_ns: 0,
            paths: vec![Path::new(1.0)],
            config,
        }
    }

    /// Returns the flow with these readers, each given by the factor of the latency to it.
    #[must_use]
    pub fn to_readers(mut self, factors: impl IntoIterator<Item = f64>, multicast: bool) -> Self {
        self.paths = factors.into_iter().map(Path::new).collect();
        self.multicast = multicast;
        self
    }

    /// Adds a reader behind the others.
    pub fn add_reader(&mut self) {
        self.paths.push(Path::new(1.0));
    }

    /// Removes a reader. The following ones move up.
    ///
    /// # Panics
    /// Panics if there is no such reader.
    pub fn remove_reader(&mut self, reader: usize) {
        self.paths.remove(reader);
    }

    /// Offers a packet of `bytes` payload bytes for all readers: one sample, or a batch whose samples share one outcome.
    /// Returns the outcome of the first reader; see [`Self::outcomes`] for the others. A packet that is rejected or
    /// dropped is so for all of them. `now_ns` must not decrease.
    pub fn offer(&mut self, now_ns: u64, bytes: u64) -> SampleOutcome {
        self.offer_to(0..self.paths.len(), now_ns, bytes)
    }

    /// Offers a packet for these readers only, as [`Self::offer`] does.
    pub fn offer_to(&mut self, readers: Range<usize>, now_ns: u64, bytes: u64) -> SampleOutcome {
        let epoch = *self.epoch_ns.get_or_insert(now_ns);
        let now = now_ns.saturating_sub(epoch);
        let factor = self.mode * self.config.factor_at(now);
        let transit = self.config.transit_ns(bytes) as f64 * factor;
        while self.queue.front().is_some_and(|done| *done <= now) {
            self.queue.pop_front();
        }
        let is_served = transit >= 0.5;
        if is_served && self.queue.len() >= self.config.queue {
            if self.config.full == OverflowPolicy::Drop && !self.reliable {
                return SampleOutcome::Dropped;
            }
            return SampleOutcome::Full { until_ns: epoch.saturating_add(self.queue[0]) };
        }
        let (first, mut done) = (readers.start, now);
        for reader in readers {
            if !is_served {
                done = self.config.stall.map_or(now, |stall| stall.postpone(now));
            } else if reader == first || !self.multicast {
                done = self.serve(now, transit);
            }
            let lost = !self.reliable && self.random.chance(self.config.loss_of(bytes));
            self.paths[reader].outcome =
                if lost { SampleOutcome::Lost } else { self.underway(reader, epoch, bytes, factor, done) };
        }
        if is_served {
            self.queue.push_back(done);
        }
        self.paths.get(first).map_or(SampleOutcome::Lost, |path| path.outcome)
    }

    /// Returns the outcome of the last accepted packet for each reader.
    pub fn outcomes(&self) -> impl Iterator<Item = SampleOutcome> {
        self.paths.iter().map(|path| path.outcome)
    }

    /// Returns when the server has moved one copy.
    fn serve(&mut self, now: u64, transit: f64) -> u64 {
        let begin = now.max(self.server_free_ns);
        let transit = if self.config.jitter > 0.0 {
            transit * Component::spread(self.config.jitter).draw(&mut self.random)
        } else {
            transit
        };
        // The cast saturates.
        let transit = transit.round() as u64;
        let work = |stall: crate::shape::Stall| stall.work(begin, transit);
        self.server_free_ns = self.config.stall.map_or(begin.saturating_add(transit), work);
        self.server_free_ns
    }

    fn underway(&mut self, reader: usize, epoch: u64, bytes: u64, factor: f64, done: u64) -> SampleOutcome {
        let loss = self.config.loss_of(bytes);
        let mut retransmissions = 0;
        while self.reliable && retransmissions < MOST_RETRANSMISSIONS && self.random.chance(loss) {
            retransmissions += 1;
        }
        let held = self.random.chance(self.config.reorder);
        let path = &mut self.paths[reader];
        let latency = self.config.latency.draw(&mut self.random) * factor * path.factor
            + self.qos_ns
            + f64::from(retransmissions) * self.config.retransmit_ns as f64
            + if held { self.config.hold_ns as f64 } else { 0.0 };
        let mut due = done.saturating_add(latency.min(LONGEST_NS).round() as u64);
        if let Some(stall) = self.config.stall {
            due = stall.postpone(due);
        }
        due = due.max(path.last_due_ns);
        if self.reliable || !held {
            path.last_due_ns = due;
        }
        let twice = !self.reliable && self.random.chance(self.config.duplicate);
        SampleOutcome::Comes { due_ns: epoch.saturating_add(due), twice, retransmissions }
    }
}
