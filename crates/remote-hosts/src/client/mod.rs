//! Runner's side of a steward.

mod agent;
mod agent_state;
mod link;
pub(crate) mod process;
pub(crate) mod site;
pub(crate) mod steward_command;
pub(crate) mod stream;
