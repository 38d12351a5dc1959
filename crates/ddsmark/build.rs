//! Tells the program the revision that it is built from, where there is one.

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
        // each commit and checkout adds a line there
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
