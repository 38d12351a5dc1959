//! Counting: plain integers on the hot path, read by another thread at any time.
use std::sync::atomic::{AtomicU64, Ordering};

use driver_abi as abi;

macro_rules! counters {
    ($($counter:ident = $number:ident,)*) => {
        /// A counter of the contract, explained there.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "explained in the header")]
        pub enum Counter { $($counter = abi::$number as isize,)* }
    };
}

counters! {
    WriteBlocked = COUNTER_WRITE_BLOCKED,
    WriteTimedOut = COUNTER_WRITE_TIMED_OUT,
    WriteRefused = COUNTER_WRITE_REFUSED,
    Retransmitted = COUNTER_RETRANSMITTED,
    RetransmittedBytes = COUNTER_RETRANSMITTED_BYTES,
    PacketsSent = COUNTER_PACKETS_SENT,
    BytesSent = COUNTER_BYTES_SENT,
    PacketsReceived = COUNTER_PACKETS_RECEIVED,
    BytesReceived = COUNTER_BYTES_RECEIVED,
    SamplesRejected = COUNTER_SAMPLES_REJECTED,
    SamplesLost = COUNTER_SAMPLES_LOST,
    BytesDiscarded = COUNTER_BYTES_DISCARDED,
    SamplesOverwritten = COUNTER_SAMPLES_OVERWRITTEN,
    DeadlineMissed = COUNTER_DEADLINE_MISSED,
    LivelinessLost = COUNTER_LIVELINESS_LOST,
    IncompatibleQos = COUNTER_INCOMPATIBLE_QOS,
    WriteBlockedNs = COUNTER_WRITE_BLOCKED_NS,
    Malformed = COUNTER_MALFORMED,
}

/// The counters that an entity has. What is not set is not valid, which is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    valid: u64,
    values: [u64; abi::COUNTER_COUNT],
}

impl Counters {
    /// None is valid.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with a valid one.
    #[must_use]
    pub fn with(mut self, counter: Counter, value: u64) -> Self {
        self.valid |= 1 << counter as u64;
        self.values[counter as usize] = value;
        self
    }

    pub(crate) fn to_abi(&self) -> abi::Counters {
        abi::Counters {
            struct_size: size_of::<abi::Counters>() as u32,
            reserved: 0,
            valid: self.valid,
            values: self.values,
        }
    }
}

/// A count that one thread adds to and any thread reads. Adding is a plain add in memory, not a locked one: if two
/// threads add at once, one of the additions may be lost.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `n`; from one thread at a time.
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// The count now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
