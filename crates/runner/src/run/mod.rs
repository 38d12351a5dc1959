//! One run: its identification, its phases, and the record that the collector makes of it.

pub(crate) mod executor;
pub(crate) mod names;
pub(crate) mod pair;
pub(crate) mod traces;
