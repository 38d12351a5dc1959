//! Agents of one run, led together.

pub(crate) mod agent;
pub(crate) mod agent_set;
mod awaited;
mod end_cause;
pub(crate) mod phase_error;
