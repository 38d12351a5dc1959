//! Build script: sets `DDSMARK_REVISION` to the git revision, if there is one.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if let (Some(revision), Some(log)) =
        (git(&["rev-parse", "HEAD"]), git(&["rev-parse", "--git-path", "logs/HEAD"]))
    {
        println!("cargo::rustc-env=DDSMARK_REVISION={revision}");
        // Git appends a line to this file for each commit and checkout.
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
