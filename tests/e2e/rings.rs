//! Rings: round trips over all nodes, with real processes and real middleware.

use std::fs;

use serde_json::Value;

use crate::support::{Scene, changed_driver, count, list, number, programs, runs, text};

const MEASURED: [&str; 10] = [
    "--size",
    "256",
    "--runs",
    "1",
    "--duration",
    "300ms",
    "--no-reference",
    "--set",
    "design.noise_probe=false",
    "--json",
];

fn hops(run: &Value) -> Vec<&Value> {
    list(&run["measured"]["ring"]["hops"]).iter().collect()
}

fn warnings(run: &Value) -> Vec<&str> {
    list(&run["warnings"]).iter().map(|warning| text(warning, "text")).collect()
}

/// Checks that the samples of each hop are those that the hop before it delivered.
fn reconciles(run: &Value, who: &str) {
    let hops = hops(run);
    for (hop, next) in hops.iter().zip(hops.iter().skip(1)) {
        assert_eq!(hop["reader"], next["writer"], "{who}: {run:#}");
        let [delivered, stopped] = ["delivered", "stopped"].map(|name| count(&hop[name]));
        assert_eq!(delivered - stopped, count(&next["sent"]), "{who}: {run:#}");
    }
    for hop in hops {
        let [sent, delivered, lost] = ["sent", "delivered", "lost"].map(|name| count(&hop[name]));
        assert_eq!(sent, delivered + lost, "{who}: {run:#}");
    }
}

#[test]
fn round_trip_takes_every_hop_of_the_ring() {
    let scene = Scene::new();
    for (driver, receive) in [
        ("udp", "waitset"),
        ("tcp", "waitset"),
        ("shm", "waitset"),
        ("cyclonedds", "listener"),
        ("cyclonedds", "waitset"),
        ("fastdds", "waitset"),
    ] {
        let arguments =
            ["latency", "--driver", driver, "--topology", "ring-2,ring-3,ring-5", "--receive", receive];
        let outcome = scene.ddsmark(&[&arguments[..], &MEASURED].concat());
        outcome.assert_status(0);
        let document = outcome.document();
        for (run, nodes) in runs(&document).into_iter().zip([2, 3, 5]) {
            let who = format!("{driver}, {nodes} nodes");
            assert_eq!(run["state"], "valid", "{who}: {run:#}");
            let ids: Vec<&str> =
                list(&run["endpoints"]).iter().map(|endpoint| text(endpoint, "id")).collect();
            let expected: Vec<String> = (1..=nodes).map(|node| format!("node-{node}")).collect();
            assert_eq!(ids, expected, "{who}");
            let rtt = &run["latency"]["rtt"];
            let returned = count(&rtt["n"]);
            assert!(returned > 0, "{who}: {run:#}");
            let hops = hops(run);
            assert_eq!(hops.len(), nodes, "{who}: {run:#}");
            reconciles(run, &who);
            // A lost sample of best effort traffic is named, but most return.
            assert!(count(&hops[nodes - 1]["delivered"]) >= returned, "{who}: {run:#}");
            let mean = number(&rtt["mean_ns"]);
            let per_hop = number(&run["measured"]["ring"]["per_hop_mean_ns"]);
            assert!((per_hop * nodes as f64 - mean).abs() < 1.0, "{who}: {run:#}");
            // The hops are parts of the round trip; the rest is spent in the nodes.
            let of_hop = |hop: usize| number(&run["latency"][format!("hop_{hop}")]["mean_ns"]);
            let together: f64 = (1..=nodes).map(of_hop).sum();
            assert!(together > 0.5 * mean && together < 1.01 * mean, "{who}: {together} of {mean}: {run:#}");
        }
    }
}

#[test]
fn nodes_of_a_ring_may_have_two_drivers() {
    let scene = Scene::new();
    let arguments = ["latency", "--driver", "cyclonedds+fastdds", "--topology", "ring-3"];
    let outcome = scene.ddsmark(&[&arguments[..], &MEASURED].concat());
    outcome.assert_status(0);
    let document = outcome.document();
    let run = runs(&document)[0];
    assert_eq!(run["state"], "valid", "{run:#}");
    let drivers: Vec<&str> =
        list(&run["endpoints"]).iter().map(|endpoint| text(endpoint, "driver")).collect();
    assert_eq!(drivers, ["cyclonedds", "fastdds", "fastdds"]);
    reconciles(run, "two drivers");
}

#[test]
fn loss_names_its_hop() {
    let scene = Scene::new();
    for (fault, expected) in [
        ("loses_on_a_hop", "samples were lost between node-2 and node-3"),
        ("rejects_on_a_hop", "node-2 did not pass on"),
    ] {
        let driver = changed_driver(&scene, "udp", fault);
        let arguments = ["latency", "--driver", &driver, "--topology", "ring-4"];
        let outcome = scene.ddsmark(&[&arguments[..], &MEASURED[..5], &["2s"], &MEASURED[6..]].concat());
        outcome.assert_status(0);
        let document = outcome.document();
        let run = runs(&document)[0];
        assert_eq!(run["state"], "valid", "{run:#}");
        reconciles(run, fault);
        assert!(warnings(run).iter().any(|warning| warning.contains(expected)), "{fault}: {run:#}");
        let hops = hops(run);
        // One in ten samples.
        let (missing, of) = match fault {
            "loses_on_a_hop" => (count(&hops[1]["lost"]), count(&hops[1]["sent"])),
            _ => (count(&hops[0]["stopped"]), count(&hops[0]["delivered"])),
        };
        assert!(missing > 0 && missing.abs_diff(of / 10) <= 1, "{fault}: {missing} of {of}: {run:#}");
    }
}

#[test]
fn broken_ring_names_node_and_hop() {
    let scene = Scene::new();
    // A node that is killed while samples go around.
    let kills = scene.path("kills");
    fs::create_dir(&kills).expect("a directory");
    fs::write(kills.join("plan"), "udp node-3 0 measure 100000 agent\n").expect("a file");
    let agent = programs().join("killing-agent");
    let variables = [("DDSMARK_KILLS", kills.as_os_str()), ("DDSMARK_AGENT", agent.as_os_str())];
    let words =
        ["latency", "--driver", "udp", "--topology", "ring-4", "--size", "256", "--runs", "1", "--json"];
    let more = ["--duration", "1s", "--no-reference", "--set", "design.noise_probe=false"];
    let outcome = scene.start_with(&variables, "ddsmark", &[&words[..], &more].concat()).end();
    outcome.assert_status(3);
    let failure = runs(&outcome.document())[0]["failure"].clone();
    assert_eq!(failure["endpoint"], "node-3", "{failure:#}");
    let error = text(&failure, "error");
    assert!(error.contains("killed by signal 9"), "{failure:#}");
    assert!(
        error.ends_with("the ring is broken from node-2 to node-3 and from node-3 to node-4"),
        "{failure:#}"
    );

    // A node whose reader finds no writer.
    let driver = changed_driver(&scene, "cyclonedds", "reads_elsewhere");
    fs::write(
        scene.path("ring.toml"),
        format!(
            "question = \"Is the ring closed?\"\nworkload = \"latency\"\n[factors]\ndriver = {driver:?}\n\
             topology = \"ring-3\"\n[limits]\nmatch = \"2s\"\n"
        ),
    )
    .expect("a file");
    let outcome = scene.ddsmark(&[
        "run",
        "ring.toml",
        "--runs",
        "1",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
    ]);
    outcome.assert_status(3);
    let failure = runs(&outcome.document())[0]["failure"].clone();
    assert_eq!(failure["phase"], "match", "{failure:#}");
    let error = text(&failure, "error");
    match text(&failure, "endpoint") {
        "node-2" => {
            assert!(error.contains("the writer matched 0 of 1 peers within 2 s; expected node-3"), "{error}");
        }
        "node-3" => {
            assert!(error.contains("the reader matched 0 of 1 peers within 2 s; expected node-2"), "{error}");
        }
        other => panic!("{other}: {failure:#}"),
    }
}

#[test]
fn what_a_ring_cannot_do_is_rejected_before_the_first_packet() {
    let scene = Scene::new();
    for (arguments, error) in [
        (&["throughput", "--topology", "ring-3"][..], "is not supported by the workload `throughput`"),
        (&["load", "--rate", "100", "--topology", "ring-3"], "is not supported by the workload `paced`"),
        (&["search", "--topology", "ring-3"], "is not supported by the workload `search`"),
        (&["characterize", "--topology", "ring-3"], "is not supported by the workload `throughput`"),
        (&["latency", "--topology", "ring-1"], "2 to 16"),
        (&["latency", "--topology", "ring-17"], "2 to 16"),
    ] {
        let outcome = scene.ddsmark(&[arguments, &["--driver", "udp", "--size", "64"]].concat());
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(error), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("[1/"), "{arguments:?}: {}", outcome.stderr);
    }
}
