//! Time limits of the phases of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time limits of the phases of a run, in ns. A phase that takes longer fails the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// From the start of an agent process to its first message.
    pub hello_ns: u64,
    /// Opening of the DDS entities.
    pub configure_ns: u64,
    /// From the opened entities until writer and reader match.
    pub match_ns: u64,
    /// Additional time of a traffic phase, beyond its planned duration.
    pub grace_ns: u64,
    /// From the last write until the reader stops waiting for samples.
    pub drain_ns: u64,
    /// Transfer of the agents' records.
    pub report_ns: u64,
    /// From the request to exit until the process is killed.
    pub exit_ns: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            hello_ns: 10 * SECOND,
            configure_ns: 20 * SECOND,
            match_ns: 10 * SECOND,
            grace_ns: 10 * SECOND,
            drain_ns: 5 * SECOND,
            report_ns: 30 * SECOND,
            exit_ns: 5 * SECOND,
        }
    }
}
