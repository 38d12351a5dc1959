//! Capacity of the timestamp logs of a latency run.

use control::{Message as _, Reply, TimestampLog};

/// Maximum number of pings with timestamps: per second, and in total.
const STAMPS_PER_SECOND: u64 = 500_000;
const MAX_STAMPS: u64 = 4_000_000;
// as base64 of 16 bytes each they fit into a reply, with room for the rest of it
const _: () = assert!(MAX_STAMPS * 16 / 3 * 4 + (32 << 20) < Reply::MAX_LINE_BYTES);

/// Creates one of the timestamp logs of an agent for a run of this duration. All of them together have the capacity of
/// one.
#[must_use]
pub fn stamps_for(measure_ns: u64, logs: usize) -> TimestampLog {
    let planned =
        ((measure_ns / 1_000).saturating_mul(STAMPS_PER_SECOND) / 1_000_000).clamp(10_000, MAX_STAMPS);
    TimestampLog::with_capacity(planned as usize / logs.max(1))
}
