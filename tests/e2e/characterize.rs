//! `characterize`, with both drivers.

use serde_json::Value;

use crate::support::{Scene, count, list, text};

const LATENCY_KINDS: [&str; 3] = ["rtt", "one_way_out", "one_way_back"];

#[test]
fn characterize_measures_both_drivers_and_every_sample_reconciles() {
    let scene = Scene::new();
    let out = scene.path("result");
    let outcome = scene.ddsmark(&[
        "characterize",
        "--driver",
        "udp",
        "--driver",
        "cyclonedds",
        "--quick",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--size",
        "64",
        "--size",
        "1024",
        "--json",
        "--out",
        out.to_str().expect("a path"),
    ]);
    outcome.assert_status(0);
    let document = outcome.document();

    assert_eq!(document["state"], "complete");
    assert_eq!(document["tool"]["name"], "ddsmark");
    // per driver and size: latency, throughput, throughput batched
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 2 * 2 * 3);
    for cell in cells {
        let runs = list(&cell["runs"]);
        assert_eq!(runs.len(), 3, "{}", cell["id"]);
        for run in runs {
            assert_eq!(run["state"], "valid", "{run:#}");
            check_run(run, cell);
        }
        check_qos(cell);
        match text(&cell["factors"], "workload") {
            "latency" => check_latency(cell),
            _ => check_throughput(cell),
        }
    }
    // the same result, read from the directory
    let again = scene.ddsmark(&["report", "result", "--json"]);
    again.assert_status(0);
    assert_eq!(again.document()["cells"], document["cells"]);
    assert_eq!(again.document()["findings"], document["findings"]);
    let tables = scene.ddsmark(&["report", "result", "--full"]);
    tables.assert_status(0);
    for word in ["udp", "cyclonedds", "RTT", "Samples/s", "Lost"] {
        assert!(tables.stdout.contains(word), "`{word}` is not in\n{}", tables.stdout);
    }
    // a crash leaves no stored findings
    std::fs::remove_file(out.join("result.json")).expect("a result");
    let left = scene.ddsmark(&["report", "result", "--json"]);
    left.assert_status(0);
    assert_eq!(left.document()["findings"], document["findings"]);
    assert!(!list(&document["findings"]).is_empty(), "one driver guarantees delivery, the other does not");
}

/// Checks what must hold of every valid run.
fn check_run(run: &Value, cell: &Value) {
    let flows = list(&run["flows"]);
    assert!(!flows.is_empty(), "{run:#}");
    for flow in flows {
        let counted = &flow["counted"];
        let [delivered, lost, undelivered] =
            ["delivered", "lost", "undelivered"].map(|name| count(&counted[name]));
        assert!(delivered > 0, "{run:#}");
        for name in ["corrupt", "foreign"] {
            assert_eq!(counted[name], 0, "{name}: {run:#}");
        }
        if text(&cell["factors"], "driver") == "cyclonedds" {
            assert_eq!((lost, undelivered), (0, 0), "{run:#}");
        }
    }
    assert_eq!(list(&run["endpoints"]).len(), 2);
    let agents = list(&run["processes"]);
    assert_eq!(agents.len(), 2);
    let pids = [count(&agents[0]["pid"]), count(&agents[1]["pid"])];
    assert_ne!(pids[0], pids[1]);
    for pid in pids {
        assert!(!std::path::Path::new(&format!("/proc/{pid}/task")).exists(), "agent {pid} is still there");
    }
    for agent in agents {
        let usage = &agent["usage"];
        assert!(count(&usage["user_ns"]) + count(&usage["system_ns"]) > 0, "{agent:#}");
    }
}

/// Checks that the effective QoS of writer and reader, read back, is the requested one.
fn check_qos(cell: &Value) {
    let reliability = match text(&cell["factors"], "driver") {
        "udp" => "best_effort",
        _ => "reliable",
    };
    for end in ["writer", "reader"] {
        let qos = &cell["effective_qos"][end];
        assert_eq!(qos["reliability"], reliability, "{cell:#}");
        let requested = cell["factors"]["qos"].as_object().expect("QoS");
        // Only writers block, and only readers of Cyclone DDS have limits.
        let has = |policy: &str| match policy {
            "max_blocking_ns" => end == "writer",
            "max_samples" => end == "reader" || text(&cell["factors"], "driver") != "cyclonedds",
            _ => true,
        };
        for (policy, value) in requested.iter().filter(|(policy, _)| has(policy)) {
            assert_eq!(&qos[policy], value, "`{policy}` of the {end}: {cell:#}");
        }
    }
}

fn check_latency(cell: &Value) {
    let kinds = cell["latency"].as_object().expect("latencies");
    for kind in LATENCY_KINDS {
        let latency = kinds.get(kind).unwrap_or_else(|| panic!("no `{kind}`: {cell:#}"));
        let n = count(&latency["n"]);
        let [min, p50, p90, max] =
            ["min_ns", "p50_ns", "p90_ns", "max_ns"].map(|name| latency[name].as_f64().unwrap());
        assert!(0.0 < min && min <= p50 && p50 <= p90 && p90 <= max, "{latency:#}");
        assert_eq!(latency["p99_9999_ns"].is_null(), n < 2_995_731, "{latency:#}");
        let parts: u64 = list(&cell["runs"]).iter().map(|run| count(&run["latency"][kind]["n"])).sum();
        assert_eq!(n, parts, "n is of all runs");
    }
    // an RTT is longer than each one-way latency
    assert!(kinds["rtt"]["min_ns"].as_u64() > kinds["one_way_out"]["min_ns"].as_u64(), "{cell:#}");
}

fn check_throughput(cell: &Value) {
    let throughput = &cell["throughput"];
    let number = |name: &str| throughput[name].as_f64().unwrap_or_else(|| panic!("`{name}`: {throughput}"));
    let size = count(&cell["factors"]["size_bytes"]) as f64;
    let goodput = number("delivered_sps") * size * 8.0 / 1e6;
    assert!((number("goodput_mbps") / goodput - 1.0).abs() < 0.01, "{throughput}");
    assert!(number("accepted_sps") <= number("offered_sps") * 1.000_001, "{throughput}");
    assert!(number("delivered_sps") <= number("accepted_sps") * 1.000_001, "{throughput}");
    assert!(count(&cell["latency"]["write_call"]["n"]) > 0, "{cell:#}");
    for end in ["writer", "reader"] {
        assert!(cell["cpu_ns_per_sample"][end].as_f64().is_some_and(|ns| ns > 0.0), "{cell:#}");
    }
}
