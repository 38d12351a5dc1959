//! A reader that joins while the writers write: what it gets, what it does not, and what it costs the others.

use serde_json::Value;

use crate::support::{Scene, count, list, number, runs, text};

/// Measures with a late reader, and returns the only run.
fn measure(scene: &Scene, command: &str, more: &[&str]) -> Value {
    let words = [
        command,
        "--size",
        "256",
        "--runs",
        "1",
        "--duration",
        "1500ms",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
        "--join",
        "late",
    ];
    let outcome = scene.ddsmark(&[&words[..], more].concat());
    outcome.assert_status(0);
    let run = runs(&outcome.document())[0].clone();
    assert_eq!(run["state"], "valid", "{run:#}");
    run
}

/// Asserts that each accepted sample was written before the join, delivered, lost or under way, and that all other values
/// are those of the other readers. Returns the late join.
fn reconciled<'r>(run: &'r Value, reader: &str) -> &'r Value {
    let join = &run["late_join"];
    assert_eq!(join["reader"], *reader, "{run:#}");
    for flow in list(&join["flows"]) {
        let counted = &flow["counted"];
        let of_writer = list(&run["flows"]).iter().find(|other| other["writer"] == flow["writer"]);
        let accepted = count(&of_writer.expect("another reader")["counted"]["sent"]);
        let [sent, delivered, lost, undelivered] =
            ["sent", "delivered", "lost", "undelivered"].map(|name| count(&counted[name]));
        assert_eq!(count(&flow["before"]) + sent, accepted, "{run:#}");
        assert_eq!(delivered + lost + undelivered, sent, "{run:#}");
        assert!(count(&flow["before"]) > 0 && sent > 0 && delivered > 0, "{run:#}");
        assert!(count(&flow["before_delivered"]) <= count(&flow["before"]), "{run:#}");
    }
    assert!(list(&run["flows"]).iter().all(|flow| text(flow, "reader") != reader), "{run:#}");
    assert!(list(&run["endpoints"]).iter().any(|endpoint| text(endpoint, "id") == reader), "{run:#}");
    for cost in list(&join["others"]) {
        assert!(list(&cost["delivered_sps"]).iter().all(|rate| number(rate) > 0.0), "{run:#}");
        assert!(list(&cost["longest_gap_ns"]).iter().all(|gap| count(gap) > 0), "{run:#}");
    }
    let times = ["opened_ns", "joined_ns", "first_sample_ns"].map(|name| count(&join[name]));
    assert!(times.iter().all(|ns| *ns > 0), "{run:#}");
    join
}

#[test]
fn late_reader_of_a_paced_stream_misses_the_past_and_nothing_since() {
    let scene = Scene::new();
    for (driver, topology) in [("udp", "1-3"), ("tcp", "2-2"), ("cyclonedds", "2-3")] {
        let run = measure(&scene, "load", &["--driver", driver, "--topology", topology, "--rate", "2000"]);
        let join = reconciled(&run, &format!("reader-{}", &topology[2..]));
        let (writers, others) =
            if topology == "1-3" { (1, 2) } else { (2, if driver == "tcp" { 1 } else { 2 }) };
        assert_eq!(list(&join["flows"]).len(), writers, "{driver}: {run:#}");
        assert_eq!(list(&join["others"]).len(), writers * others, "{driver}: {run:#}");
        for flow in list(&join["flows"]) {
            // Nothing is kept for it: it can only get what was written while it joined.
            assert!(count(&flow["before_delivered"]) * 2 < count(&flow["before"]), "{driver}: {run:#}");
            assert_eq!(flow["warm_up_delivered"], 0, "{driver}: {run:#}");
            if driver == "tcp" {
                assert_eq!(flow["counted"]["lost"], 0, "{driver}: {run:#}");
            }
        }
        for cost in list(&join["others"]) {
            assert!(list(&cost["service_p99_ns"]).iter().all(|ns| number(ns) > 0.0), "{driver}: {run:#}");
        }
    }
}

#[test]
fn late_reader_of_a_pipelined_ring_reconciles() {
    let scene = Scene::new();
    for driver in ["udp", "tcp", "shm", "cyclonedds"] {
        let run = measure(&scene, "throughput", &["--driver", driver, "--topology", "1-2"]);
        reconciled(&run, "reader-2");
    }
}

#[test]
fn late_reader_is_served_what_its_writers_keep() {
    let scene = Scene::new();
    // 100 samples are a third of a second, longer than a busy host interrupts a reader.
    let qos = "reliable,transient_local,keep_last=100";
    let run = measure(
        &scene,
        "load",
        &["--driver", "cyclonedds", "--topology", "1-2", "--rate", "300", "--qos", qos],
    );
    let join = reconciled(&run, "reader-2");
    let flow = &list(&join["flows"])[0];
    // The last 100 before it matched, and what was written until both sides had.
    let served = count(&flow["before_delivered"]);
    assert!((50..500).contains(&served), "{run:#}");
    assert!(count(&join["caught_up_ns"]) >= count(&join["first_sample_ns"]), "{run:#}");
    assert_eq!(flow["counted"]["lost"], 0, "{run:#}");
}

#[test]
fn report_names_the_late_reader() {
    let scene = Scene::new();
    let outcome = scene.ddsmark(&[
        "load",
        "--driver",
        "udp",
        "--topology",
        "1-2",
        "--join",
        "late",
        "--rate",
        "1000",
        "--size",
        "64",
        "--runs",
        "1",
        "--duration",
        "900ms",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--out",
        "result",
    ]);
    outcome.assert_status(0);
    let full = scene.ddsmark(&["report", "result", "--full"]);
    full.assert_status(0);
    assert!(full.stdout.contains("Late join: ") && full.stdout.contains("reader-2"), "{}", full.stdout);
}

#[test]
fn late_join_without_a_second_reader_is_rejected_before_the_first_packet() {
    let scene = Scene::new();
    for (arguments, error) in [
        (&["throughput"][..], "needs a second reader"),
        (&["load", "--topology", "3-1"], "needs a second reader"),
        (&["latency", "--topology", "1-3"], "has no effect without a stream"),
        (&["latency", "--topology", "ring-3"], "has no effect without a stream"),
        (&["search"], "has no effect without a stream"),
    ] {
        let more = ["--driver", "udp", "--size", "64", "--join", "late"];
        let outcome = scene.ddsmark(&[arguments, &more].concat());
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(error), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("hint:") && !outcome.stderr.contains("[1/"), "{}", outcome.stderr);
    }
}
