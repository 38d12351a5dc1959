//! One of several endpoints is killed during the measurement: it is named, and the values of the others stand.

use std::fs;

use serde_json::Value;

use crate::support::{Scene, count, list, programs, runs, text};

/// Measures while an endpoint is killed, in a network namespace of its own with `multicast`. Returns the run.
fn killed(
    scene: &Scene,
    command: &str,
    driver: &str,
    endpoint: &str,
    more: &[&str],
    multicast: bool,
) -> Value {
    let name = format!("{command}-{driver}-{endpoint}");
    let kills = scene.path(&format!("{name}-kills"));
    fs::create_dir(&kills).expect("a directory");
    // After 400 of 1,000 ms: on a busy host another serving endpoint begins to measure up to 100 ms later than the one that is
    // killed, and a run whose endpoints have not all begun has no values.
    fs::write(kills.join("plan"), format!("{driver} {endpoint} 0 measure 400000 agent\n")).expect("a file");
    let agent = programs().join("killing-agent");
    let variables = [("DDSMARK_KILLS", kills.as_os_str()), ("DDSMARK_AGENT", agent.as_os_str())];
    let words = [command, "--driver", driver, "--size", "256", "--runs", "1", "--json", "--out", &name];
    let brief = ["--duration", "1s", "--no-reference", "--set", "design.noise_probe=false"];
    let rate = if command == "load" { &["--rate", "2000"][..] } else { &[] };
    let words = [&words[..], &brief, rate, more].concat();
    let outcome = if multicast {
        let script = "ip link set lo up; exec ddsmark \"$@\"";
        let within = ["--map-root-user", "--net", "sh", "-ec", script, "sh"];
        scene.start_with(&variables, "unshare", &[&within[..], &words, &["--multicast"]].concat()).end()
    } else {
        scene.start_with(&variables, "ddsmark", &words).end()
    };
    outcome.assert_status(3);
    runs(&outcome.document())[0].clone()
}

/// Asserts that the run names the endpoint, and has the values of the others only. Returns its flows: writer, reader, sent
/// and delivered samples.
fn named(run: &Value, endpoint: &str) -> Vec<(String, String, u64, u64)> {
    assert_eq!(run["state"], "failed", "{run:#}");
    assert_eq!(text(&run["failure"], "endpoint"), endpoint, "{run:#}");
    assert!(text(&run["failure"], "error").contains("killed by signal 9"), "{run:#}");
    assert!(list(&run["endpoints"]).iter().all(|of| of["id"] != *endpoint), "{run:#}");
    let warnings = list(&run["warnings"]);
    let expected = format!("{endpoint} ended during the measurement: all values are of the other");
    assert!(warnings.iter().any(|warning| text(warning, "text").starts_with(&expected)), "{run:#}");
    // Nothing contradicts among the values that remain.
    assert!(warnings.iter().all(|warning| warning["kind"] != "runs_invalid"), "{run:#}");
    let flows: Vec<_> = list(&run["flows"])
        .iter()
        .map(|flow| {
            let counted = &flow["counted"];
            let [sent, delivered] = ["sent", "delivered"].map(|name| count(&counted[name]));
            (text(flow, "writer").to_owned(), text(flow, "reader").to_owned(), sent, delivered)
        })
        .collect();
    assert!(!flows.is_empty(), "{run:#}");
    assert!(flows.iter().all(|(writer, reader, ..)| writer != endpoint && reader != endpoint), "{run:#}");
    flows
}

#[test]
fn killed_reader_is_named_and_the_values_of_the_others_stand() {
    let scene = Scene::new();
    for (command, topology, driver, others) in [
        ("throughput", "1-3", "cyclonedds", 2),
        ("load", "2-2", "fastdds", 2),
        ("latency", "1-3", "udp", 2),
        ("load", "2-3", "tcp", 4),
        ("load", "2-3", "shm", 4),
    ] {
        let run = killed(&scene, command, driver, "reader-1", &["--topology", topology], false);
        let flows = named(&run, "reader-1");
        assert_eq!(flows.len(), others, "{driver}: {run:#}");
        for (writer, reader, sent, delivered) in flows {
            assert!(sent > 0 && sent == delivered, "{driver}: {writer} to {reader}: {run:#}");
        }
    }
}

/// In a network namespace of its own, because multicast needs an interface that allows it.
#[test]
fn killed_reader_of_a_multicast_leaves_the_others_their_samples() {
    let scene = Scene::new();
    for driver in ["udp", "cyclonedds", "fastdds"] {
        let run = killed(&scene, "load", driver, "reader-2", &["--topology", "1-3"], true);
        let flows = named(&run, "reader-2");
        assert_eq!(flows.len(), 2, "{driver}: {run:#}");
        for (writer, reader, sent, delivered) in flows {
            assert!(sent > 0 && delivered * 10 >= sent * 9, "{driver}: {writer} to {reader}: {run:#}");
        }
    }
}

#[test]
fn killed_writer_of_several_leaves_the_others_their_flows() {
    let scene = Scene::new();
    for (command, topology, driver, endpoint, flows_left) in [
        ("throughput", "3-1", "cyclonedds", "writer-1", 2),
        ("load", "3-1", "tcp", "writer-2", 2),
        ("throughput", "3-1", "shm", "writer-2", 2),
        ("load", "2-2", "fastdds", "writer-1", 2),
        ("load", "2-2", "cyclonedds", "writer-2", 2),
    ] {
        let run = killed(&scene, command, driver, endpoint, &["--topology", topology], false);
        let flows = named(&run, endpoint);
        assert_eq!(flows.len(), flows_left, "{driver}: {run:#}");
        for (writer, reader, sent, delivered) in flows {
            assert!(sent > 0 && sent == delivered, "{driver}: {writer} to {reader}: {run:#}");
        }
        assert!(run["measured"]["throughput"].is_object(), "{driver}: {run:#}");
    }
}

#[test]
fn killed_echo_of_several_leaves_the_others_their_round_trips() {
    let scene = Scene::new();
    for (driver, endpoint) in [("cyclonedds", "echo-1"), ("udp", "echo-3")] {
        let run =
            killed(&scene, "latency", driver, endpoint, &["--topology", "1-3", "--all-readers-echo"], false);
        let flows = named(&run, endpoint);
        assert_eq!(flows.len(), 2, "{driver}: {run:#}");
        for ((_, reader, sent, delivered), flow) in flows.iter().zip(list(&run["flows"])) {
            assert!(*sent > 0 && sent == delivered, "{driver}: {reader}: {run:#}");
            assert_eq!(count(&flow["latency"]["rtt"]["n"]), *delivered, "{driver}: {reader}: {run:#}");
        }
    }
}

#[test]
fn last_writer_reader_or_echo_cannot_be_missed() {
    let scene = Scene::new();
    for (command, topology, endpoint) in
        [("throughput", "1-2", "writer"), ("throughput", "2-1", "reader"), ("latency", "1-2", "echo")]
    {
        let run = killed(&scene, command, "udp", endpoint, &["--topology", topology], false);
        assert_eq!(run["state"], "failed", "{run:#}");
        assert_eq!(text(&run["failure"], "endpoint"), endpoint, "{run:#}");
        assert!(list(&run["flows"]).is_empty(), "{run:#}");
    }
}
