//! Steward: the server on the host of the agents.

mod agents;
mod calls;
pub(crate) mod server;
pub(crate) mod streams;
