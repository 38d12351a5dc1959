//! The commands with an experiment of their own, measured; and the examples of all helps.

use serde_json::Value;

use crate::support::{Outcome, Scene, list, programs, runs};

/// Measures with a command for short times, and returns the result.
fn measured(scene: &Scene, command: &[&str]) -> Value {
    let short = [
        "--duration",
        "100ms",
        "--warm-up",
        "20ms",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
        "-o",
        "result",
    ];
    let outcome = scene.ddsmark(&[command, &short[..]].concat());
    outcome.assert_status(0);
    let document = outcome.document();
    for run in runs(&document) {
        assert_eq!(run["state"], "valid", "{run:#}");
    }
    document
}

fn ids(document: &Value) -> Vec<&str> {
    list(&document["cells"]).iter().filter_map(|cell| cell["id"].as_str()).collect()
}

#[test]
fn latency_measures_the_given_driver_size_and_qos() {
    let scene = Scene::new();
    let document = measured(
        &scene,
        &["latency", "-d", "cyclonedds", "-s", "64", "--qos", "reliable,keep_last=1", "-n", "1"],
    );
    assert_eq!(ids(&document), ["cyclonedds/udp4/latency/64"]);
    let cell = &document["cells"][0];
    assert_eq!(list(&cell["runs"]).len(), 1);
    for end in ["writer", "reader"] {
        let qos = &cell["effective_qos"][end];
        assert_eq!(
            (&qos["reliability"], &qos["history"], &qos["history_depth"]),
            (&"reliable".into(), &"keep_last".into(), &1.into())
        );
    }
}

#[test]
fn throughput_and_load_measure_what_their_flags_say() {
    let scene = Scene::new();
    let document = measured(&scene, &["throughput", "-d", "udp,tcp", "-s", "1KiB", "-n", "1"]);
    assert_eq!(ids(&document), ["udp/udp4/throughput/1024", "tcp/tcp4/throughput/1024"]);
    let scene = Scene::new();
    let document = measured(&scene, &["load", "-d", "tcp", "-r", "1000,2k", "-n", "1"]);
    assert_eq!(ids(&document), ["tcp/tcp4/paced/64/rate-1000", "tcp/tcp4/paced/64/rate-2000"]);
    for (cell, planned) in list(&document["cells"]).iter().zip([100.0, 200.0]) {
        let run = &list(&cell["runs"])[0];
        let sent = run["measured"]["paced"]["planned"].as_f64().expect("a number");
        assert!((sent - planned).abs() <= 1.0, "{run:#}");
    }
}

#[test]
fn recipe_measures_a_driver_that_its_baseline_does_not_name() {
    let scene = Scene::new();
    let document = measured(&scene, &["run", "latency-vs-size", "-d", "tcp", "-s", "64", "-n", "1"]);
    assert_eq!(ids(&document), ["tcp/tcp4/latency/64"]);
    let notes = document["experiment"]["notes"].to_string();
    assert!(notes.contains("no baseline, so no comparison: that of the file is driver udp"), "{notes}");
}

/// Every example that measures is a valid plan; the others have tests of their own.
#[test]
fn examples_of_every_help_are_valid() {
    let scene = Scene::new();
    let mut planned = 0;
    for command in ["latency", "throughput", "load", "search", "characterize", "run"] {
        let help = scene.ddsmark(&[command, "--help"]).stdout;
        let prefix = format!("  ddsmark {command} ");
        let examples = help.lines().filter(|line| line.starts_with(&prefix));
        for example in
            examples.filter(|line| !line.contains("resume") && !line.contains("./") && !line.contains('>'))
        {
            let words = example.split_whitespace().skip(1).filter(|word| *word != "--dry-run");
            let words: Vec<&str> = words.chain(["--dry-run"]).collect();
            scene.ddsmark(&words).assert_status(0);
            planned += 1;
        }
    }
    assert!(planned >= 12, "{planned}");
}

/// Executes a command on a terminal of 100 columns and 30 lines.
fn on_a_terminal(scene: &Scene, arguments: &str) -> Outcome {
    let program = programs().join("ddsmark");
    let command = format!("stty cols 100 rows 30; exec {} {arguments}", program.display());
    scene.start("script", &["--quiet", "--return", "--command", &command, "/dev/null"]).end()
}

#[test]
fn values_so_far_are_shown_between_runs_on_a_terminal() {
    let short = "latency -d udp -s 64,1024 -n 2 --duration 50ms --warm-up 10ms --no-reference --live";
    let scene = Scene::new();
    let outcome = on_a_terminal(&scene, short);
    outcome.assert_status(0);
    let shown = &outcome.stdout;
    for words in
        ["RTT p50 (µs)", "> udp/udp4/latency/64", "> udp/udp4/latency/1024", "1 block done", "4 runs"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("[1/4] udp"), "a line for each run: {shown}");
    let outcome = scene.ddsmark(&short.split(' ').chain(["-o", "piped"]).collect::<Vec<_>>());
    outcome.assert_status(0);
    assert!(
        outcome.stderr.contains("`--live` needs a terminal") && outcome.stderr.contains("[1/4] udp"),
        "{}",
        outcome.stderr
    );
}
