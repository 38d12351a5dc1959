//! Agents of one run, led together.

pub(crate) mod agent;
pub(crate) mod agent_set;
mod end_cause;
mod pending_replies;
pub(crate) mod phase_error;
