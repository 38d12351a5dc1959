//! Failures: no completed measurement is lost, nothing is left behind, and the error names the cause.

use std::{fs, path::Path};

use testbed::process::kill_alive;

use crate::support::{Scene, count, list, runs, violating_driver, wait_for};

/// Returns `Some` if at least `runs` runs were saved.
pub fn saved(result: &Path, runs: usize) -> Option<()> {
    let files = fs::read_dir(result.join("runs")).ok()?.flatten();
    let records = files.filter(|file| file.file_name().to_string_lossy().ends_with(".json"));
    let records = records.filter(|file| !file.file_name().to_string_lossy().starts_with('.'));
    (records.count() >= runs).then_some(())
}

#[test]
fn ctrl_c_saves_finished_runs_and_ends_every_agent() {
    let scene = Scene::new();
    let ddsmark =
        scene.start("ddsmark", &["characterize", "--driver", "udp", "--size", "64", "--out", "result"]);
    wait_for("two runs", || saved(&scene.path("result"), 2));
    ddsmark.signal("INT");
    let outcome = ddsmark.end();
    outcome.assert_status(130);

    assert_eq!(scene.agents(), Vec::<i32>::new());
    let again = scene.ddsmark(&["report", "result", "--json"]);
    again.assert_status(0);
    let document = again.document();
    assert_eq!(document["state"], "interrupted");
    let runs = runs(&document);
    let planned = list(&document["experiment"]["cells"]).len() as u64
        * count(&document["experiment"]["design"]["blocks"]);
    assert!(runs.len() >= 2 && (runs.len() as u64) < planned, "{} of {planned} runs", runs.len());
    assert!(runs.iter().all(|run| run["state"] == "valid"), "{document:#}");
}

#[test]
fn killed_agent_fails_only_its_run() {
    let scene = Scene::new();
    let ddsmark = scene.start(
        "ddsmark",
        &["characterize", "--driver", "udp", "--size", "64", "--duration", "300ms", "--out", "result"],
    );
    wait_for("a run", || saved(&scene.path("result"), 1));
    wait_for("an agent to kill", || scene.agents().into_iter().find(|&agent| kill_alive(agent)));
    let outcome = ddsmark.end();
    outcome.assert_status(3);

    let document = scene.ddsmark(&["report", "result", "--json"]).document();
    assert_eq!(document["state"], "complete");
    let failed: Vec<_> = runs(&document).into_iter().filter(|run| run["state"] != "valid").collect();
    assert_eq!(failed.len(), 1, "{failed:#?}");
    assert_eq!(failed[0]["state"], "failed");
    let failure = &failed[0]["failure"];
    assert!(failure["error"].as_str().is_some_and(|error| error.contains("signal 9")), "{failure:#}");
    assert!(failure["endpoint"].is_string() && failure["phase"].is_string(), "{failure:#}");
    assert!(outcome.stderr.contains("signal 9"), "{}", outcome.stderr);
}

#[test]
fn reader_that_never_matches_fails_the_run_in_time() {
    let scene = Scene::new();
    // with this driver, writers and readers of two processes never match, and it does not declare that
    let driver = violating_driver(&scene, "hides_its_limits", "");
    let outcome = scene.ddsmark(&[
        "characterize",
        "--driver",
        &driver,
        "--size",
        "64",
        "--match-timeout",
        "0.3s",
        "--out",
        "result",
    ]);
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("match"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint:"), "{}", outcome.stderr);

    let document = scene.ddsmark(&["report", "result", "--json"]).document();
    let runs = runs(&document);
    assert!(!runs.is_empty());
    for run in runs {
        assert_eq!((&run["state"], &run["failure"]["phase"]), (&"failed".into(), &"match".into()), "{run:#}");
    }
}

#[test]
fn agents_end_when_their_runner_is_killed() {
    let scene = Scene::new();
    let ddsmark = scene
        .start("ddsmark", &["characterize", "--driver", "cyclonedds", "--size", "64", "--out", "result"]);
    wait_for("a run", || saved(&scene.path("result"), 1));
    wait_for("an agent", || scene.agents().first().copied());
    ddsmark.signal("KILL");
    assert_eq!(ddsmark.end().status.code(), None);
    wait_for("the end of all agents", || scene.agents().is_empty().then_some(()));
    // the completed measurements can be read
    scene.ddsmark(&["report", "result", "--json"]).assert_status(0);
}
