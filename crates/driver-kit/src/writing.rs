//! Common parts of writers without discovery: counts, blocking time, and the wait for room.
use std::time::Instant;

use driver_abi::policies::{QosDuration, Reliability};

use crate::{
    config::WriterConfig,
    counters::{Count, Counter, Counters},
    error::{Error, Status},
};

/// Default maximum blocking time of a reliable write, as in DDS.
const DEFAULT_BLOCKING_NS: u64 = 100_000_000;

/// Counts of a writer of packets. Any thread can read them.
#[derive(Debug, Default)]
pub struct WriterCounts {
    packets: Count,
    bytes: Count,
    blocked: Count,
    blocked_ns: Count,
    /// Write calls rejected because there was no room.
    pub refused: Count,
    /// Write calls that had no room for the maximum blocking time.
    pub timed_out: Count,
    /// Samples dropped because a reader had no room: a best-effort writer does not wait.
    pub dropped: Count,
}

impl WriterCounts {
    /// Counts packets that were sent together, with their bytes.
    #[inline]
    pub fn count_sent(&self, packets: u64, bytes: u64) {
        self.packets.add(packets);
        self.bytes.add(bytes);
    }

    /// Counts a wait for room, which begins.
    #[cold]
    pub fn count_blocked(&self) {
        self.blocked.add(1);
    }

    /// Adds the duration of a wait for room in ns.
    pub fn add_blocked(&self, ns: u64) {
        self.blocked_ns.add(ns);
    }

    /// Returns the counters of a writer whose waits for room only the kernel knows.
    pub fn counters(&self) -> Counters {
        Counters::new()
            .with(Counter::PacketsSent, self.packets.get())
            .with(Counter::BytesSent, self.bytes.get())
            .with(Counter::WriteRefused, self.refused.get())
            .with(Counter::WriteTimedOut, self.timed_out.get())
    }

    /// Returns the counters of a writer that counts its waits for room.
    pub fn counters_with_waits(&self) -> Counters {
        self.counters()
            .with(Counter::WriteBlocked, self.blocked.get())
            .with(Counter::WriteBlockedNs, self.blocked_ns.get())
    }
}

/// Reliability and maximum blocking time of a writer.
#[derive(Clone, Copy, Debug)]
pub struct Blocking {
    /// Whether a write that finds no room is rejected; otherwise the sample is dropped.
    pub reliable: bool,
    /// Maximum time in ns for which a write waits for room.
    pub limit_ns: u64,
}

impl Blocking {
    /// Returns the requested values; a best-effort writer does not wait by default.
    pub fn from_config(config: &WriterConfig<'_>) -> Self {
        let reliable = config.qos.reliability == Some(Reliability::Reliable);
        let limit = config.qos.max_blocking_ns.map(QosDuration::raw);
        Self { reliable, limit_ns: limit.unwrap_or(if reliable { DEFAULT_BLOCKING_NS } else { 0 }) }
    }

    /// Starts a write, which has not waited yet.
    #[inline]
    pub fn start(self) -> Wait {
        Wait { limit_ns: self.limit_ns, begun: None }
    }

    /// Counts and returns the error of a reliable write that was not accepted. Its text is not allocated.
    #[cold]
    pub fn no_room(self, counts: &WriterCounts) -> Error {
        let (count, status, message) = if self.limit_ns == 0 {
            (&counts.refused, Status::Refused, "a reader has no room, and `max_blocking` is 0")
        } else {
            (&counts.timed_out, Status::TimedOut, "a reader had no room for `max_blocking`")
        };
        count.add(1);
        Error::new(status, message).hint("increase `max_blocking`, or check for a slow reader")
    }
}

/// Time limit of a write that waits for room, and the start of the wait.
#[derive(Debug)]
pub struct Wait {
    limit_ns: u64,
    begun: Option<Instant>,
}

impl Wait {
    /// Returns the time in ns that is left to wait for room; 0: none. The first call starts the wait, unless the write must not wait.
    #[cold]
    pub fn left_ns(&mut self, counts: &WriterCounts) -> u64 {
        if self.limit_ns == 0 {
            return 0;
        }
        let begun = *self.begun.get_or_insert_with(|| {
            counts.count_blocked();
            Instant::now()
        });
        let waited_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.limit_ns.saturating_sub(waited_ns)
    }

    /// Adds the duration of the wait to the counts, if there was one.
    #[inline]
    pub fn end(self, counts: &WriterCounts) {
        if let Some(begun) = self.begun {
            counts.add_blocked(begun.elapsed().as_nanos() as u64);
        }
    }
}
