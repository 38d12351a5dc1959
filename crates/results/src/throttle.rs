//! A rate that follows the reader.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What ddsmark's own throttle did: it slows a writer down while more samples than the high mark are not known to have been taken,
/// and speeds it up while fewer than the low mark are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttle {
    /// In samples that are not known to have been taken.
    pub low_mark: u64,
    /// Likewise.
    pub high_mark: u64,
    /// Steps to a lower rate in the measured time.
    pub slower: u64,
    /// Steps to a higher rate.
    pub faster: u64,
    /// The limit at the end, in samples/s. Absent where there was none.
    pub rate_sps: Option<f64>,
}
