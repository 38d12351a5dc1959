//! Record of ddsmark's throttle, which adapts the rate to the reader.

use serde::{Deserialize, Serialize};

/// Record of ddsmark's throttle. It lowers the rate while more samples than the high mark are outstanding:
/// accepted, and not known to have been taken by the reader. It raises the rate while fewer than the low mark are
/// outstanding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThrottleStats {
    /// Low mark, in outstanding samples.
    pub low_mark: u64,
    /// High mark, in outstanding samples.
    pub high_mark: u64,
    /// Number of steps to a lower rate during the measurement.
    pub slower: u64,
    /// Number of steps to a higher rate during the measurement.
    pub faster: u64,
    /// Rate limit at the end, in samples/s. Null if there was no limit.
    pub rate_sps: Option<f64>,
}
