//! Invalid requests are rejected before the first packet, with the subject, the cause and the next step.

use std::{fs, process::Stdio};

use crate::support::Sandbox;

/// Driver of an unknown version of the contract.
const OTHER_VERSION: &str = "
#include <ddsmark/driver.h>
static const ddsmark_driver driver = {.abi_version = 99, .struct_size = sizeof(ddsmark_driver)};
DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void);
const ddsmark_driver *ddsmark_driver_entry(void) { return &driver; }
";
/// Driver that ends its process when it is loaded.
const CRASH: &str = "
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void crash(void) { puts(\"no licence found\"); fflush(stdout); abort(); }
";

fn rejected(name: &str, arguments: &[&str]) {
    let sandbox = Sandbox::new();
    let all = [&["characterize", "--out", "result"], arguments].concat();
    sandbox.snapshot(name, &all);
    assert!(!sandbox.path("result").exists(), "something was left behind");
}

#[test]
fn an_unknown_driver() {
    // the driver path has the built drivers only, so that the hint lists them
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("drivers")).expect("a directory can be made");
    let output = sandbox.run(&["characterize", "--driver", "nonesuch"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines[0], "error: --driver nonesuch: unknown driver `nonesuch`");
    assert!(lines[1].starts_with("hint: available: ") && lines[1].contains("udp"), "{stderr}");
}

#[test]
fn a_driver_file_that_is_missing() {
    rejected("missing-file", &["--driver", "./nowhere.so"]);
}

#[test]
fn a_driver_file_that_is_no_driver() {
    let sandbox = Sandbox::new();
    sandbox.write("text.so", "not a library\n");
    sandbox.snapshot("no-library", &["characterize", "--driver", "./text.so"]);
    sandbox.build("plain.so", "int answer(void);\nint answer(void) { return 42; }\n");
    sandbox.snapshot("no-driver", &["characterize", "--driver", "./plain.so"]);
}

#[test]
fn a_driver_of_another_version_of_the_contract() {
    let sandbox = Sandbox::new();
    sandbox.build("other.so", OTHER_VERSION);
    sandbox.snapshot("other-version", &["drivers", "info", "./other.so"]);
}

#[test]
fn crashed_driver_error_has_last_lines() {
    let sandbox = Sandbox::new();
    sandbox.build("crash.so", CRASH);
    sandbox.snapshot("crash", &["drivers", "info", "./crash.so"]);
}

#[test]
fn invalid_sizes() {
    rejected("size-too-small", &["--driver", "udp", "--size", "64,15"]);
    rejected("size-too-large", &["--driver", "udp", "--size", "64", "--size", "100000"]);
    rejected("size-twice", &["--driver", "udp", "--size", "64,64"]);
    rejected("size-no-number", &["--driver", "udp", "--size", "64x"]);
}

#[test]
fn invalid_options() {
    rejected("option-unknown", &["--driver", "udp", "--option", "udp.nonsense=1"]);
    rejected("option-malformed", &["--driver", "udp", "--option", "nonsense"]);
    rejected("option-stray", &["--driver", "udp", "--option", "other.batching=off"]);
    rejected("transport-unknown", &["--driver", "udp", "--transport", "carrier-pigeon"]);
    rejected("multicast-unsupported", &["--driver", "udp,sim", "--multicast"]);
    rejected("reliability-unsupported", &["--driver", "udp", "--qos", "reliable"]);
    rejected("driver-twice", &["--driver", "udp,udp"]);
    rejected("runs-none", &["--driver", "udp", "--runs", "0"]);
    rejected("duration-without-unit", &["--driver", "udp", "--duration", "5"]);
    rejected("duration-too-short", &["--driver", "udp", "--duration", "1ms"]);
    rejected("match-timeout-too-long", &["--driver", "udp", "--match-timeout", "2h"]);
    rejected("effort-contradictory", &["--driver", "udp", "--quick", "--precise"]);
    rejected("flag-unknown", &["--driver", "udp", "--sise", "64"]);
    rejected("pin-malformed", &["--driver", "udp", "--pin", "0"]);
}

#[test]
fn a_core_and_an_interface_that_are_not_there() {
    for (flag, value, word) in [("--pin", "0,4095", "core 4095"), ("--interface", "ddsmark0", "`ddsmark0`")] {
        let output = Sandbox::new().run(&["characterize", "--driver", "udp", flag, value]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.starts_with("error: ") && stderr.contains(word) && stderr.contains("\nhint: "),
            "{stderr}"
        );
    }
}

#[test]
fn an_agent_that_is_missing() {
    Sandbox::new().with("DDSMARK_AGENT", "/nowhere/agent").snapshot("no-agent", &["drivers", "list"]);
}

#[test]
fn a_results_directory_that_is_not_empty() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("result")).expect("a directory can be made");
    sandbox.write("result/notes.txt", "mine");
    sandbox.snapshot("not-empty", &["characterize", "--driver", "udp", "--out", "result"]);
    assert_eq!(fs::read_to_string(sandbox.path("result/notes.txt")).expect("it is still there"), "mine");
}

#[test]
fn a_results_directory_that_is_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("result", "mine");
    sandbox.snapshot("out-is-a-file", &["characterize", "--driver", "udp", "--out", "result/deeper"]);
}

/// Runs ddsmark with a file system of its own at `small`, mounted with these options.
fn mounted(sandbox: Sandbox, options: &str) -> Sandbox {
    fs::create_dir(sandbox.path("small")).expect("a directory can be made");
    let script = format!("mount -t tmpfs -o {options} none small && exec \"$@\"");
    sandbox.inside(&["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"])
}

#[test]
fn a_results_directory_that_cannot_be_written_to() {
    let sandbox = mounted(Sandbox::new(), "ro,size=1m");
    sandbox.snapshot("read-only", &["characterize", "--driver", "udp", "--out", "small/result"]);
}

#[test]
fn a_results_directory_that_is_full() {
    let sandbox = mounted(Sandbox::new(), "size=64k");
    sandbox.snapshot("full", &["characterize", "--driver", "udp", "--out", "small/result"]);
}

#[test]
fn missing_or_damaged_result() {
    let sandbox = Sandbox::new();
    sandbox.snapshot("no-such-result", &["report", "nowhere"]);
    fs::create_dir(sandbox.path("empty")).expect("a directory can be made");
    sandbox.snapshot("no-result", &["report", "empty"]);
    sandbox.write("empty/result.json", "{\"schema_version\": 1, ");
    sandbox.snapshot("damaged-result", &["report", "empty"]);
    sandbox.write("empty/result.json", "{\"schema_version\": 99}");
    sandbox.snapshot("newer-result", &["report", "empty"]);
    sandbox.snapshot("one-result-has-no-history", &["report", "empty/result.json", "--fail-on-change"]);
}

#[test]
fn full_stdout_is_an_error_and_closed_pipe_is_not() {
    let sandbox = Sandbox::new();
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = sandbox.command(&["drivers", "info", "udp"]).stdout(full).output().expect("ddsmark runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.starts_with("error: cannot write to stdout: "), "{stderr}");

    let mut child = sandbox.command(&["drivers", "info", "udp"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ddsmark runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ddsmark ends");
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn data_goes_to_stdout_and_everything_else_to_stderr() {
    let sandbox = Sandbox::new();
    let flags = ["--driver", "udp", "--size", "64", "--workload", "latency", "--duration", "20ms"];
    let output =
        sandbox.run(&[&["characterize", "--json", "--seed", "7", "--out", "result"], &flags[..]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(document["experiment"]["design"]["seed"], 7);
    assert_eq!(stderr.lines().filter(|line| line.starts_with('[')).count(), 3, "{stderr}");
    assert!(stderr.contains("seed 7") && stderr.contains("`result`"), "{stderr}");
    assert!(!stderr.contains('\r') && !stderr.contains('\u{1b}'), "a bar was drawn: {stderr:?}");
}
