//! What the library shows to the dynamic linker.
mod harness;

use std::process::Command;

#[test]
fn only_the_entry_is_exported() {
    let library = harness::library();
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().expect("nm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let symbols: Vec<_> = std::str::from_utf8(&output.stdout)
        .expect("text")
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(str::to_owned)
        .collect();
    assert_eq!(symbols, ["ddsmark_driver_entry"]);
}
