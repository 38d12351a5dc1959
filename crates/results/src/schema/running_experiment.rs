//! Another experiment on the same host.

use serde::{Deserialize, Serialize};

/// Experiment that runs on a host, as it announces itself to others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunningExperiment {
    /// Process that measures on the host, by its id.
    pub pid: u32,
    /// Results directory; of a long path, its end.
    pub directory: String,
    /// Time of its announcement in UTC, as RFC 3339 defines it.
    pub since: String,
}
