//! Time limits of the phases of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time limits of the phases. A phase that takes longer fails the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// From spawn to hello.
    pub hello_ns: u64,
    /// Opening the entities.
    pub configure_ns: u64,
    /// Until both ends are matched.
    pub match_ns: u64,
    /// What a phase of traffic may take beyond its planned time.
    pub grace_ns: u64,
    /// From the last write until the reader gives up waiting.
    pub drain_ns: u64,
    /// Handing over what was recorded.
    pub report_ns: u64,
    /// From `exit` until the process is killed.
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
