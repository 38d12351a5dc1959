//! Outcome and arrival time of each sample of one writer.

use std::{collections::VecDeque, sync::Arc};

use crate::{Component, Config, MOST_RETRANSMISSIONS, OverflowPolicy, Random};

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

/// Link from one writer to its readers: a server with a finite queue, followed by a latency.
///
/// Samples arrive in the order of writing, with one exception: best effort samples that are held back can be
/// overtaken. A late reliable sample delays its successors, as for a reader that keeps the order.
#[derive(Clone, Debug)]
pub struct Flow {
    config: Arc<Config>,
    reliable: bool,
    qos_ns: f64,
    mode: f64,
    random: Random,
    /// Time of the first offer: origin of shapes, drift and stalls.
    epoch_ns: Option<u64>,
    /// Departure time of each packet in the server.
    queue: VecDeque<u64>,
    server_free_ns: u64,
    last_due_ns: u64,
}

impl Flow {
    /// Creates an idle flow. All flows of a `run` have the same mode; `stream` selects independent random numbers.
    #[must_use]
    pub fn new(config: Arc<Config>, reliable: bool, qos_ns: f64, run: u64, stream: u64) -> Self {
        let seed = config.seed ^ run.rotate_left(32);
        let mode = Random::new(seed, 0).pick(config.modes.iter().map(|mode| mode.weight));
        Self {
            reliable,
            qos_ns,
            mode: config.modes[mode].factor,
            random: Random::new(seed, stream.wrapping_add(1)),
            epoch_ns: None,
            queue: VecDeque::with_capacity(config.queue.min(1 << 16)),
            server_free_ns: 0,
            last_due_ns: 0,
            config,
        }
    }

    /// Returns the mode factor of this run.
    #[must_use]
    pub const fn mode(&self) -> f64 {
        self.mode
    }

    /// Offers a packet of `bytes` payload bytes: one sample, or a batch whose samples share one outcome. `now_ns`
    /// must not decrease.
    pub fn offer(&mut self, now_ns: u64, bytes: u64) -> SampleOutcome {
        let epoch = *self.epoch_ns.get_or_insert(now_ns);
        let now = now_ns.saturating_sub(epoch);
        let factor = self.mode * self.config.factor_at(now);
        let transit = self.config.transit_ns(bytes) as f64 * factor;
        while self.queue.front().is_some_and(|done| *done <= now) {
            self.queue.pop_front();
        }
        let done = if transit < 0.5 {
            self.config.stall.map_or(now, |stall| stall.postpone(now))
        } else {
            if self.queue.len() >= self.config.queue {
                if self.config.full == OverflowPolicy::Drop && !self.reliable {
                    return SampleOutcome::Dropped;
                }
                return SampleOutcome::Full { until_ns: epoch.saturating_add(self.queue[0]) };
            }
            let begin = now.max(self.server_free_ns);
            let transit = if self.config.jitter > 0.0 {
                transit * Component::spread(self.config.jitter).draw(&mut self.random)
            } else {
                transit
            };
            // The cast saturates.
            let transit = transit.round() as u64;
            let work = |stall: crate::Stall| stall.work(begin, transit);
            let done = self.config.stall.map_or(begin.saturating_add(transit), work);
            self.server_free_ns = done;
            self.queue.push_back(done);
            done
        };
        if !self.reliable && self.random.chance(self.config.loss_of(bytes)) {
            return SampleOutcome::Lost;
        }
        self.underway(epoch, bytes, factor, done)
    }

    fn underway(&mut self, epoch: u64, bytes: u64, factor: f64, done: u64) -> SampleOutcome {
        let loss = self.config.loss_of(bytes);
        let mut retransmissions = 0;
        while self.reliable && retransmissions < MOST_RETRANSMISSIONS && self.random.chance(loss) {
            retransmissions += 1;
        }
        let held = self.random.chance(self.config.reorder);
        let latency = self.config.latency.draw(&mut self.random) * factor
            + self.qos_ns
            + f64::from(retransmissions) * self.config.retransmit_ns as f64
            + if held { self.config.hold_ns as f64 } else { 0.0 };
        let mut due = done.saturating_add(latency.min(LONGEST_NS).round() as u64);
        if let Some(stall) = self.config.stall {
            due = stall.postpone(due);
        }
        due = due.max(self.last_due_ns);
        if self.reliable || !held {
            self.last_due_ns = due;
        }
        let twice = !self.reliable && self.random.chance(self.config.duplicate);
        SampleOutcome::Comes { due_ns: epoch.saturating_add(due), twice, retransmissions }
    }
}
