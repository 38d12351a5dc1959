//! Settings that the publisher decides for all processes of a test.

use experiment::Durability;
use serde::{Deserialize, Serialize};

/// Sizes of a scan without a list, in bytes.
pub const SCAN_SIZES: [u64; 12] = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 63_000];
/// Size in bytes up to which samples are batched.
pub(crate) const MAX_BATCHED: u64 = 65_470;
/// Bytes of the length of a sequence.
const LENGTH_BYTES: u64 = 4;
/// Bytes of a key.
const KEY_BYTES: u64 = 4;

/// Settings of a test, which a subscriber gets from the publisher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Mode.
    pub mode: Mode,
    /// Sizes in bytes, one after the other.
    pub sizes: Vec<u64>,
    /// Whether the sizes are those of `-scan`.
    pub scan: bool,
    /// Whether the type has a key.
    pub keyed: bool,
    /// Number of instances; 1 without a key.
    pub instances: u32,
    /// The only instance that is written.
    pub write_instance: Option<u32>,
    /// Batches.
    pub batch: Batch,
    /// Samples, or batches, from one latency sample to the next.
    pub latency_count: u64,
    /// Samples of each size; `None`: without end.
    pub samples: Option<u64>,
    /// Seconds of each size.
    pub execution_time_s: Option<u64>,
    /// Samples before the measurement, if given.
    pub initial_burst: Option<u64>,
    /// Whether data and echoes are reliable.
    pub reliable: bool,
    /// Durability of the data.
    pub durability: Durability,
    /// History of the data.
    pub history: History,
    /// Whether data is sent by multicast.
    pub multicast: bool,
    /// Whether samples are written in lent memory, with a type of fixed size.
    pub zero_copy: bool,
}

/// Mode of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Samples as fast as back-pressure or the rate allows, some of which are echoed.
    Throughput,
    /// One sample in flight.
    Latency,
}

/// Batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Batch {
    /// No batches.
    Off,
    /// Batches of up to that many bytes.
    Bytes(u64),
    /// Batches of as many samples as are due.
    Turbo,
}

/// History of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// KEEP_ALL.
    KeepAll,
    /// KEEP_LAST with a depth.
    KeepLast(u32),
}

impl Shared {
    /// Returns the largest size.
    #[must_use]
    pub fn max_size(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or_default()
    }

    /// Returns the payload of a sample whose serialized length is `size`. `raw`: bare sockets do not serialize.
    #[must_use]
    pub const fn payload_bytes(&self, size: u64, raw: bool) -> u64 {
        let around = match (raw || self.zero_copy, self.keyed) {
            (true, _) => 0,
            (false, false) => LENGTH_BYTES,
            (false, true) => KEY_BYTES + LENGTH_BYTES,
        };
        size.saturating_sub(around)
    }

    /// Returns the bytes of a batch of samples of one size; `None` if they are not batched: fewer than two fit, or the
    /// sample is large. Turbo has no fixed size.
    #[must_use]
    pub const fn batch_bytes(&self, size: u64) -> Option<u64> {
        match self.batch {
            Batch::Bytes(bytes) if size.saturating_mul(2) <= bytes && size <= MAX_BATCHED => Some(bytes),
            _ => None,
        }
    }

    /// Returns the samples of a batch; 1 without batches, and with turbo.
    #[must_use]
    pub const fn samples_per_batch(&self, size: u64) -> u64 {
        match self.batch_bytes(size) {
            Some(bytes) if size > 0 => bytes / size,
            _ => 1,
        }
    }

    /// Returns whether every sample is echoed before the next one is sent.
    #[must_use]
    pub fn echoes_every_sample(&self) -> bool {
        self.mode == Mode::Latency && self.latency_count == 1
    }

    /// Returns the number of samples from one latency sample to the next.
    #[must_use]
    pub const fn samples_per_ping(&self, size: u64) -> u64 {
        self.latency_count.saturating_mul(self.samples_per_batch(size))
    }
}
