//! The preloaded library that delays sends, and its actual delay.

mod probe;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

pub use probe::{cost_ns, run as probe};

use crate::{Error, tree::root};

/// Number of sends per round trip: a ping and its echo are sent with one call each.
pub const SENDS_PER_ROUND_TRIP: f64 = 2.0;

/// Builds the library in this directory and returns its path. With `SLOW_SEND_NS` it spins before each call that sends.
pub fn build(directory: &Path) -> Result<PathBuf, Error> {
    let library = directory.join("slow_send.so");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
        .arg(root().join("tests/preload/slow_send.c"))
        .arg("-o")
        .arg(&library)
        .arg("-ldl");
    output_of(&mut cc)?;
    Ok(library)
}

/// Executes a command and returns its standard output.
pub fn output_of(command: &mut Command) -> Result<String, Error> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
    }
}
