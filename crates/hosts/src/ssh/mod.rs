//! Hosts that OpenSSH reaches: the client of the user, with the configuration, keys and jump hosts of the user.

pub mod bundle;
mod connection;
mod deployment;
mod elf;
pub mod messages;
pub mod probe;

pub use connection::SshProgram;
pub use deployment::{Deployment, deploy};
