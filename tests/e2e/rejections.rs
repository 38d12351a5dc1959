//! Requests that a driver rejects are rejected before the first packet, whichever command makes them.

use std::fs;

use crate::support::{Scene, list, runs, violating_driver};

const FILE: &str = "question = \"?\"\nworkload = [\"latency\", \"throughput\"]\nfactors = { size = 64 }\n\
                    design = { blocks = 3, warm_up = \"0s\", measure = \"20ms\" }\n";

/// Requests of which only the driver knows that they are invalid: a change, the driver's message, and its hint.
#[test]
fn value_that_only_the_driver_rejects_is_an_error_of_the_plan() {
    let scene = Scene::new();
    fs::write(scene.path("f.toml"), FILE).expect("a file");
    for (driver, changes, words, hint) in [
        (
            "cyclonedds",
            &["qos.durability=transient"][..],
            "the value `transient` of `durability` is not supported",
            "transient_local",
        ),
        (
            "cyclonedds",
            &["qos.presentation={ scope = \"topic\", coherent_access = true, ordered_access = true }"],
            "`coherent_access` of policy `presentation` is not supported",
            "set it to false",
        ),
        (
            "cyclonedds",
            &["factors.transport=tcp4", "factors.receive_buffer=100000"],
            "no buffer sizes of TCP sockets",
            "net.ipv4.tcp_rmem",
        ),
        (
            "cyclonedds",
            &["options.cyclonedds.whc_high=banana"],
            "invalid value `banana` of option `whc_high`",
            "a whole number",
        ),
        (
            "fastdds",
            &["options.fastdds.publish_mode=never"],
            "invalid value `never` of option `publish_mode`",
            "sync, async",
        ),
        (
            "fastdds",
            &["options.fastdds.flow_controller=1000/10"],
            "option `flow_controller` requires asynchronous publishing",
            "set `asynchronous` or `publish_mode=async`",
        ),
        (
            "fastdds",
            &["options.fastdds.heartbeat_ms=-5"],
            "invalid value `-5` of option `heartbeat_ms`",
            "a whole number",
        ),
        (
            "fastdds",
            &["factors.loans=true", "factors.instances=5"],
            "loans are not supported for samples with a key",
            "remove `instances`",
        ),
        (
            "fastdds",
            &["factors.loans=true", "workload=throughput", "factors.batch_bytes=8192"],
            "batching is not supported for the type `plain`",
            "remove `batch_bytes`",
        ),
    ] {
        let driver_set = format!("factors.driver={driver}");
        let mut arguments = vec!["run", "f.toml", "--out", "result", "--set", &driver_set];
        arguments.extend(changes.iter().flat_map(|change| ["--set", change]));
        for more in [&["--dry-run"][..], &[]] {
            let outcome = scene.ddsmark(&[&arguments[..], more].concat());
            outcome.assert_status(2);
            let stderr = &outcome.stderr;
            assert!(
                stderr.starts_with(&format!(
                    "error: driver `{driver}` rejects the configuration of cell `{driver}/"
                )),
                "{stderr}"
            );
            let found_hint = stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_default();
            assert!(stderr.contains(words) && found_hint.contains(hint), "{stderr}");
            assert_eq!(outcome.stdout, "");
            assert!(!scene.path("result").exists(), "something was written");
        }
    }
}

#[test]
fn loans_of_a_driver_that_lends_nothing_are_rejected() {
    let scene = Scene::new();
    fs::write(scene.path("f.toml"), FILE).expect("a file");
    let sets = ["--set", "factors.driver=cyclonedds", "--set", "factors.loans=[false, true]"];
    let outcome = scene.ddsmark(&[&["run", "f.toml", "--out", "result"][..], &sets].concat());
    outcome.assert_status(2);
    let words = "driver `cyclonedds` lends no memory for samples";
    assert!(outcome.stderr.contains(words) && outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
    assert!(!scene.path("result").exists());
}

#[test]
fn flags_are_checked_by_the_driver() {
    let scene = Scene::new();
    let outcome = scene.ddsmark(&[
        "characterize",
        "--driver",
        "udp,cyclonedds",
        "--quick",
        "--option",
        "cyclonedds.max_message_size=1",
        "--out",
        "result",
    ]);
    outcome.assert_status(2);
    let words = "error: driver `cyclonedds` rejects the configuration of cell `cyclonedds/udp4/";
    assert!(outcome.stderr.starts_with(words), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("\nhint: use a whole number from 1024 to 65500\n"), "{}", outcome.stderr);
    assert!(!scene.path("result").exists());
}

/// Teaching driver that does not declare its limit to one process, and opens no writer of more than 100 bytes.
const SMALL: &str = "
static ddsmark_status open_small(ddsmark_participant *p, const ddsmark_writer_config *config, ddsmark_writer **out) {
  return config->max_payload_bytes > 100 ? fail(STATUS, \"not that many\") : writer_open(p, config, out);
}
VIOLATION(opens_small) {
  hides_its_limits();
  lying.writer_open = open_small;
}
";

#[test]
fn driver_that_fails_the_preflight_is_still_measured() {
    let scene = Scene::new();
    let characterize = |status: &str| {
        let driver = violating_driver(&scene, "opens_small", &SMALL.replace("STATUS", status));
        let flags = ["characterize", "--size", "64,1000", "--match-timeout", "0.3s", "--runs", "3", "--json"];
        let more = ["--batch-bytes", "0", "--workload", "latency", "--out", "result", "--driver", &driver];
        (scene.ddsmark(&[&flags[..], &more].concat()), driver)
    };
    let (rejected, driver) = characterize("DDSMARK_TOO_LARGE");
    rejected.assert_status(2);
    let words = "opens-small.so/memory/latency/1000` and of 1 other: writer_open: not that many";
    assert!(rejected.stderr.contains(words), "{}", rejected.stderr);
    let hint = format!("\nhint: see its features with `ddsmark drivers info {driver}`\n");
    assert!(rejected.stderr.contains(&hint), "{}", rejected.stderr);
    assert!(!scene.path("result").exists());

    let (failed, _) = characterize("DDSMARK_ERROR");
    failed.assert_status(3);
    assert!(failed.stderr.contains("note: cell `"), "{}", failed.stderr);
    let document = failed.document();
    let phases = runs(&document).into_iter().map(|run| run["failure"]["phase"].as_str().expect("a phase"));
    let (mut matching, mut configuring) = (0, 0);
    for phase in phases {
        *(if phase == "configure" { &mut configuring } else { &mut matching }) += 1;
    }
    assert_eq!((matching, configuring), (3, 3), "{:#?}", list(&document["cells"]));
}
