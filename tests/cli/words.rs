//! Help texts.

use crate::support::Sandbox;

#[test]
fn help_shows_examples_and_exit_statuses() {
    Sandbox::new().snapshot("help", &["--help"]);
}

#[test]
fn short_help_shows_the_most_used_flags() {
    let sandbox = Sandbox::new();
    sandbox.snapshot("short-help", &["-h"]);
    for command in
        ["latency", "throughput", "load", "search", "discovery", "characterize", "run", "compare", "selftest"]
    {
        sandbox.snapshot(&format!("short-help-{command}"), &[command, "-h"]);
    }
}

#[test]
fn help_of_every_command() {
    let sandbox = Sandbox::new();
    for (name, arguments) in [
        ("help-characterize", &["characterize", "--help"][..]),
        ("help-run", &["run", "--help"]),
        ("help-compare", &["compare", "--help"]),
        ("help-selftest", &["selftest", "--help"]),
        ("help-recipes", &["recipes", "--help"]),
        ("help-report", &["report", "--help"]),
        ("help-drivers", &["drivers", "--help"]),
        ("help-drivers-info", &["drivers", "info", "--help"]),
        ("help-drivers-install", &["drivers", "install", "--help"]),
        ("help-drivers-versions", &["drivers", "versions", "--help"]),
        ("help-drivers-check", &["drivers", "check", "--help"]),
        ("help-drivers-support", &["drivers", "support", "--help"]),
    ] {
        sandbox.snapshot(name, arguments);
    }
}

#[test]
fn version() {
    Sandbox::new().snapshot("version", &["--version"]);
}
