//! Hosts that OpenSSH reaches: the client of the user, with the configuration, keys and jump hosts of the user.

pub mod messages;
mod shell;

pub use shell::{SshProgram, SshShell};
