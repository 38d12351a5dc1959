//! Drivers: lookup, description, conformance checks and installation.

pub(crate) mod check;
pub(crate) mod describe;
pub(crate) mod install;
pub(crate) mod install_error;
pub(crate) mod search_path;
pub(crate) mod sources;
mod step;
