//! Priorities of the threads of an agent.

use serde::{Deserialize, Serialize};

/// Priorities of the threads of an agent, of the policy SCHED_FIFO. 0: as the process has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadPriorities {
    /// Thread that writes samples.
    pub main: u32,
    /// Thread that receives samples or echoes, if it is not one of the middleware.
    pub receive: u32,
}
