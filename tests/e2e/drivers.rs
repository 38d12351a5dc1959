//! Misbehaving drivers: their runs fail with the cause, the runs of the other driver are measured, and no process
//! is left.

use serde_json::Value;

use crate::support::{Outcome, Scene, list, programs, shared_library};

/// Measures one misbehaving driver together with a good one.
fn measure(scene: &Scene, how: &str) -> Outcome {
    let real = programs().parent().expect("target").join("drivers/libddsmark_udp.so");
    let (real, how) = (format!("-DREAL=\"{}\"", real.display()), format!("-DHOW={how}"));
    let driver =
        shared_library(scene, "c++", "libddsmark_bad.so", &["-std=c++17", &real, &how, "misbehaves.cpp"]);
    // short time limits, so that the test does not wait long; the good driver takes some ms
    let plan = format!(
        r#"question = "What does a driver cost that misbehaves?"
workload = "throughput"
[factors]
driver = ["{driver}", "udp"]
size = 64
[design]
blocks = 3
warm_up = "100ms"
measure = "200ms"
[limits]
configure = "5s"
exit = "2s"
"#
    );
    std::fs::write(scene.path("bad.toml"), plan).expect("a file");
    scene.ddsmark(&["run", "bad.toml", "--json", "--out", "result"])
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
fn what_a_driver_prints_does_not_reach_stdout() {
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

#[test]
fn a_driver_that_ends_hangs_throws_or_crashes_is_named() {
    for (how, phase, error, hint, last_words) in [
        (
            "exits",
            "configure",
            "the agent's process exited with status 0",
            "ended the process",
            "the licence has expired",
        ),
        (
            "aborts",
            "warm_up",
            "the agent's process was killed by signal 6 (SIGABRT)",
            "crashed",
            "assertion failed: queue",
        ),
        ("throws", "warm_up", "the agent's process was killed by signal 6 (SIGABRT)", "crashed", ""),
        (
            "crashes_in_a_thread",
            "warm_up",
            "the agent's process was killed by signal 11 (SIGSEGV)",
            "crashed",
            "thread `discovery` is lost",
        ),
        ("hangs_in_open", "configure", "no answer within 5 s", "hangs", "waiting for a licence server"),
        ("hangs_in_close", "exit", "no answer within 2 s", "hangs", "waiting for a licence server"),
    ] {
        let scene = Scene::new();
        let outcome = measure(&scene, how);
        outcome.assert_status(3);
        let document = outcome.document();
        let (good, bad) = cells(&document);
        assert!(good.iter().all(|run| run["state"] == "valid"), "{how}: {document:#}");
        assert_eq!((good.len(), bad.len()), (3, 3), "{how}");
        for run in bad {
            let failure = &run["failure"];
            assert_eq!(
                (&run["state"], &failure["phase"]),
                (&"failed".into(), &phase.into()),
                "{how}: {run:#}"
            );
            assert_eq!(failure["error"], error, "{how}: {run:#}");
            assert!(failure["hint"].as_str().is_some_and(|text| text.contains(hint)), "{how}: {run:#}");
            // both roles open a participant, but only one opens a writer
            let role = if how == "hangs_in_open" { "reader" } else { "writer" };
            assert_eq!(failure["role"], role, "{how}: {run:#}");
            let words = list(&failure["last_words"]);
            assert!(
                !words.is_empty() && (last_words.is_empty() || words.iter().any(|word| *word == last_words)),
                "{how}: {run:#}"
            );
        }
        assert!(outcome.stderr.contains(error) && outcome.stderr.contains("hint: "), "{}", outcome.stderr);
    }
}
