//! Hosts on which a command can be executed, whatever executes it there: copies of programs and drivers, and the command
//! that starts a steward.

pub mod bundle;
mod connection;
mod deployment;
mod elf;
mod execution;
pub mod probe;
mod shell;

pub use deployment::{Deployment, deploy};
pub(crate) use execution::execute;
pub use shell::{RemoteShell, SharedConnection};
