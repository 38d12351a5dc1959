//! Counters: plain integers on the hot path that another thread can read at any time.
use std::sync::atomic::{AtomicU64, Ordering};

use driver_abi as abi;

macro_rules! counters {
    ($($counter:ident = $number:ident,)*) => {
        /// Counter of the driver ABI, documented there.
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

/// Valid counters of an entity. A counter that was not set is invalid, not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    valid: u64,
    values: [u64; abi::COUNTER_COUNT],
}

impl Counters {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the set with one more counter.
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

/// Count with one writing thread and any number of reading threads. Adding is not an atomic read-modify-write:
/// concurrent additions from two threads may be lost.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `n`. Only one thread at a time may call it.
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// Returns the current count.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
