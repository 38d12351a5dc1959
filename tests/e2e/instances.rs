//! Keyed types with real middleware: samples of many instances keep their keys, and all arrive.

use serde_json::Value;

use crate::support::{Scene, count, list, runs};

/// Measures cells once, and returns the result.
fn measure(scene: &Scene, command: &str, more: &[&str]) -> Value {
    let words = [command, "--size", "64", "--runs", "1", "--duration", "300ms", "--no-reference", "--json"];
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
                    for (entity, qos) in endpoint["effective_qos"].as_object().expect("entities") {
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
    for driver in ["udp", "tcp", "sim"] {
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
