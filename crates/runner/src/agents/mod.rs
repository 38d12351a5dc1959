//! Agents of one run: their processes, control channels, logs, domains and files.

pub(crate) mod agent;
pub(crate) mod agent_set;
pub(crate) mod cleanup;
pub(crate) mod domain;
pub(crate) mod launcher;
