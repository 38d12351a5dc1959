//! Pipelined rings: several samples in flight around a ring, with real processes and real middleware.

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

fn warnings(run: &Value) -> Vec<&str> {
    list(&run["warnings"]).iter().map(|warning| text(warning, "text")).collect()
}

/// Checks that the samples of each hop are those that the hop before it delivered, and that all are accounted for.
fn reconciles(run: &Value, who: &str) {
    assert_eq!(run["state"], "valid", "{who}: {run:#}");
    let hops = list(&run["measured"]["ring"]["hops"]);
    let of = |hop: &Value, name: &str| count(&hop[name]);
    for (hop, next) in hops.iter().zip(hops.iter().skip(1)) {
        assert_eq!(of(hop, "delivered") - of(hop, "stopped"), of(next, "sent"), "{who}: {run:#}");
    }
    for hop in hops {
        assert_eq!(of(hop, "sent"), of(hop, "delivered") + of(hop, "lost"), "{who}: {run:#}");
    }
}

#[test]
fn pipelined_ring_keeps_samples_in_flight_around_the_ring() {
    let scene = Scene::new();
    for (driver, receive, reliable) in [
        ("udp", "waitset", false),
        ("udp", "polling", false),
        ("cyclonedds", "listener", true),
        ("cyclonedds", "waitset", true),
        ("fastdds", "waitset", true),
        ("fastdds", "listener", true),
    ] {
        let arguments = ["latency", "--driver", driver, "--topology", "ring-2,ring-3", "--in-flight", "1,8"];
        let outcome = scene.ddsmark(&[&arguments[..], &["--receive", receive], &MEASURED].concat());
        outcome.assert_status(0);
        let document = outcome.document();
        for (run, (nodes, in_flight)) in runs(&document).into_iter().zip([(2, 1), (2, 8), (3, 1), (3, 8)]) {
            let who = format!("{driver}, {receive}, {nodes} nodes, {in_flight} in flight");
            reconciles(run, &who);
            let ring = &run["measured"]["ring"];
            assert_eq!((list(&ring["hops"]).len(), count(&ring["in_flight"])), (nodes, in_flight), "{who}");
            let roles: Vec<&str> =
                list(&run["endpoints"]).iter().map(|endpoint| text(endpoint, "role")).collect();
            let others = if in_flight == 1 { "echo" } else { "relay" };
            assert!(
                roles[0] == "pinger" && roles[1..].iter().all(|role| *role == others),
                "{who}: {roles:?}"
            );
            let (elapsed, in_time) = (number(&ring["elapsed_ns"]), number(&ring["returned_in_time"]));
            let per_sample_hop = number(&ring["per_sample_hop_ns"]);
            assert!(
                (per_sample_hop - elapsed / in_time / nodes as f64).abs() < 1.0 && in_time > 0.0,
                "{who}: {run:#}"
            );
            // Little's law: the mean number in flight is the rate times the mean RTT. The last samples return later.
            let rtt = &run["latency"]["rtt"];
            let mean_in_flight = number(&ring["mean_in_flight"]);
            let of_law = number(&rtt["mean_ns"]) * number(&rtt["n"]) / elapsed;
            assert!(mean_in_flight > 0.0 && mean_in_flight <= of_law * 1.001, "{who}: {run:#}");
            assert!(mean_in_flight <= in_flight as f64 * 1.001, "{who}: {run:#}");
            let lost: u64 = list(&ring["hops"]).iter().map(|hop| count(&hop["lost"])).sum();
            if reliable {
                assert_eq!(lost, 0, "{who}: {run:#}");
            }
            if in_flight == 1 {
                // The round trip: its time per hop contains all but what node 1 takes between two samples.
                assert!(number(&ring["per_hop_mean_ns"]) <= per_sample_hop * 1.01, "{who}: {run:#}");
            } else if lost == 0 && receive != "listener" {
                // In a listener, they have returned before node 1 has a core to send the next ones.
                assert!(mean_in_flight > 1.0, "{who}: several are in flight: {run:#}");
            }
        }
    }
}

#[test]
fn loss_of_a_pipelined_ring_names_its_hop_and_back_pressure_loses_nothing() {
    let scene = Scene::new();
    let measured = |driver: &str, duration: &str| {
        let words = ["latency", "--driver", driver, "--topology", "ring-4", "--in-flight", "8"];
        let outcome = scene.ddsmark(&[&words[..], &MEASURED[..5], &[duration], &MEASURED[6..]].concat());
        outcome.assert_status(0);
        let document = outcome.document();
        let run = runs(&document)[0].clone();
        reconciles(&run, driver);
        run
    };
    let warned = |run: &Value, expected: &str| warnings(run).iter().any(|text| text.contains(expected));

    let lossy = measured(&changed_driver(&scene, "udp", "loses_on_a_hop"), "1s");
    let hops = list(&lossy["measured"]["ring"]["hops"]);
    let (lost, sent) = (count(&hops[1]["lost"]), count(&hops[1]["sent"]));
    assert!(lost > 0 && lost >= sent / 10 - 1, "one in ten: {lossy:#}");
    assert!(warned(&lossy, "samples were lost between node-2 and node-3"), "{lossy:#}");
    assert!(warned(&lossy, "of 8 samples were in flight"), "{lossy:#}");

    // A relay repeats what an echo would lose.
    let held = measured(&changed_driver(&scene, "udp", "rejects_on_a_hop"), "300ms");
    let hops = list(&held["measured"]["ring"]["hops"]);
    assert_eq!(count(&hops[0]["stopped"]), 0, "{held:#}");
    assert!(count(&hops[1]["held_writes"]) > 0 && count(&hops[2]["held_writes"]) == 0, "{held:#}");
    assert!(warned(&held, "writes from node-2 to node-3 timed out or were rejected"), "{held:#}");

    // A hop without room ends the wait of each sample, not the run.
    let blocked = measured(&changed_driver(&scene, "udp", "blocks_a_hop"), "1s");
    let hops = list(&blocked["measured"]["ring"]["hops"]);
    let (stopped, lost) = (count(&hops[0]["stopped"]), count(&hops[0]["lost"]));
    assert!(stopped >= 8 && count(&hops[1]["held_writes"]) >= stopped, "{blocked:#}");
    assert_eq!((count(&hops[1]["sent"]), lost), (count(&hops[0]["sent"]) - stopped, 0), "{blocked:#}");
    assert!(warned(&blocked, &format!("node-2 did not pass on {stopped} of")), "{blocked:#}");
}

#[test]
fn killed_relay_names_its_hops() {
    let scene = Scene::new();
    let kills = scene.path("kills");
    fs::create_dir(&kills).expect("a directory");
    fs::write(kills.join("plan"), "cyclonedds node-3 0 measure 100000 agent\n").expect("a file");
    let agent = programs().join("killing-agent");
    let variables = [("DDSMARK_KILLS", kills.as_os_str()), ("DDSMARK_AGENT", agent.as_os_str())];
    let words = ["latency", "--driver", "cyclonedds", "--topology", "ring-4", "--in-flight", "8"];
    let more = [
        "--size",
        "256",
        "--runs",
        "1",
        "--json",
        "--duration",
        "1s",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
    ];
    let outcome = scene.start_with(&variables, "ddsmark", &[&words[..], &more].concat()).end();
    outcome.assert_status(3);
    let failure = runs(&outcome.document())[0]["failure"].clone();
    assert_eq!(failure["endpoint"], "node-3", "{failure:#}");
    let error = text(&failure, "error");
    assert!(
        error.contains("killed by signal 9")
            && error.ends_with("the ring is broken from node-2 to node-3 and from node-3 to node-4"),
        "{failure:#}"
    );
}

#[test]
fn several_in_flight_without_a_ring_are_rejected_before_the_first_packet() {
    let scene = Scene::new();
    for (arguments, error, hint) in [
        (&["latency", "--in-flight", "4"][..], "has one sample in flight, not 4", "ring-2"),
        (&["latency", "--topology", "1-3", "--in-flight", "4"], "has one sample in flight", "ring-2"),
        (&["latency", "--topology", "ring-2", "--in-flight", "1001"], "out of range", "1 to 1000"),
        (&["throughput", "--in-flight", "4"], "only the workload `latency`", "--in-flight N"),
    ] {
        let outcome = scene.ddsmark(&[arguments, &["--driver", "udp", "--size", "64"]].concat());
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(error), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(hint), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("[1/"), "{arguments:?}: {}", outcome.stderr);
    }
}
