//! Rejected arguments of the agent.

use std::process::{Command, Output, Stdio};

fn agent(control_fd: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ddsmark-agent"))
        .args(["--driver", "/nowhere/driver.so", control_fd])
        .stdin(Stdio::null())
        .output()
        .expect("the agent runs")
}

#[test]
fn negative_descriptor_is_rejected() {
    let output = agent("--control-fd=-1");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("invalid value '-1' for '--control-fd <N>'"), "{text}");
}

#[test]
fn closed_descriptor_is_rejected() {
    let output = agent("--control-fd=1000000");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("hint: run `ddsmark`"), "{text}");
}
