//! What becomes of each sample of one writer, and when.

use std::{collections::VecDeque, sync::Arc};

use crate::{Component, Config, MOST_RETRANSMISSIONS, Random, WhenFull};

/// Nothing is under way for longer: 1,000 s.
const LONGEST_NS: f64 = 1e12;

/// What becomes of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// There is no room: nothing has changed, and there may be room then.
    Full {
        /// When to try again.
        until_ns: u64,
    },
    /// Accepted; it is lost on its way.
    Lost,
    /// Accepted; the full queue dropped it.
    Dropped,
    /// Accepted; it comes.
    Comes {
        /// When.
        due_ns: u64,
        /// Whether it comes twice.
        twice: bool,
        /// Transmissions that were lost before the one that got through.
        retransmissions: u32,
    },
}

/// One writer's way to its readers: a server with a finite queue, and the latency behind it.
///
/// Samples come in the order of writing. Only best effort samples that are held back are passed by others; a reliable
/// sample that is late holds up those behind it, as an ordered reader would have it.
#[derive(Clone, Debug)]
pub struct Flow {
    config: Arc<Config>,
    reliable: bool,
    qos_ns: f64,
    mode: f64,
    random: Random,
    /// The time 0 of shapes, drift and stalls: the first offer.
    epoch_ns: Option<u64>,
    /// When the server is done with each packet that it has.
    queue: VecDeque<u64>,
    server_free_ns: u64,
    last_due_ns: u64,
}

impl Flow {
    /// Nothing was written yet. Flows of one `run` are in the same mode; `stream` tells their random numbers apart.
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

    /// The factor of this run.
    #[must_use]
    pub const fn mode(&self) -> f64 {
        self.mode
    }

    /// Offers a packet of so many payload bytes: one sample, or a batch, all of which have one fate. `now_ns` does not
    /// go backwards.
    pub fn offer(&mut self, now_ns: u64, bytes: u64) -> Fate {
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
                if self.config.full == WhenFull::Drop && !self.reliable {
                    return Fate::Dropped;
                }
                return Fate::Full { until_ns: epoch.saturating_add(self.queue[0]) };
            }
            let begin = now.max(self.server_free_ns);
            let transit = if self.config.jitter > 0.0 {
                transit * Component::spread(self.config.jitter).draw(&mut self.random)
            } else {
                transit
            };
            // a float that is too large becomes the largest integer
            let transit = transit.round() as u64;
            let work = |stall: crate::Stall| stall.work(begin, transit);
            let done = self.config.stall.map_or(begin.saturating_add(transit), work);
            self.server_free_ns = done;
            self.queue.push_back(done);
            done
        };
        if !self.reliable && self.random.chance(self.config.loss_of(bytes)) {
            return Fate::Lost;
        }
        self.underway(epoch, bytes, factor, done)
    }

    fn underway(&mut self, epoch: u64, bytes: u64, factor: f64, done: u64) -> Fate {
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
        Fate::Comes { due_ns: epoch.saturating_add(due), twice, retransmissions }
    }
}
