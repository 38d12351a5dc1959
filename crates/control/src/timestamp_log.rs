//! Two timestamps for each sequence number, recorded on the hot path and joined by the runner.

use std::hint::black_box;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

/// Two timestamps of one sample in ns; 0: did not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimestampPair {
    /// Pinger: ping sent. Echo: ping received.
    pub first_ns: u64,
    /// Pinger: echo received. Echo: echo sent, and accepted.
    pub second_ns: u64,
}

/// Timestamps by sequence number, from 0. Sequence numbers beyond the capacity are not recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Encoded", into = "Encoded")]
#[cfg_attr(feature = "schema", schemars(with = "Encoded"))]
pub struct TimestampLog {
    stamps: Vec<TimestampPair>,
    capacity: usize,
}

impl TimestampLog {
    /// Creates a log of this capacity, and touches every page.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut stamps = vec![TimestampPair { first_ns: u64::MAX, second_ns: u64::MAX }; capacity];
        // an optimizer may not leave it out
        black_box(&mut stamps);
        stamps.clear();
        Self { stamps, capacity }
    }

    /// Records the timestamps of one sequence number. Skipped numbers have zeros.
    #[inline]
    pub fn record(&mut self, sequence: u64, stamp: TimestampPair) {
        let Ok(index) = usize::try_from(sequence) else { return };
        if index >= self.capacity {
            return;
        }
        if index >= self.stamps.len() {
            // within the capacity: no allocation
            self.stamps.resize(index + 1, TimestampPair::default());
        }
        self.stamps[index] = stamp;
    }

    /// Returns the timestamps of a sequence number; zeros if none are recorded.
    #[inline]
    #[must_use]
    pub fn get(&self, sequence: u64) -> TimestampPair {
        let index = usize::try_from(sequence).unwrap_or(usize::MAX);
        self.stamps.get(index).copied().unwrap_or_default()
    }

    /// Returns the timestamps by sequence number.
    #[must_use]
    pub fn as_slice(&self) -> &[TimestampPair] {
        &self.stamps
    }

    /// Removes all timestamps; the capacity stays.
    pub fn clear(&mut self) {
        self.stamps.clear();
    }
}

/// Serialized form of timestamps by sequence number.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TimestampLog"))]
struct Encoded {
    /// Number of pairs.
    count: usize,
    /// Base64 of the pairs: two little-endian unsigned 64-bit numbers each, in ns; 0: did not happen.
    base64: String,
}

/// Errors of decoding timestamps.
#[derive(Debug, thiserror::Error)]
pub enum TimestampLogError {
    /// Invalid base64.
    #[error("the timestamps are not valid base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Number of bytes that does not match the count.
    #[error("invalid number of timestamps: {bytes} bytes for {count} pairs")]
    Count {
        /// Bytes decoded.
        bytes: usize,
        /// Pairs announced.
        count: usize,
    },
}

impl From<TimestampLog> for Encoded {
    fn from(stamps: TimestampLog) -> Self {
        let bytes: Vec<u8> = stamps
            .stamps
            .iter()
            .flat_map(|s| [s.first_ns.to_le_bytes(), s.second_ns.to_le_bytes()])
            .flatten()
            .collect();
        Self { count: stamps.stamps.len(), base64: STANDARD.encode(bytes) }
    }
}

impl TryFrom<Encoded> for TimestampLog {
    type Error = TimestampLogError;

    fn try_from(encoded: Encoded) -> Result<Self, TimestampLogError> {
        let bytes = STANDARD.decode(&encoded.base64)?;
        if Some(bytes.len()) != encoded.count.checked_mul(16) {
            return Err(TimestampLogError::Count { bytes: bytes.len(), count: encoded.count });
        }
        let (words, _) = bytes.as_chunks::<8>();
        let stamps: Vec<TimestampPair> = words
            .chunks_exact(2)
            .map(|pair| TimestampPair {
                first_ns: u64::from_le_bytes(pair[0]),
                second_ns: u64::from_le_bytes(pair[1]),
            })
            .collect();
        Ok(Self { capacity: stamps.len(), stamps })
    }
}
