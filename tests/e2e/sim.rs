//! Simulated middleware, in real time: the measurements match the configuration, as far as the host allows.

use std::fs;

use crate::support::{Scene, blocks_text, count, list, root};

const LATENCY_NS: u64 = 2_000_000;

#[test]
fn measured_values_equal_the_configured_model() {
    let scene = Scene::new();
    let outcome = scene.ddsmark(&[
        "characterize",
        "--driver",
        "sim",
        "--option",
        "sim.latency=2ms",
        "--option",
        "sim.loss=10%",
        "--option",
        "sim.retransmit=1ms",
        "--option",
        "sim.service=50us",
        "--quick",
        "--runs",
        blocks_text(),
        "--duration",
        "800ms",
        "--no-reference",
        "--size",
        "64",
        "--json",
        "--out",
        "result",
    ]);
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 3, "latency, throughput, and throughput in batches");
    for run in cells.iter().flat_map(|cell| list(&cell["runs"])) {
        assert_eq!(run["state"], "valid", "{run:#}");
        let counted = &list(&run["flows"])[0]["counted"];
        let [sent, delivered, lost] = ["sent", "delivered", "lost"].map(|name| count(&counted[name]));
        // reliable by default: lost samples are retransmitted
        assert_eq!((sent, lost), (delivered, 0), "{run:#}");
        assert!(delivered > 0, "{run:#}");
    }
    let latency = &cells[0]["latency"];
    for (kind, ways) in [("rtt", 2), ("one_way_out", 1), ("one_way_back", 1)] {
        let least = ways * LATENCY_NS;
        assert!(count(&latency[kind]["min_ns"]) >= least, "{kind}: {latency:#}");
        // histogram values have a relative error of up to 0.1 %
        assert!(latency[kind]["p50_ns"].as_f64().unwrap() >= least as f64 * 0.999, "{kind}: {latency:#}");
    }
    // one sample in ten is retransmitted, which takes 1 ms more
    assert!(count(&latency["one_way_out"]["max_ns"]) >= LATENCY_NS + 1_000_000, "{latency:#}");
    // the server takes 50 us a sample
    for run in list(&cells[1]["runs"]) {
        let throughput = &run["throughput"];
        let [sent, accepted] =
            [count(&throughput["sent"]) as f64, throughput["accepted_sps"].as_f64().expect("a rate")];
        // the queue of 1000 samples may hold samples that the server has not processed yet
        assert!(accepted <= 20_000.0 * sent / (sent - 1_000.0).max(1.0), "{throughput:#}");
    }
}

#[test]
fn best_effort_loses_the_configured_share() {
    let scene = Scene::new();
    let outcome = scene.ddsmark(&[
        "characterize",
        "--driver",
        "sim",
        "--option",
        "sim.latency=100us",
        "--option",
        "sim.loss=50%",
        "--option",
        "sim.service=20us",
        "--qos",
        "best_effort",
        "--workload",
        "throughput",
        "--quick",
        "--runs",
        blocks_text(),
        "--no-reference",
        "--size",
        "64",
        "--json",
        "--out",
        "result",
    ]);
    outcome.assert_status(0);
    let throughput = &outcome.document()["cells"][0]["throughput"];
    let [sent, lost] = ["sent", "lost"].map(|name| count(&throughput[name]));
    // five standard deviations of a binomial count
    let allowed = 2.5 * (sent as f64).sqrt();
    assert!((lost as f64 - sent as f64 / 2.0).abs() <= allowed, "{throughput:#}");
}

#[test]
fn sim_is_not_measured_unless_named() {
    let scene = Scene::new();
    let built = scene.ddsmark(&["drivers", "list"]);
    built.assert_status(0);
    assert!(built.stdout.contains("sim"), "{}", built.stdout);
    let outcome = scene.ddsmark(&[
        "characterize",
        "--quick",
        "--runs",
        blocks_text(),
        "--no-reference",
        "--size",
        "64",
        "--json",
        "--out",
        "result",
    ]);
    outcome.assert_status(0);
    let document = outcome.document();
    let drivers: Vec<_> = document["drivers"].as_object().expect("drivers").keys().cloned().collect();
    assert!(drivers.contains(&"udp".to_owned()) && !drivers.contains(&"sim".to_owned()), "{drivers:?}");
}

#[test]
fn readme_of_sim_names_every_option() {
    let manual = fs::read_to_string(root().join("drivers/sim/README.md")).expect("the manual");
    let scene = Scene::new();
    let outcome = scene.ddsmark(&["drivers", "info", "sim"]);
    outcome.assert_status(0);
    for option in [
        "latency",
        "modes",
        "bandwidth",
        "service",
        "queue",
        "full",
        "loss",
        "fragment",
        "retransmit",
        "duplicate",
        "reorder",
        "hold",
        "drift",
        "stall",
        "warmup",
        "qos",
        "seed",
    ] {
        assert!(outcome.stdout.contains(option), "{option}: {}", outcome.stdout);
        assert!(manual.contains(&format!("| `{option}` |")), "{option} is not in the manual");
    }
    assert!(outcome.stdout.contains("simulated"), "{}", outcome.stdout);
}
