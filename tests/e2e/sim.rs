//! Simulated middleware, in real time: the measurements match the configuration, as far as the host allows.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, blocks_text, count, list, number, root, runs},
};

const LATENCY_NS: u64 = 2_000_000;

#[test]
fn measured_values_equal_the_configured_model() {
    on_quiet_host(|| {
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
            "--set",
            "design.noise_probe=false",
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
            let throughput = &run["measured"]["throughput"];
            let [sent, accepted] =
                [count(&throughput["sent"]) as f64, throughput["accepted_sps"].as_f64().expect("a rate")];
            // the queue of 1000 samples may hold samples that the server has not processed yet
            assert!(accepted <= 20_000.0 * sent / (sent - 1_000.0).max(1.0), "{throughput:#}");
        }
    });
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
        "--set",
        "design.noise_probe=false",
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

/// Measures a topology of the simulated middleware once, and returns the run.
fn run_of(scene: &Scene, command: &str, more: &[&str]) -> Value {
    let words = [command, "--driver", "sim", "--size", "64", "--runs", "1", "--duration", "300ms"];
    let outcome = scene.ddsmark(
        &[&words[..], &["--no-reference", "--set", "design.noise_probe=false", "--json"], more].concat(),
    );
    outcome.assert_status(0);
    let run = runs(&outcome.document())[0].clone();
    assert_eq!(run["state"], "valid", "{more:?}: {run:#}");
    run
}

#[test]
fn sim_has_the_truth_of_each_reader() {
    let scene = Scene::new();
    let mut options =
        vec!["--option", "sim.loss=50%", "--option", "sim.service=100us", "--qos", "best_effort"];
    options.extend(["--option", "sim.queue=10"]);
    for (topology, writers, readers) in [("1-3", 1.0, 3.0), ("3-1", 3.0, 1.0), ("2-2", 2.0, 2.0)] {
        let run = run_of(&scene, "throughput", &[&options[..], &["--topology", topology]].concat());
        let flows = list(&run["flows"]);
        assert_eq!(flows.len() as f64, writers * readers, "{run:#}");
        for flow in flows {
            let [sent, lost] = ["sent", "lost"].map(|name| count(&flow["counted"][name]) as f64);
            // six standard deviations of a binomial count
            assert!(sent > 0.0 && (lost - sent / 2.0).abs() <= 3.0 * sent.sqrt(), "{topology}: {run:#}");
        }
        // The server of each writer moves one copy for each reader, in 100 us. Its queue may hold samples that it has not
        // moved yet.
        let throughput = &run["measured"]["throughput"];
        let sent = count(&throughput["sent"]) as f64 / readers;
        let most = writers * 10_000.0 / readers * sent / (sent - 11.0 * writers).max(1.0);
        assert!(number(&throughput["accepted_sps"]) <= most, "{topology}: {run:#}");
    }
    // Each echo has its copy of the ping, and the last one the most service times before it.
    let service = ["--option", "sim.latency=2ms", "--option", "sim.service=1ms", "--readers", "3"];
    let run = run_of(&scene, "latency", &[&service[..], &["--all-readers-echo"]].concat());
    for (flow, copies) in list(&run["flows"]).iter().zip(1..) {
        let least = 2 * LATENCY_NS + (copies + 1) * 1_000_000;
        assert!(count(&flow["latency"]["rtt"]["min_ns"]) >= least, "{copies}: {run:#}");
    }
    assert!(count(&run["latency"]["rtt_last"]["min_ns"]) >= 2 * LATENCY_NS + 4_000_000, "{run:#}");
    let ring = run_of(&scene, "latency", &["--option", "sim.latency=2ms", "--topology", "ring-3"]);
    assert!(count(&ring["latency"]["rtt"]["min_ns"]) >= 3 * LATENCY_NS, "{ring:#}");
    for hop in ["hop_1", "hop_2", "hop_3"] {
        assert!(count(&ring["latency"][hop]["min_ns"]) >= LATENCY_NS, "{hop}: {ring:#}");
    }
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
        "--set",
        "design.noise_probe=false",
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
