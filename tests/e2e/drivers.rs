//! Misbehaving drivers: their runs fail with the cause, the runs of the other driver are measured, and no process
//! is left.

use serde_json::Value;

use crate::support::{Outcome, Scene, blocks, list, programs, shared_library};

/// Measures one misbehaving driver together with a good one.
fn measure(scene: &Scene, how: &str) -> Outcome {
    let real = programs().parent().expect("target").join("drivers/libddsmark_udp.so");
    let (real, how) = (format!("-DREAL=\"{}\"", real.display()), format!("-DHOW={how}"));
    let driver =
        shared_library(scene, "c++", "libddsmark_bad.so", &["-std=c++17", &real, &how, "faulty_driver.cpp"]);
    // short time limits, so that the test does not wait long; the good driver takes some ms
    let plan = format!(
        r#"question = "What does a driver cost that misbehaves?"
workload = "throughput"
[factors]
driver = ["{driver}", "udp"]
size = 64
[design]
warm_up = "100ms"
measure = "200ms"
[limits]
configure = "5s"
exit = "2s"
"#
    );
    std::fs::write(scene.path("bad.toml"), plan).expect("a file");
    scene.run_blocks("bad.toml")
}

/// Returns the runs of the good driver, and those of the other one.
fn cells(document: &Value) -> (&[Value], &[Value]) {
    let runs = |good: bool| {
        let cells = list(&document["cells"]);
        let cell = cells.iter().find(|cell| (cell["factors"]["driver"] == "udp") == good);
        list(&cell.expect("a cell")["runs"])
    };
    (runs(true), runs(false))
}

#[test]
fn output_of_a_driver_does_not_reach_stdout() {
    let scene = Scene::new();
    let outcome = measure(&scene, "prints");
    outcome.assert_status(0);
    let document = outcome.document();
    let (good, bad) = cells(&document);
    assert!(good.iter().chain(bad).all(|run| run["state"] == "valid"), "{document:#}");
    assert!(!outcome.stderr.contains("goodbye"), "{}", outcome.stderr);
    let log = std::fs::read_to_string(
        scene
            .path("result/logs")
            .join(format!("{:04}-writer.log", bad[0]["number"].as_u64().expect("a number"))),
    );
    assert_eq!(log.expect("a log"), "{\"schema_version\": 1}\ngoodbye\n");
}

/// Failure of a driver that misbehaves, as the result reports it.
struct Expected {
    phase: &'static str,
    error: &'static str,
    hint: &'static str,
    /// Line of the agent's log; empty if the driver writes none.
    log_line: &'static str,
    /// Role whose agent is named.
    role: &'static str,
}

/// Asserts that each run of the misbehaving driver fails as expected, and that the other driver is measured. A failure of the exit
/// costs no values.
#[track_caller]
fn assert_named(how: &str, expected: &Expected) {
    let scene = Scene::new();
    let outcome = measure(&scene, how);
    outcome.assert_status(if expected.phase == "exit" { 0 } else { 3 });
    let document = outcome.document();
    let (good, bad) = cells(&document);
    assert!(good.iter().all(|run| run["state"] == "valid"), "{document:#}");
    assert_eq!((good.len(), bad.len()), (blocks(), blocks()));
    for run in bad {
        assert_failed(run, expected);
    }
    assert!(
        outcome.stderr.contains(expected.error) && outcome.stderr.contains("hint: "),
        "{}",
        outcome.stderr
    );
}

#[track_caller]
fn assert_failed(run: &Value, expected: &Expected) {
    let (field, state) =
        if expected.phase == "exit" { ("exit_failure", "valid") } else { ("failure", "failed") };
    let failure = &run[field];
    assert_eq!((&run["state"], &failure["phase"]), (&state.into(), &expected.phase.into()), "{run:#}");
    assert_eq!(
        (&failure["error"], &failure["endpoint"]),
        (&expected.error.into(), &expected.role.into()),
        "{run:#}"
    );
    assert!(failure["hint"].as_str().is_some_and(|text| text.contains(expected.hint)), "{run:#}");
    let lines = list(&failure["last_log_lines"]);
    let is_there = expected.log_line.is_empty() || lines.iter().any(|line| *line == expected.log_line);
    assert!(!lines.is_empty() && is_there, "{run:#}");
}

const ABORTED: &str = "the agent's process was killed by signal 6 (SIGABRT)";

#[test]
fn driver_that_exits_is_named() {
    let error = "the agent's process exited with status 0";
    let log_line = "the licence has expired";
    assert_named(
        "exits",
        &Expected { phase: "configure", error, hint: "ended the process", log_line, role: "writer" },
    );
}

#[test]
fn driver_that_aborts_is_named() {
    let log_line = "assertion failed: queue";
    assert_named(
        "aborts",
        &Expected { phase: "warm_up", error: ABORTED, hint: "crashed", log_line, role: "writer" },
    );
}

#[test]
fn driver_that_throws_is_named() {
    let expected =
        Expected { phase: "warm_up", error: ABORTED, hint: "crashed", log_line: "", role: "writer" };
    assert_named("throws", &expected);
}

#[test]
fn driver_that_crashes_in_a_thread_is_named() {
    let error = "the agent's process was killed by signal 11 (SIGSEGV)";
    let log_line = "thread `discovery` is lost";
    assert_named(
        "crashes_in_a_thread",
        &Expected { phase: "warm_up", error, hint: "crashed", log_line, role: "writer" },
    );
}

#[test]
fn driver_that_hangs_in_open_is_named() {
    let (error, log_line) = ("no answer within 5 s", "waiting for a licence server");
    // both endpoints hang: the first one is named
    assert_named(
        "hangs_in_open",
        &Expected { phase: "configure", error, hint: "hangs", log_line, role: "writer" },
    );
}

#[test]
fn driver_that_hangs_in_close_is_named() {
    let (error, log_line) = ("no answer within 2 s", "waiting for a licence server");
    assert_named(
        "hangs_in_close",
        &Expected { phase: "exit", error, hint: "hangs", log_line, role: "writer" },
    );
}
