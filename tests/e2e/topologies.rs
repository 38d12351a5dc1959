//! Several writers and readers: fan-out, fan-in and mesh, with real processes and real middleware.

use serde_json::Value;

use crate::support::{Scene, count, list, number, runs, text};

/// Measures a topology once, and returns the result.
fn measure(scene: &Scene, command: &str, more: &[&str]) -> Value {
    let words = [command, "--size", "256", "--runs", "1", "--duration", "300ms", "--no-reference", "--json"];
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
            let throughput = &run["throughput"];
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
    assert_eq!(count(&run["paced"]["planned"]), one + two, "each writer counts once: {run:#}");
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

#[test]
fn one_sample_by_multicast_reaches_every_reader() {
    let scene = Scene::new();
    let arguments = ["--driver", "udp,cyclonedds", "--topology", "1-3", "--multicast"];
    let document = measure(&scene, "latency", &arguments);
    for run in runs(&document) {
        assert_eq!(run["state"], "valid", "{run:#}");
        let sockets = &list(&run["endpoints"])[0]["sockets"]["multicast"];
        let sent = flows(run)[0].2;
        let [packets, bytes] = ["packets", "bytes"].map(|name| count(&sockets[name]));
        assert!(packets >= sent && bytes >= sent * 256, "{run:#}");
        // Three copies by unicast would be three times as many bytes; echoes and other traffic leave room.
        for (_, reader, sent, delivered) in flows(run) {
            assert!(delivered * 10 >= sent * 9, "{reader}: {run:#}");
        }
    }
}

#[test]
fn what_no_topology_can_do_is_rejected_before_the_first_packet() {
    let scene = Scene::new();
    for (arguments, error) in [
        (&["latency", "--topology", "2-1"][..], "has several pingers"),
        (&["search", "--topology", "1-3"], "is not supported by the workload `search`"),
        (&["throughput", "--topology", "1-201"], "1 to 200 each"),
        (&["throughput", "--topology", "3"], "1 to 200 each"),
    ] {
        let outcome = scene.ddsmark(&[arguments, &["--driver", "udp", "--size", "64"]].concat());
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(error), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("[1/"), "{arguments:?}: {}", outcome.stderr);
    }
}
