//! Values that a site takes and returns. All of them serialize: a site may be on another host.

pub(crate) mod agent_command;
pub(crate) mod clock;
pub(crate) mod clock_exchange;
pub(crate) mod error;
pub(crate) mod facts;
pub(crate) mod networks;
pub(crate) mod owner;
pub(crate) mod process_exit;
