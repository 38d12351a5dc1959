//! Settings of single writing endpoints of a run.

use serde::{Deserialize, Serialize};

/// Settings of the writers of an endpoint.
#[serde_with::skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriterDesign {
    /// Payload of its samples in bytes; absent: that of the cell.
    pub size_bytes: Option<u64>,
    /// Maximum payload of its batches in bytes, if the cell has batches; absent: that of the cell.
    pub batch_bytes: Option<u64>,
    /// Measured time in ns. With `samples` the maximum.
    pub measure_ns: u64,
    /// Maximum number of samples in the measured time; absent: no limit.
    pub samples: Option<u64>,
}

impl WriterDesign {
    /// Returns the maximum number of samples; without a limit, the largest number.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.samples.unwrap_or(u64::MAX)
    }
}
