//! Keyed types with real middleware: samples of many instances keep their keys, and all arrive.

use serde_json::Value;

use crate::support::{Scene, count, list, runs};

/// Measures cells once, and returns the result.
fn measure(scene: &Scene, command: &str, more: &[&str]) -> Value {
    let words = [
        command,
        "--size",
        "64",
        "--runs",
        "1",
        "--duration",
        "300ms",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
    ];
    let outcome = scene.ddsmark(&[&words[..], more].concat());
    outcome.assert_status(0);
    outcome.document()
}

/// Checks that all samples of a run arrived with their keys, in order within each instance. Returns how many did.
fn check_delivery(run: &Value) -> u64 {
    assert_eq!(run["state"], "valid", "{run:#}");
    let delivered = list(&run["flows"]).iter().map(|flow| {
        let counted = &flow["counted"];
        for fault in ["corrupt", "foreign", "out_of_order", "lost", "duplicate"] {
            assert_eq!(count(&counted[fault]), 0, "{fault}: {run:#}");
        }
        assert_eq!(counted["sent"], counted["delivered"], "{run:#}");
        count(&counted["delivered"])
    });
    delivered.sum()
}

#[test]
fn samples_of_all_instances_arrive_in_every_workload() {
    let scene = Scene::new();
    for driver in ["cyclonedds", "fastdds"] {
        for (command, more) in
            [("latency", &[][..]), ("throughput", &["--topology", "1-2"]), ("load", &["--rate", "20000"])]
        {
            let arguments = [&["--driver", driver, "--instances", "0,1,100,10000"], more].concat();
            let document = measure(&scene, command, &arguments);
            let mut seen = Vec::new();
            for run in runs(&document) {
                let delivered = check_delivery(run);
                assert!(delivered > 0, "{driver} {command}: {run:#}");
                let cell = list(&document["cells"]).iter().find(|cell| cell["id"] == run["cell"]);
                let instances = cell.expect("the cell of the run")["factors"]["instances"].as_i64();
                seen.push(instances);
                // Requested and effective limits are equal, or the run would not be valid.
                for endpoint in list(&run["endpoints"]) {
                    let entities = endpoint["effective_qos"].as_object().expect("entities");
                    // Only readers of Cyclone DDS have limits.
                    let limited = |entity: &str| driver != "cyclonedds" || entity.starts_with("reader");
                    for (entity, qos) in entities.iter().filter(|(entity, _)| limited(entity)) {
                        if let Some(instances) = instances {
                            assert_eq!(qos["max_instances"], instances, "{driver} {entity}: {endpoint:#}");
                        }
                    }
                }
            }
            seen.sort_unstable();
            assert_eq!(seen, [None, Some(1), Some(100), Some(10_000)], "{driver} {command}");
        }
    }
}

#[test]
fn readers_receive_exactly_what_their_filter_includes() {
    let scene = Scene::new();
    let text = "question = \"?\"\nworkload = [\"throughput\", \"paced\"]\n[factors]\ndriver = \"cyclonedds\"\nsize = 64\n\
                rate = \"20000/s\"\ninstances = 10\ntopology = [\"1-1\", \"2-2\"]\nreceive = [\"waitset\", \"listener\"]\n\
                content_filter = [\"none\", \"key = 3\", \"key >= 2 AND key <= 5\"]\n\
                [design]\nblocks = 1\nwarm_up = \"50ms\"\nmeasure = \"200ms\"\ncheck_every = 1\n";
    std::fs::write(scene.path("filter.toml"), text).expect("a file");
    let outcome = scene.ddsmark(&[
        "run",
        "filter.toml",
        "--json",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
    ]);
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(
        runs(&document).len(),
        24,
        "of two workloads, topologies and receive modes, and three filters"
    );
    for run in runs(&document) {
        check_delivery(run);
        let cell = list(&document["cells"]).iter().find(|cell| cell["id"] == run["cell"]).expect("a cell");
        let filter = &cell["factors"]["content_filter"];
        let [first, last] = ["first", "last"].map(|end| filter[end].as_u64());
        let includes = |key: u64| first.is_none_or(|first| (first..=last.expect("an end")).contains(&key));
        for flow in list(&run["flows"]) {
            let [sent, filtered] =
                ["sent", "filtered"].map(|name| flow["counted"][name].as_u64().unwrap_or(0));
            let all = sent + filtered;
            assert!(all > 100 && (filtered > 0) == first.is_some(), "{run:#}");
            assert_eq!(sent, (0..all).filter(|sample| includes(sample % 10)).count() as u64, "{run:#}");
        }
        for reader in list(&run["endpoints"]).iter().filter(|endpoint| endpoint["role"] == "reader") {
            let effective = reader["settings"]["reader"]["content_filter"].as_str().map(ToOwned::to_owned);
            let requested = first.zip(last).map(|(first, last)| format!("key BETWEEN {first} AND {last}"));
            assert_eq!(effective, requested, "{reader:#}");
        }
    }
}

#[test]
fn filter_without_effect_is_rejected_before_the_first_packet() {
    let scene = Scene::new();
    for (driver, more, words) in [
        ("fastdds", &["--instances", "10"][..], "driver `fastdds` has no content filter"),
        ("cyclonedds", &[], "`content_filter` needs samples with keys"),
        ("cyclonedds", &["--instances", "3"], "`key = 3` includes no key of 3 instances"),
        (
            "cyclonedds",
            &["--instances", "10", "--topology", "1-2", "--join", "late"],
            "is not supported with `join = \"late\"`",
        ),
        (
            "cyclonedds",
            &["--instances", "10", "--set", "design.probe_every=200"],
            "echo probes are not supported",
        ),
    ] {
        let start = ["throughput", "--driver", driver, "--content-filter", "key = 3", "--runs", "1"];
        let outcome = scene.ddsmark(&[&start[..], more].concat());
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(words), "{more:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("hint: "), "{more:?}: {}", outcome.stderr);
    }
}

#[test]
fn drivers_of_a_pair_agree_on_the_keys() {
    let scene = Scene::new();
    for driver in ["cyclonedds+fastdds", "fastdds+cyclonedds"] {
        let document = measure(&scene, "throughput", &["--driver", driver, "--instances", "100"]);
        assert!(check_delivery(runs(&document)[0]) > 0, "{driver}");
    }
}

#[test]
fn driver_without_a_keyed_type_is_rejected_before_the_first_packet() {
    let scene = Scene::new();
    for driver in ["udp", "tcp", "shm", "sim"] {
        let outcome = scene.ddsmark(&["latency", "--driver", driver, "--instances", "100", "--runs", "1"]);
        outcome.assert_status(2);
        assert!(outcome.stderr.contains("has no keyed type"), "{driver}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("hint: "), "{driver}: {}", outcome.stderr);
    }
    // Not every transport of a middleware carries keys: the driver itself rejects it.
    let arguments =
        ["latency", "--driver", "fastdds", "--transport", "data_sharing", "--instances", "1", "--runs", "1"];
    let outcome = scene.ddsmark(&arguments);
    outcome.assert_status(2);
    assert!(
        outcome.stderr.contains("keyed samples are not supported over `data_sharing`"),
        "{}",
        outcome.stderr
    );
}
