//! Processes that meet, exchange bytes and end, over mailboxes in memory.

mod lobby;
mod network;
mod rig;
mod streams;
