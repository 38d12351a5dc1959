//! Late join of a simulated reader: samples written before it has joined do not reach it, except those that its writers keep
//! for it.

use control::{JoinReception, JoinTimes, PastReception, WrittenBeforeJoin};
use experiment::{Durability, History, Qos};

/// Samples that are sent together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Number of its first sample.
    pub sequence: u64,
    pub samples: u64,
    /// Payload of all of them.
    pub bytes: u64,
    /// Start of its write.
    pub tried_ns: u64,
}

/// Late join of a reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimJoin {
    pub times: JoinTimes,
    /// Time at which it and all writers are matched.
    pub joined_ns: u64,
    /// Whether this reader is the late one.
    pub is_late: bool,
}

/// Samples that a writer keeps for a late reader, and their counts.
#[derive(Debug, Default)]
pub(crate) struct WriterHistory {
    /// Maximum number of samples that it keeps.
    depth: u64,
    packets: std::collections::VecDeque<Packet>,
    /// Number of samples written before the reader had joined.
    pub before: u64,
    /// Number of these that the writer sent to the reader when it had joined.
    pub replayed: u64,
}

impl WriterHistory {
    /// Creates the empty memory of a writer with this QoS.
    pub fn of(qos: &Qos) -> Self {
        let depth = match (qos.durability, qos.history) {
            (None | Some(Durability::Volatile), _) => 0,
            (_, Some(History::KeepAll)) => u64::MAX,
            _ => qos.history_depth.map_or(1, |depth| u64::from(depth.unsigned_abs())),
        };
        Self { depth, ..Self::default() }
    }

    /// Adds a packet that was written before the reader had joined.
    pub fn keep(&mut self, packet: Packet) {
        self.before += packet.samples;
        self.packets.push_back(packet);
        while self.packets.iter().map(|packet| packet.samples).sum::<u64>() > self.depth {
            self.packets.pop_front();
        }
    }

    /// Returns the packets that the reader gets now that it has joined.
    pub fn replay(&mut self) -> Vec<Packet> {
        let packets: Vec<Packet> = self.packets.drain(..).collect();
        self.replayed += packets.iter().map(|packet| packet.samples).sum::<u64>();
        packets
    }
}

/// Returns what a writer reports of the samples that it wrote before the reader had joined.
pub(crate) fn before(kept: Option<&WriterHistory>) -> Option<WrittenBeforeJoin> {
    kept.map(|kept| WrittenBeforeJoin { samples: kept.before, exact: true })
}

/// Reception around the join, while it is recorded.
pub(crate) struct Reception {
    join: SimJoin,
    longest_gap_ns: [u64; 3],
    last_ns: Option<u64>,
    past: PastReception,
}

impl Reception {
    pub fn of(join: SimJoin) -> Self {
        let past = PastReception { exact: true, ..PastReception::default() };
        Self { join, longest_gap_ns: [0; 3], last_ns: None, past }
    }

    /// Records a distinct sample that was written at `tried_ns` and arrived at `due_ns`.
    pub fn record(&mut self, tried_ns: u64, due_ns: u64) {
        if let Some(last_ns) = self.last_ns.replace(due_ns) {
            let longest = &mut self.longest_gap_ns[self.join.times.period(due_ns)];
            *longest = (*longest).max(due_ns.saturating_sub(last_ns));
        }
        if self.past.first_ns == 0 {
            self.past.first_ns = due_ns;
        }
        if tried_ns < self.join.joined_ns {
            self.past.delivered += 1;
            self.past.last_ns = self.past.last_ns.max(due_ns);
        }
    }

    pub fn report(self) -> JoinReception {
        JoinReception { longest_gap_ns: self.longest_gap_ns, past: self.join.is_late.then_some(self.past) }
    }
}
