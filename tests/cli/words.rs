//! Help texts.

use crate::support::Sandbox;

#[test]
fn help_shows_examples_and_exit_statuses() {
    Sandbox::new().snapshot("help", &["--help"]);
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
    ] {
        sandbox.snapshot(name, arguments);
    }
}

#[test]
fn version() {
    Sandbox::new().snapshot("version", &["--version"]);
}
