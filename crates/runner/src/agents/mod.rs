//! Agents of one run, led together.

pub(crate) mod agent;
pub(crate) mod agent_set;
pub(crate) mod phase_error;
