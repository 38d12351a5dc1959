//! TCP: the bare socket, at every size; and a middleware.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, blocks, count, list},
};

/// Runs an experiment file, and returns its cells. Every run is valid, and every sample arrived.
fn cells(scene: &Scene, text: &str) -> Vec<Value> {
    fs::write(scene.path("f.toml"), text).expect("a file");
    let outcome = scene.run_blocks("f.toml");
    outcome.assert_status(0);
    let cells = list(&outcome.document()["cells"]).to_vec();
    for run in cells.iter().flat_map(|cell| list(&cell["runs"])) {
        assert_eq!(run["state"], "valid", "{run:#}");
        for flow in list(&run["flows"]) {
            let counted = &flow["counted"];
            let [sent, delivered] = ["sent", "delivered"].map(|name| count(&counted[name]));
            assert!(sent > 0 && sent == delivered, "{counted:#}");
        }
    }
    cells
}

#[test]
fn tcp_delivers_every_sample_over_ipv4_and_ipv6() {
    // A ping whose echo a busy host delays is lost.
    on_quiet_host(|| {
        let scene = Scene::new();
        let found = cells(
            &scene,
            r#"question = "What do streams cost?"
workload = ["latency", "throughput"]
[factors]
driver = "tcp"
transport = "all"
receive = ["waitset", "polling", "listener"]
size = [16, "64KiB"]
[design]
warm_up = "50ms"
measure = "100ms"
"#,
        );
        assert_eq!(found.len(), 2 * 2 * 3 * 2);
        for cell in &found {
            for end in ["writer", "reader"] {
                assert_eq!(cell["effective_qos"][end]["reliability"], "reliable", "{cell:#}");
            }
            let settings = cell["runs"][0]["endpoints"][0]["settings"].to_string();
            assert!(settings.contains(r#""nagle":"off""#), "{settings}");
        }
    });
}

#[test]
fn nagle_option_is_effective() {
    // A ping whose echo a busy host delays is lost.
    on_quiet_host(|| {
        let scene = Scene::new();
        let found = cells(
            &scene,
            r#"question = "What does Nagle's algorithm cost?"
workload = ["latency", "throughput"]
[factors]
driver = "tcp"
size = 64
[options.tcp]
nagle = ["off", "on"]
[design]
warm_up = "50ms"
measure = "100ms"
"#,
        );
        assert_eq!(found.len(), 4);
        for cell in &found {
            let requested = &cell["factors"]["options"]["nagle"];
            let writers = list(&cell["runs"][0]["endpoints"]).iter();
            let in_force: Vec<_> = writers
                .map(|agent| &agent["settings"]["writer"]["nagle"])
                .filter(|nagle| !nagle.is_null())
                .collect();
            assert!(
                !in_force.is_empty() && in_force.iter().all(|nagle| *nagle == requested),
                "{requested}: {in_force:?}"
            );
        }
    });
}

#[test]
fn samples_of_11_mb_are_all_delivered() {
    let scene = Scene::new();
    let few = format!("design.blocks={}", blocks());
    let words = [
        "run",
        "large-data-11mb",
        "--set",
        "factors.driver=tcp",
        "--set",
        &few,
        "--set",
        "design.warm_up=200ms",
        "--set",
        "design.measure=1s",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
        "--out",
        "result",
    ];
    let outcome = scene.ddsmark(&words);
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(list(&document["cells"]).len(), 2, "throughput, and bursts");
    for run in list(&document["cells"]).iter().flat_map(|cell| list(&cell["runs"])) {
        assert_eq!(run["state"], "valid", "{run:#}");
        let counted = &list(&run["flows"])[0]["counted"];
        let [sent, lost, undelivered] = ["sent", "lost", "undelivered"].map(|name| count(&counted[name]));
        assert!(sent > 0 && (lost, undelivered) == (0, 0), "{run:#}");
    }
}

/// The library may crash when it accepts a connection (drivers/cyclonedds/README.md): such a run fails with the
/// cause, and no other run fails.
#[test]
fn cyclonedds_runs_over_tcp() {
    let scene = Scene::new();
    let text = r#"question = "What do streams cost?"
workload = ["latency", "throughput"]
[factors]
driver = "cyclonedds"
transport = "tcp4"
size = [64, "64KiB"]
[design]
blocks = 2
warm_up = "50ms"
measure = "100ms"
"#;
    fs::write(scene.path("f.toml"), text).expect("a file");
    let document = scene
        .ddsmark(&[
            "run",
            "f.toml",
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--json",
            "--out",
            "result",
        ])
        .document();
    let cells = list(&document["cells"]);
    let runs: Vec<&Value> = cells.iter().flat_map(|cell| list(&cell["runs"])).collect();
    assert_eq!(runs.len(), 4 * 2);
    let (valid, failed): (Vec<&Value>, Vec<&Value>) = runs.iter().partition(|run| run["state"] == "valid");
    for run in failed {
        let error = run["failure"]["error"].to_string();
        assert!(error.contains("SIGABRT") || error.contains("SIGSEGV"), "{run:#}");
    }
    assert!(!valid.is_empty(), "{document:#}");
    for run in valid {
        for flow in list(&run["flows"]) {
            let counted = &flow["counted"];
            assert!(count(&counted["sent"]) > 0 && counted["sent"] == counted["delivered"], "{run:#}");
        }
        let agents = list(&run["endpoints"]);
        let of = |agent: &Value, name: &str| agent["settings"]["participant"][name].to_string();
        assert!(agents.iter().all(|agent| of(agent, "transport").contains("tcp4")), "{run:#}");
        let listening = agents.iter().filter(|agent| !of(agent, "configuration").contains("<Port>-1</Port>"));
        assert_eq!(listening.count(), 1, "one of the two listens: {run:#}");
    }
}
