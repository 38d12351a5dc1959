//! Invalid requests are rejected before the first packet, with the subject, the cause and the next step.

use std::{fs, process::Stdio};

use crate::support::Place;

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

fn refused(name: &str, arguments: &[&str]) {
    let place = Place::new();
    let all = [&["characterize", "--out", "result"], arguments].concat();
    place.snapshot(name, &all);
    assert!(!place.path("result").exists(), "something was left behind");
}

#[test]
fn an_unknown_driver() {
    // the driver path has the built drivers only, so that the hint lists them
    let place = Place::new();
    fs::create_dir(place.path("drivers")).expect("a directory can be made");
    let output = place.run(&["characterize", "--driver", "nonesuch"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "error: --driver nonesuch: unknown driver `nonesuch`");
    assert!(lines[1].starts_with("hint: available: ") && lines[1].contains("udp"), "{said}");
}

#[test]
fn a_driver_file_that_is_missing() {
    refused("missing-file", &["--driver", "./nowhere.so"]);
}

#[test]
fn a_driver_file_that_is_no_driver() {
    let place = Place::new();
    place.write("text.so", "not a library\n");
    place.snapshot("no-library", &["characterize", "--driver", "./text.so"]);
    place.build("plain.so", "int answer(void);\nint answer(void) { return 42; }\n");
    place.snapshot("no-driver", &["characterize", "--driver", "./plain.so"]);
}

#[test]
fn a_driver_of_another_version_of_the_contract() {
    let place = Place::new();
    place.build("other.so", OTHER_VERSION);
    place.snapshot("other-version", &["drivers", "info", "./other.so"]);
}

#[test]
fn crashed_driver_error_has_last_lines() {
    let place = Place::new();
    place.build("crash.so", CRASH);
    place.snapshot("crash", &["drivers", "info", "./crash.so"]);
}

#[test]
fn invalid_sizes() {
    refused("size-too-small", &["--driver", "udp", "--size", "64,15"]);
    refused("size-too-large", &["--driver", "udp", "--size", "64", "--size", "100000"]);
    refused("size-twice", &["--driver", "udp", "--size", "64,64"]);
    refused("size-no-number", &["--driver", "udp", "--size", "64k"]);
}

#[test]
fn invalid_options() {
    refused("option-unknown", &["--driver", "udp", "--option", "udp.nonsense=1"]);
    refused("option-malformed", &["--driver", "udp", "--option", "nonsense"]);
    refused("option-stray", &["--driver", "udp", "--option", "other.batching=off"]);
    refused("transport-unknown", &["--driver", "udp", "--transport", "carrier-pigeon"]);
    refused("multicast-unsupported", &["--driver", "udp,sim", "--multicast"]);
    refused("reliability-unsupported", &["--driver", "udp", "--qos", "reliable"]);
    refused("driver-twice", &["--driver", "udp,udp"]);
    refused("runs-none", &["--driver", "udp", "--runs", "0"]);
    refused("duration-without-unit", &["--driver", "udp", "--duration", "5"]);
    refused("duration-too-short", &["--driver", "udp", "--duration", "1ms"]);
    refused("match-timeout-too-long", &["--driver", "udp", "--match-timeout", "2h"]);
    refused("effort-contradictory", &["--driver", "udp", "--quick", "--precise"]);
    refused("flag-unknown", &["--driver", "udp", "--sise", "64"]);
    refused("pin-malformed", &["--driver", "udp", "--pin", "0"]);
}

#[test]
fn a_core_and_an_interface_that_are_not_there() {
    for (flag, value, word) in [("--pin", "0,4095", "core 4095"), ("--interface", "ddsmark0", "`ddsmark0`")] {
        let output = Place::new().run(&["characterize", "--driver", "udp", flag, value]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: ") && said.contains(word) && said.contains("\nhint: "), "{said}");
    }
}

#[test]
fn an_agent_that_is_missing() {
    Place::new().with("DDSMARK_AGENT", "/nowhere/agent").snapshot("no-agent", &["drivers", "list"]);
}

#[test]
fn a_results_directory_that_is_not_empty() {
    let place = Place::new();
    fs::create_dir(place.path("result")).expect("a directory can be made");
    place.write("result/notes.txt", "mine");
    place.snapshot("not-empty", &["characterize", "--driver", "udp", "--out", "result"]);
    assert_eq!(fs::read_to_string(place.path("result/notes.txt")).expect("it is still there"), "mine");
}

#[test]
fn a_results_directory_that_is_a_file() {
    let place = Place::new();
    place.write("result", "mine");
    place.snapshot("out-is-a-file", &["characterize", "--driver", "udp", "--out", "result/deeper"]);
}

/// Runs ddsmark with a file system of its own at `small`, mounted with these options.
fn mounted(place: Place, options: &str) -> Place {
    fs::create_dir(place.path("small")).expect("a directory can be made");
    let script = format!("mount -t tmpfs -o {options} none small && exec \"$@\"");
    place.inside(&["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"])
}

#[test]
fn a_results_directory_that_cannot_be_written_to() {
    let place = mounted(Place::new(), "ro,size=1m");
    place.snapshot("read-only", &["characterize", "--driver", "udp", "--out", "small/result"]);
}

#[test]
fn a_results_directory_that_is_full() {
    let place = mounted(Place::new(), "size=64k");
    place.snapshot("full", &["characterize", "--driver", "udp", "--out", "small/result"]);
}

#[test]
fn a_result_that_is_not_there_or_damaged() {
    let place = Place::new();
    place.snapshot("no-such-result", &["report", "nowhere"]);
    fs::create_dir(place.path("empty")).expect("a directory can be made");
    place.snapshot("no-result", &["report", "empty"]);
    place.write("empty/result.json", "{\"schema_version\": 1, ");
    place.snapshot("damaged-result", &["report", "empty"]);
    place.write("empty/result.json", "{\"schema_version\": 99}");
    place.snapshot("newer-result", &["report", "empty"]);
}

#[test]
fn a_full_disk_behind_stdout_is_an_error_and_a_closed_pipe_is_none() {
    let place = Place::new();
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = place.command(&["drivers", "info", "udp"]).stdout(full).output().expect("ddsmark runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.starts_with("error: cannot write to stdout: "), "{said}");

    let mut child = place.command(&["drivers", "info", "udp"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ddsmark runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ddsmark ends");
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn data_goes_to_stdout_and_everything_else_to_stderr() {
    let place = Place::new();
    let flags = ["--driver", "udp", "--size", "64", "--workload", "latency", "--duration", "20ms"];
    let output =
        place.run(&[&["characterize", "--json", "--seed", "7", "--out", "result"], &flags[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(document["experiment"]["design"]["seed"], 7);
    assert_eq!(said.lines().filter(|line| line.starts_with('[')).count(), 3, "{said}");
    assert!(said.contains("seed 7") && said.contains("`result`"), "{said}");
    assert!(!said.contains('\r') && !said.contains('\u{1b}'), "a bar was drawn: {said:?}");
}
