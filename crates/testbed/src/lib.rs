//! Servers for tests and validation, with keys, ports and files of their own: sshd, and clusters of Slurm in the hosts of a lab; and
//! sockets in its hosts.
#![forbid(unsafe_code)]

mod cluster;
mod privilege;
pub mod process;
mod sshd;
mod wait;
pub mod wire;

use std::path::{Path, PathBuf};

pub use cluster::Cluster;
pub use privilege::needs_root;
pub use sshd::{Sshd, SshdOptions};

/// Error with a message.
pub type Error = Box<dyn std::error::Error>;

/// Returns the path of a server. `PATH` often lacks its directory.
///
/// # Errors
/// Returns an error if it is not installed.
fn server(name: &str) -> Result<PathBuf, Error> {
    let path = Path::new("/usr/sbin").join(name);
    if path.exists() {
        return Ok(path);
    }
    Err(format!("{} is missing\nhint: `scripts/setup.sh tools`", path.display()).into())
}
