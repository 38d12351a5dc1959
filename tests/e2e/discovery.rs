//! Discovery of several participants, with real processes and real middleware.

use serde_json::Value;

use crate::support::{Scene, count, list, runs, text};

/// Measures discovery once, and returns the result.
fn measure(scene: &Scene, more: &[&str]) -> Value {
    let words = [
        "discovery",
        "--runs",
        "1",
        "--warm-up",
        "200ms",
        "--duration",
        "500ms",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
    ];
    let outcome = scene.ddsmark(&[&words[..], more].concat());
    outcome.assert_status(0);
    outcome.document()
}

#[test]
fn each_entity_is_matched_with_one_of_every_participant() {
    let scene = Scene::new();
    for driver in ["cyclonedds", "fastdds"] {
        let document = measure(
            &scene,
            &["--driver", driver, "--participants", "4", "--endpoints", "2", "--join", "together,late"],
        );
        let runs = runs(&document);
        assert_eq!(runs.len(), 2, "{driver}");
        for run in runs {
            assert_eq!(run["state"], "valid", "{driver}: {run:#}");
            let discovery = &run["measured"]["discovery"];
            let all = count(&discovery["all_matched_ns"]);
            let participants = list(&discovery["participants"]);
            assert_eq!(participants.len(), 4, "{driver}: {run:#}");
            let is_late = text(run, "cell").contains("/late/");
            let mut latest = 0;
            for (index, participant) in participants.iter().enumerate() {
                let matched = count(&participant["matched_ns"]);
                let joins = !is_late || index == 3;
                let lag = participant["start_lag_ns"].as_i64().expect("a number");
                assert_eq!(lag >= 0, joins, "{driver}: {participant:#}");
                let opened = count(&participant["participant_ns"]);
                assert!(opened > 0, "{driver}: {participant:#}");
                if joins {
                    assert!(matched > opened, "matched before it was open: {driver}: {participant:#}");
                }
                let entities = list(&participant["entities"]);
                assert_eq!(entities.len(), 4, "{driver}: {participant:#}");
                for entity in entities {
                    assert_eq!(count(&entity["peers"]), 4, "{driver}: {participant:#}");
                    assert!(count(&entity["matched_ns"]) <= matched, "{driver}: {participant:#}");
                }
                let memory =
                    ["memory_before_bytes", "memory_matched_bytes"].map(|name| count(&participant[name]));
                assert!(memory[0] < memory[1], "{driver}: {participant:#}");
                latest = latest.max(matched);
            }
            assert_eq!(all, latest, "{driver}: {run:#}");
            assert!(text(discovery, "slowest").starts_with("participant-"), "{driver}: {run:#}");
            assert!(count(&discovery["until_matched"]["tx_packets"]) > 0, "{driver}: {run:#}");
            assert!(count(&discovery["idle_ns"]) >= 500_000_000, "{driver}: {run:#}");
            assert_eq!(count(&discovery["changed_later"]), 0, "{driver}: {run:#}");
        }
    }
}

#[test]
fn participants_of_one_process_have_their_own_matches_and_share_its_memory() {
    let scene = Scene::new();
    for driver in ["cyclonedds", "fastdds"] {
        let arguments = ["--driver", driver, "--participants", "8", "--participants-per-process", "4"];
        let _ = std::fs::remove_dir_all(scene.path("result"));
        let more = ["--join", "together,late", "--out", "result"];
        let document = measure(&scene, &[&arguments[..], &more].concat());
        let runs = runs(&document);
        assert_eq!(runs.len(), 2, "{driver}");
        for run in runs {
            assert_eq!(run["state"], "valid", "{driver}: {run:#}");
            let processes = list(&run["processes"]);
            assert_eq!(processes.len(), 2, "{driver}: {run:#}");
            assert_ne!(processes[0]["pid"], processes[1]["pid"], "{driver}: {run:#}");
            assert!(
                processes.iter().all(|process| list(&process["endpoints"]).len() == 4),
                "{driver}: {run:#}"
            );
            let discovery = &run["measured"]["discovery"];
            let participants = list(&discovery["participants"]);
            assert_eq!(participants.len(), 8, "{driver}: {run:#}");
            for participant in participants {
                for entity in list(&participant["entities"]) {
                    assert_eq!(count(&entity["peers"]), 8, "{driver}: {run:#}");
                    assert!(count(&entity["matched_ns"]) > 0, "{driver}: {run:#}");
                }
            }
            // Each process grew once, by all of its participants.
            let grown: u64 = participants
                .chunks(4)
                .map(|process| {
                    let all = |name: &str| -> Vec<u64> {
                        process.iter().map(|participant| count(&participant[name])).collect()
                    };
                    let before = all("memory_before_bytes").into_iter().min().expect("a reading");
                    all("memory_matched_bytes").into_iter().max().expect("a reading") - before
                })
                .sum();
            assert_eq!(count(&discovery["memory_per_participant_bytes"]), grown / 8, "{driver}: {run:#}");
            let idle: u64 = processes
                .iter()
                .map(|process| count(&process["usage"]["user_ns"]) + count(&process["usage"]["system_ns"]))
                .sum();
            assert_eq!(count(&discovery["idle_cpu_ns"]), idle, "{driver}: {run:#}");
        }
        let report = scene.ddsmark(&["report", "result", "--full"]);
        report.assert_status(0);
        let stdout = &report.stdout;
        assert!(stdout.contains("topology full-mesh-8, 4 participants per process, "), "{driver}: {stdout}");
        assert!(stdout.contains("full-mesh-8, 4 participants per process  "), "{driver}: {stdout}");
    }
}

#[test]
fn participants_of_two_middlewares_find_each_other() {
    let scene = Scene::new();
    let document = measure(&scene, &["--driver", "cyclonedds+fastdds", "--participants", "3"]);
    let run = &runs(&document)[0];
    assert_eq!(run["state"], "valid", "{run:#}");
    let drivers: Vec<&str> =
        list(&run["endpoints"]).iter().map(|endpoint| text(endpoint, "driver")).collect();
    assert_eq!(drivers, ["cyclonedds", "fastdds", "cyclonedds"]);
    for participant in list(&run["measured"]["discovery"]["participants"]) {
        for entity in list(&participant["entities"]) {
            assert_eq!(count(&entity["peers"]), 3, "{run:#}");
        }
    }
}

#[test]
fn what_cannot_be_discovered_is_rejected() {
    let scene = Scene::new();
    for (arguments, error) in [
        (&["discovery", "--driver", "udp"][..], "driver `udp` has no discovery"),
        (&["discovery", "--driver", "tcp"], "driver `tcp` has no discovery"),
        (&["discovery", "--driver", "sim"], "driver `sim` has no discovery"),
        (&["discovery", "--driver", "cyclonedds", "--participants", "1"], "full-mesh-N"),
        (&["discovery", "--driver", "cyclonedds", "--topology", "1-3"], "needs a number of participants"),
        (&["discovery", "--driver", "cyclonedds", "--topology", "20"], "hint: use `--participants 20`"),
        (&["discovery", "--driver", "cyclonedds", "--endpoints", "101"], "is out of range"),
        (&["latency", "--driver", "cyclonedds", "--topology", "full-mesh-3"], "full-mesh-3"),
        (
            &["latency", "--driver", "cyclonedds", "--join", "late"],
            "no effect without a stream or participants to join",
        ),
        (&["throughput", "--driver", "cyclonedds", "--endpoints", "2"], "workload `discovery` only"),
        (
            &[
                "discovery",
                "--driver",
                "cyclonedds",
                "--participants",
                "4,6",
                "--participants-per-process",
                "4",
            ],
            "the 6 participants of `topology = \"full-mesh-6\"` cannot be divided into processes of 4",
        ),
        (
            &[
                "discovery",
                "--driver",
                "cyclonedds+fastdds",
                "--participants",
                "4",
                "--participants-per-process",
                "4",
            ],
            "a process has one driver",
        ),
        (
            &["throughput", "--driver", "udp", "--writers", "3", "--writers-per-process", "2"],
            "the 3 writers of `topology = \"3-1\"` cannot be divided into processes of 2",
        ),
        (&["latency", "--driver", "udp", "--writers-per-process", "2"], "`throughput` and `paced` only"),
        (&["throughput", "--driver", "udp", "--participants-per-process", "2"], "workload `discovery` only"),
    ] {
        let outcome = scene.ddsmark(arguments);
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(error), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("[1/"), "{arguments:?}: {}", outcome.stderr);
    }
}

/// Three hosts of a lab count their own traffic. Needs root.
#[test]
fn traffic_of_several_hosts_is_that_of_all() {
    testbed::needs_root();
    let scene = Scene::new();
    for driver in ["cyclonedds", "fastdds"] {
        let flags = ["--participants", "3", "--endpoints", "2", "--host", "lab:3,delay=5ms"];
        let document = measure(&scene, &[&["--driver", driver], &flags[..]].concat());
        let [run] = runs(&document)[..] else { panic!("{driver}: one run") };
        assert_eq!(run["state"], "valid", "{driver}: {run:#}");
        let endpoints = list(&run["endpoints"]);
        let hosts: Vec<&str> = endpoints.iter().map(|endpoint| text(endpoint, "host")).collect();
        assert_eq!(hosts, ["h1", "h2", "h3"], "{driver}: {run:#}");
        let discovery = &run["measured"]["discovery"];
        // A message of each host has to reach the others.
        assert!(count(&discovery["all_matched_ns"]) >= 5_000_000, "{driver}: {run:#}");
        assert!(count(&discovery["until_matched"]["tx_packets"]) >= 3, "{driver}: {run:#}");
        for counter in ["tx_packets", "tx_bytes", "rx_packets", "rx_bytes"] {
            let own: Vec<u64> =
                endpoints.iter().map(|endpoint| count(&endpoint["interface"][counter])).collect();
            assert_eq!(count(&discovery["idle"][counter]), own.iter().sum::<u64>(), "{driver}: {own:?}");
        }
    }
}
