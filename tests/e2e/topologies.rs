//! Several writers and readers: fan-out, fan-in and mesh, with real processes and real middleware.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, changed_driver, count, list, number, runs, text},
};

/// Measures a topology once, and returns the result.
fn measure(scene: &Scene, command: &str, more: &[&str]) -> Value {
    let words = [
        command,
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
    let outcome = scene.ddsmark(&[&words[..], more].concat());
    outcome.assert_status(0);
    outcome.document()
}

/// Returns writer, reader, sent and delivered samples of each flow.
fn flows(run: &Value) -> Vec<(String, String, u64, u64)> {
    let flow = |flow: &Value| {
        let counted = &flow["counted"];
        assert_eq!((&counted["corrupt"], &counted["foreign"]), (&0.into(), &0.into()), "{run:#}");
        let [sent, delivered] = ["sent", "delivered"].map(|name| count(&counted[name]));
        (text(flow, "writer").to_owned(), text(flow, "reader").to_owned(), sent, delivered)
    };
    list(&run["flows"]).iter().map(flow).collect()
}

fn ids(run: &Value) -> Vec<&str> {
    list(&run["endpoints"]).iter().map(|endpoint| text(endpoint, "id")).collect()
}

#[test]
fn every_reader_receives_the_samples_of_every_writer() {
    let scene = Scene::new();
    for driver in ["cyclonedds", "fastdds", "tcp"] {
        let document = measure(&scene, "throughput", &["--driver", driver, "--topology", "1-3,3-1,2-2"]);
        let runs = runs(&document);
        assert_eq!(runs.len(), 3, "{driver}");
        for run in runs {
            assert_eq!(run["state"], "valid", "{driver}: {run:#}");
            let (writers, readers) = match list(&run["flows"]).len() {
                3 if ids(run)[0] == "writer" => (1, 3),
                3 => (3, 1),
                4 => (2, 2),
                other => panic!("{driver}: {other} flows"),
            };
            assert_eq!(ids(run).len(), writers + readers, "{driver}: {run:#}");
            let flows = flows(run);
            for (writer, reader, sent, delivered) in &flows {
                assert!(*sent > 0 && sent == delivered, "{driver}: reliable {writer} to {reader}: {run:#}");
            }
            // A writer sends each sample to all of its readers.
            let sent_by = |id: &str| -> Vec<u64> {
                flows.iter().filter(|flow| flow.0 == id).map(|flow| flow.2).collect()
            };
            for (writer, ..) in &flows {
                assert!(sent_by(writer).windows(2).all(|pair| pair[0] == pair[1]), "{driver}: {run:#}");
            }
            let throughput = &run["measured"]["throughput"];
            let total: u64 = flows.iter().map(|flow| flow.2).sum();
            assert_eq!(count(&throughput["sent"]), total, "{driver}: {run:#}");
            assert_eq!(throughput["readers"].is_object(), readers > 1, "{driver}: {run:#}");
            assert_eq!(throughput["writers"].is_object(), writers > 1, "{driver}: {run:#}");
            if writers > 1 {
                let fairness = number(&throughput["writers"]["fairness"]);
                assert!(fairness > 0.0 && fairness <= 1.0 + 1e-9, "{driver}: {run:#}");
            }
            if readers > 1 {
                // The rate is per reader, not the sum.
                let [least, most] =
                    ["lowest_sps", "highest_sps"].map(|name| number(&throughput["readers"][name]));
                let mean = number(&throughput["delivered_sps"]);
                assert!(least <= mean * 1.001 && mean <= most * 1.001, "{driver}: {run:#}");
            }
        }
    }
}

#[test]
fn first_reader_echoes_pings_and_the_others_receive_them() {
    let scene = Scene::new();
    let document = measure(&scene, "latency", &["--driver", "cyclonedds", "--topology", "1-3"]);
    let run = &runs(&document)[0];
    assert_eq!(run["state"], "valid", "{run:#}");
    assert_eq!(ids(run), ["pinger", "echo", "reader-1", "reader-2"]);
    let returned = count(&run["latency"]["rtt"]["n"]);
    assert!(returned > 0, "{run:#}");
    for (writer, _, sent, delivered) in flows(run) {
        assert_eq!((writer.as_str(), sent, delivered), ("pinger", returned, returned), "{run:#}");
    }
}

#[test]
fn all_readers_echo_over_topics_of_their_own() {
    let scene = Scene::new();
    for (driver, receive) in [("udp", "polling"), ("cyclonedds", "waitset"), ("fastdds", "listener")] {
        let arguments = ["--driver", driver, "--readers", "3", "--all-readers-echo", "--receive", receive];
        let document = measure(&scene, "latency", &arguments);
        let run = &runs(&document)[0];
        assert_eq!(run["state"], "valid", "{driver}: {run:#}");
        assert_eq!(ids(run), ["pinger", "echo-1", "echo-2", "echo-3"], "{driver}");
        let all = list(&run["flows"]);
        let (mut returned, mut slowest) = (0, 0.0);
        for flow in all {
            let rtt = &flow["latency"]["rtt"];
            assert_eq!(count(&rtt["n"]), count(&flow["counted"]["delivered"]), "{driver}: {run:#}");
            assert!(flow["latency"]["one_way_out"].is_object(), "{driver}: {run:#}");
            returned += count(&rtt["n"]);
            slowest = number(&rtt["mean_ns"]).max(slowest);
        }
        assert!(returned > 0, "{driver}: {run:#}");
        assert_eq!(count(&run["latency"]["rtt"]["n"]), returned, "all echoes together: {driver}: {run:#}");
        // Each ping waits for its last echo.
        let last = &run["latency"]["rtt_last"];
        let sent = count(&all[0]["counted"]["sent"]);
        assert!(count(&last["n"]) <= sent, "{driver}: {run:#}");
        if count(&last["n"]) == sent {
            assert!(number(&last["mean_ns"]) >= slowest, "{driver}: {run:#}");
        }
    }
}

#[test]
fn loads_of_several_writers_follow_schedules_of_their_own() {
    let scene = Scene::new();
    // With this seed, both writers plan different numbers of samples.
    let arguments = [
        "--driver",
        "cyclonedds",
        "--topology",
        "2-2",
        "--rate",
        "500",
        "--arrival",
        "poisson",
        "--seed",
        "7",
    ];
    let document = measure(&scene, "load", &arguments);
    let run = &runs(&document)[0];
    assert_eq!(run["state"], "valid", "{run:#}");
    let planned: Vec<u64> = list(&run["flows"]).iter().map(|flow| count(&flow["planned"])).collect();
    let [one, again, two, _] = planned[..] else { panic!("{run:#}") };
    assert_eq!(one, again, "the schedule is that of the writer: {run:#}");
    assert_ne!(one, two, "drawn from streams of their own: {run:#}");
    for flow in list(&run["flows"]) {
        let counted = &flow["counted"];
        assert_eq!(count(&flow["latency"]["response"]["n"]), count(&counted["delivered"]), "{run:#}");
    }
    assert_eq!(count(&run["measured"]["paced"]["planned"]), one + two, "each writer counts once: {run:#}");
}

#[test]
fn readers_and_writers_of_different_drivers_reach_each_other() {
    let scene = Scene::new();
    let document = measure(&scene, "throughput", &["--driver", "cyclonedds+fastdds", "--topology", "2-2"]);
    let run = &runs(&document)[0];
    assert_eq!(run["state"], "valid", "{run:#}");
    for endpoint in list(&run["endpoints"]) {
        let expected = if endpoint["role"] == "writer" { "cyclonedds" } else { "fastdds" };
        assert_eq!(endpoint["driver"], expected, "{run:#}");
    }
    for (writer, reader, sent, delivered) in flows(run) {
        assert!(sent > 0 && sent == delivered, "{writer} to {reader}: {run:#}");
    }
}

/// Returns the endpoints of each process.
fn processes(run: &Value) -> Vec<Vec<&str>> {
    let ids = |process: &Value| -> Vec<String> {
        list(&process["endpoints"]).iter().filter_map(|id| id.as_str().map(ToOwned::to_owned)).collect()
    };
    let all = list(&run["processes"]).iter();
    all.map(|process| {
        let named = ids(process);
        list(&run["endpoints"])
            .iter()
            .filter(|endpoint| endpoint["process"] == process["number"])
            .map(|endpoint| text(endpoint, "id"))
            .inspect(|id| assert!(named.contains(&(*id).to_owned()), "{run:#}"))
            .collect()
    })
    .collect()
}

#[test]
fn writers_of_one_process_keep_their_own_numbers_and_counts() {
    let scene = Scene::new();
    for (driver, command) in [
        ("udp", "load"),
        ("tcp", "throughput"),
        ("shm", "throughput"),
        ("sim", "throughput"),
        ("cyclonedds", "throughput"),
        ("cyclonedds", "load"),
        ("fastdds", "throughput"),
        ("fastdds", "load"),
    ] {
        let rate = if command == "load" { &["--rate", "500"][..] } else { &[] };
        let arguments =
            ["--driver", driver, "--writers", "4", "--writers-per-process", "2", "--out", "result"];
        let _ = fs::remove_dir_all(scene.path("result"));
        let document = measure(&scene, command, &[&arguments[..], rate].concat());
        let run = &runs(&document)[0];
        let what = format!("{driver} {command}");
        assert_eq!(run["state"], "valid", "{what}: {run:#}");
        assert_eq!(ids(run), ["writer-1", "writer-2", "writer-3", "writer-4", "reader"], "{what}");
        let expected = [vec!["writer-1", "writer-2"], vec!["writer-3", "writer-4"], vec!["reader"]];
        assert_eq!(processes(run), expected, "{what}: {run:#}");
        let mut pids: Vec<u64> =
            list(&run["processes"]).iter().map(|process| count(&process["pid"])).collect();
        pids.dedup();
        assert_eq!(pids.len(), 3, "{what}: {run:#}");
        let flows = flows(run);
        assert_eq!(flows.len(), 4, "{what}: {run:#}");
        for (writer, reader, sent, delivered) in &flows {
            let all = driver == "udp" || sent == delivered;
            assert!(*sent > 0 && *delivered > 0 && all, "{what}: {writer} to {reader}: {run:#}");
        }
        // The samples of a process are those of its writers, and its usage counts once.
        for (process, ids) in list(&run["processes"]).iter().zip(&expected[..2]) {
            let sent: u64 =
                flows.iter().filter(|flow| ids.contains(&flow.0.as_str())).map(|flow| flow.2).sum();
            assert_eq!(count(&process["usage"]["samples"]), sent, "{what}: {run:#}");
        }
        assert_eq!(count(&run["measured"]["throughput"]["writers"]["endpoints"]), 4, "{what}: {run:#}");
        let report = scene.ddsmark(&["report", "result", "--full"]);
        report.assert_status(0);
        assert!(report.stdout.contains("topology 4-1, 2 writers per process, "), "{what}: {}", report.stdout);
        assert!(report.stdout.contains("4 writers, 2 writers per process"), "{what}: {}", report.stdout);
    }
}

#[test]
fn end_of_one_writer_ends_its_process_and_the_run() {
    let scene = Scene::new();
    let driver = changed_driver(&scene, "udp", "throws");
    let words =
        ["throughput", "--driver", &driver, "--writers", "2", "--writers-per-process", "2", "--runs", "1"];
    let outcome = scene
        .ddsmark(&[&words[..], &["--no-reference", "--set", "design.noise_probe=false", "--json"]].concat());
    let document = outcome.document();
    let run = &runs(&document)[0];
    assert_eq!(run["state"], "failed", "{run:#}");
    assert!(text(&run["failure"], "endpoint").starts_with("writer-"), "{run:#}");
}

#[test]
fn participants_that_cannot_share_a_process_are_rejected_before_measuring() {
    let scene = Scene::new();
    let driver = changed_driver(&scene, "udp", "opens_one_participant");
    let words = ["throughput", "--driver", &driver, "--writers", "4", "--runs", "1", "--duration", "100ms"];
    let more = ["--no-reference", "--set", "design.noise_probe=false", "--json"];
    scene.ddsmark(&[&words[..], &more].concat()).assert_status(0);
    let outcome = scene.ddsmark(&[&words[..], &more, &["--writers-per-process", "2"]].concat());
    outcome.assert_status(2);
    let error = "only one participant per process is supported";
    assert!(outcome.stderr.contains(error) && !outcome.stderr.contains("[1/"), "{}", outcome.stderr);
}

/// In a network namespace of its own, because the kernel counts the multicast of all processes of a namespace.
#[test]
fn one_datagram_by_multicast_reaches_every_reader() {
    let scene = Scene::new();
    let script = "ip link set lo up; exec ddsmark \"$@\"";
    let within =
        ["--map-root-user", "--net", "sh", "-ec", script, "sh", "load", "--rate", "2000", "--multicast"];
    let what = ["--driver", "udp,cyclonedds,fastdds", "--topology", "1-3", "--size", "256", "--runs", "1"];
    let brief = ["--duration", "300ms", "--no-reference", "--set", "design.noise_probe=false", "--json"];
    let outcome = scene.start("unshare", &[&within[..], &what, &brief].concat()).end();
    outcome.assert_status(0);
    let document = outcome.document();
    let runs = runs(&document);
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(run["state"], "valid", "{run:#}");
        let sockets = &list(&run["endpoints"])[0]["sockets"]["multicast"];
        let sent = flows(run)[0].2;
        let [packets, bytes] = ["packets", "bytes"].map(|name| count(&sockets[name]));
        assert!(bytes >= sent * 256 && packets >= sent, "{sent} samples: {run:#}");
        // Fast DDS 3.2.2 sends a copy for each reader: see the README of its driver.
        let warned = list(&run["warnings"]).iter().any(|warning| warning["kind"] == "multicast_copies");
        assert_eq!(warned, packets * 2 >= sent * 3, "{packets} packets for {sent} samples: {run:#}");
        assert!(!warned || run["endpoints"][0]["driver"] == "fastdds", "{run:#}");
        for (_, reader, sent, delivered) in flows(run) {
            assert!(delivered * 10 >= sent * 9, "{reader}: {run:#}");
        }
    }
}

/// More participants than the defaults of the middleware allow: each one's index is discovered.
#[test]
fn forty_readers_receive_every_sample() {
    let scene = Scene::new();
    let document = measure(&scene, "throughput", &["--driver", "fastdds", "--readers", "40"]);
    let [run] = runs(&document)[..] else { panic!("{document:#}") };
    assert_eq!(run["state"], "valid", "{run:#}");
    let flows = flows(run);
    assert_eq!(flows.len(), 40, "{run:#}");
    for (_, reader, sent, delivered) in flows {
        assert!(sent > 0 && sent == delivered, "{reader}: {run:#}");
    }
    for endpoint in list(&run["endpoints"]) {
        assert_eq!(endpoint["settings"]["participant"]["participants"], "41", "{run:#}");
    }
}

#[test]
fn what_no_topology_can_do_is_rejected_before_the_first_packet() {
    let scene = Scene::new();
    for (arguments, error) in [
        (&["latency", "--topology", "2-1"][..], "has several pingers"),
        (&["search", "--topology", "1-3"], "is not supported by the workload `search`"),
        (&["throughput", "--topology", "1-1001"], "1 to 1000 each"),
        (&["throughput", "--topology", "3"], "1 to 1000 each"),
        (&["throughput", "--readers", "0"], "1 to 1000 each"),
        (&["throughput", "--readers", "2", "--topology", "1-3"], "cannot be used with"),
    ] {
        let outcome = scene.ddsmark(&[arguments, &["--driver", "udp", "--size", "64"]].concat());
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(error), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("[1/"), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn samples_of_all_topics_arrive_with_the_load_of_one() {
    on_quiet_host(|| {
        let scene = Scene::new();
        for driver in ["cyclonedds", "fastdds", "tcp"] {
            for receive in ["waitset", "listener"] {
                let arguments =
                    ["--driver", driver, "--receive", receive, "--rate", "2000,max", "--topics", "1,10"];
                let document = measure(&scene, "load", &arguments);
                for run in runs(&document) {
                    assert_eq!(run["state"], "valid", "{driver} {receive}: {run:#}");
                    let flows = list(&run["flows"]);
                    for flow in flows {
                        let counted = &flow["counted"];
                        assert_eq!(counted["sent"], counted["delivered"], "{driver} {receive}: {run:#}");
                        assert!(count(&counted["sent"]) > 0, "{driver} {receive}: {run:#}");
                    }
                    let planned: Vec<u64> = flows.iter().map(|flow| count(&flow["planned"])).collect();
                    if flows[0]["load"].as_str() == Some("max") {
                        // In turn: a topic is at most one sample ahead.
                        let (least, most) = (planned.iter().min(), planned.iter().max());
                        assert!(most.expect("a flow") - least.expect("a flow") <= 1, "{driver}: {planned:?}");
                    } else {
                        // 2000 samples/s for 300 ms, by all topics together
                        assert_eq!(planned.iter().sum::<u64>(), 600, "{driver}: {planned:?}");
                        assert_eq!(count(&run["measured"]["paced"]["planned"]), 600, "{driver}: {run:#}");
                    }
                    if flows.len() > 1 {
                        assert_eq!((flows.len(), text(&flows[9], "name")), (10, "topic-10"), "{run:#}");
                    }
                }
            }
        }
    });
}
