//! Agents of one run: their processes, control channels, logs, domains and files.

pub(crate) mod agent;
pub(crate) mod crew;
pub(crate) mod domain;
pub(crate) mod launcher;
pub(crate) mod leftovers;
