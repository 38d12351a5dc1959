//! Agents on this host: their processes, control channels, logs, domains and files.

pub(crate) mod cleanup;
pub(crate) mod domain_claim;
pub(crate) mod log;
pub(crate) mod process;
