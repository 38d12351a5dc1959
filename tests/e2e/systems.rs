//! Systems of processes that write some topics and read others, with real drivers.

use std::fs;

use serde_json::Value;

use crate::support::{Scene, count, list, programs};

/// Returns the experiment file of a small robot.
fn robot(driver: &str) -> String {
    format!(
        r#"
        question = "Which topic suffers?"
        workload = "paced"
        factors.driver = "{driver}"
        [[flows]]
        name = "scan"
        size = "16KiB"
        rate = "40/s"
        from = "sensor"
        to = ["control", "log"]
        deadline = "10s"
        [[flows]]
        name = "command"
        size = 64
        rate = "100/s"
        from = "control"
        to = "motor"
        deadline = "10s"
        [[flows]]
        name = "status"
        count = 3
        size = 64
        rate = "20/s"
        from = ["motor", "sensor"]
        to = ["log", "control"]
        deadline = "10s"
        [design]
        blocks = 1
        warm_up = "50ms"
        measure = "500ms"
        "#
    )
}

/// Runs the file while a process is killed in the measurement of the first run. Returns the only cell.
fn killed(scene: &Scene, file: &str, driver: &str, first_endpoint: &str) -> Value {
    fs::write(scene.path("system.toml"), file).expect("a file");
    let kills = scene.path("kills");
    fs::create_dir(&kills).expect("a directory");
    let plan = format!("{driver} {first_endpoint} 0 measure 200000 agent\n");
    fs::write(kills.join("plan"), plan).expect("a file");
    let agent = programs().join("killing-agent");
    let variables = [("DDSMARK_KILLS", kills.as_os_str()), ("DDSMARK_AGENT", agent.as_os_str())];
    let words = [
        "run",
        "system.toml",
        "--json",
        "--out",
        "result",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
    ];
    let outcome = scene.start_with(&variables, "ddsmark", &words).end();
    outcome.assert_status(3);
    let mut document = outcome.document();
    document["cells"][0].take()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Runs the file, and returns the only run of its only cell.
fn run_of(scene: &Scene, file: &str) -> Value {
    fs::write(scene.path("system.toml"), file).expect("a file");
    let outcome = scene.run_blocks("system.toml");
    outcome.assert_status(0);
    let mut document = outcome.document();
    document["cells"][0]["runs"][0].take()
}

#[test]
fn each_reader_gets_what_each_writer_of_its_topics_wrote() {
    for driver in ["sim", "udp", "cyclonedds", "fastdds"] {
        let scene = Scene::new();
        let run = run_of(&scene, &robot(driver));
        assert_eq!(run["state"], "valid", "{driver}: {run:#}");
        let mut routes: Vec<(&str, &str, &str)> = Vec::new();
        for flow in list(&run["flows"]) {
            routes.push((text(&flow["name"]), text(&flow["writer"]), text(&flow["reader"])));
            let planned = match text(&flow["name"]) {
                "scan" => 20,
                "command" => 50,
                _ => 10,
            };
            assert_eq!(count(&flow["planned"]), planned, "{driver}: {flow:#}");
            // A host that is too busy writes fewer.
            let counted = &flow["counted"];
            let (sent, delivered) = (count(&counted["sent"]), count(&counted["delivered"]));
            assert!(sent > 0 && delivered == sent, "{driver}: {flow:#}");
        }
        let mut expected = vec![
            ("scan", "sensor", "control-reader"),
            ("scan", "sensor", "log"),
            ("command", "control-writer", "motor-reader"),
        ];
        for name in ["status-1", "status-2", "status-3"] {
            for writer in ["motor-writer", "sensor"] {
                expected.extend(["log", "control-reader"].map(|reader| (name, writer, reader)));
            }
        }
        routes.sort_unstable();
        expected.sort_unstable();
        assert_eq!(routes, expected, "{driver}");
        // A process is one process of the host, with one reading of its usage.
        let processes = list(&run["processes"]);
        let members: Vec<usize> = processes.iter().map(|process| list(&process["endpoints"]).len()).collect();
        assert_eq!(members, [1, 2, 2, 1], "{driver}: {processes:#?}");
    }
}

/// A valid run has the bytes of the planned sizes: the collector compares the sum of the planned sizes with what the reader received.
#[test]
fn samples_of_different_sizes_all_arrive_with_the_same_bytes_in_each_driver() {
    let file = |driver: &str| {
        format!(
            r#"
            question = "What do small samples cost beside large ones?"
            workload = "paced"
            factors.driver = "{driver}"
            [[flows]]
            name = "mix"
            size = {{ values = [64, 1024, 30000], weights = [8, 3, 1] }}
            rate = "200/s"
            deadline = "10s"
            [[flows]]
            name = "scan"
            size = {{ median = "4kB", p99 = "12kB" }}
            rate = "100/s"
            deadline = "10s"
            [design]
            blocks = 1
            warm_up = "50ms"
            measure = "500ms"
            "#
        )
    };
    let mut sent_bytes: Vec<(String, u64, u64)> = Vec::new();
    for driver in ["sim", "udp", "cyclonedds", "fastdds"] {
        let scene = Scene::new();
        let run = run_of(&scene, &file(driver));
        assert_eq!(run["state"], "valid", "{driver}: {run:#}");
        let flows = list(&run["flows"]);
        assert_eq!(flows.len(), 2, "{driver}: {run:#}");
        for (flow, (smallest, largest)) in flows.iter().zip([(64, 30_000), (843, 18_980)]) {
            let counted = &flow["counted"];
            let (sent, delivered) = (count(&counted["sent"]), count(&counted["delivered"]));
            assert!(sent > 0 && delivered == sent && count(&counted["corrupt"]) == 0, "{driver}: {flow:#}");
            let sizes = &flow["sizes"];
            assert_eq!(count(&sizes["smallest_bytes"]), smallest, "{driver}: {flow:#}");
            assert_eq!(count(&flow["size_bytes"]), largest, "{driver}: {flow:#}");
            let bytes = count(&sizes["sent_bytes"]);
            assert!(bytes > sent * smallest && bytes < sent * largest, "{driver}: {flow:#}");
            sent_bytes.push((text(&flow["name"]).to_owned(), sent, bytes));
        }
    }
    // Of as many samples, each driver sent as many bytes.
    sent_bytes.sort_unstable();
    sent_bytes.dedup();
    assert!(
        sent_bytes.windows(2).all(|pair| pair[0].1 < pair[1].1 || pair[0].0 < pair[1].0),
        "{sent_bytes:?}"
    );
}

/// The scene asserts that no process and no file in /dev/shm is left.
#[test]
fn killed_process_is_named_with_its_topics_and_the_others_stand() {
    for (driver, endpoints, flows_ended, words, routes_left) in [
        (
            "udp",
            &["control-writer", "control-reader"][..],
            &["scan", "command", "status-1", "status-2", "status-3"][..],
            "control-writer, control-reader ended during the measurement: all values are of the other 4 endpoints; \
             control-writer wrote `command`; control-reader read `scan`, `status`",
            7,
        ),
        (
            "cyclonedds",
            &["sensor"][..],
            &["scan", "status-1", "status-2", "status-3"][..],
            "sensor ended during the measurement: all values are of the other 5 endpoints; sensor wrote `scan`, `status`",
            7,
        ),
        (
            "fastdds",
            &["motor-writer", "motor-reader"][..],
            &["command", "status-1", "status-2", "status-3"][..],
            "motor-writer, motor-reader ended during the measurement: all values are of the other 4 endpoints; \
             motor-writer wrote `status`; motor-reader read `command`",
            8,
        ),
    ] {
        let scene = Scene::new();
        let file = robot(driver).replace("measure = \"500ms\"", "measure = \"1s\"");
        let cell = killed(&scene, &file.replace("blocks = 1", "blocks = 2"), driver, endpoints[0]);
        // The system was not met in the run, although its values are excluded.
        let system = &cell["paced"]["system"];
        let valid = list(&cell["runs"]).iter().filter(|run| run["state"] == "valid").count();
        assert_eq!(count(&system["runs"]), valid as u64 + 1, "{driver}: {system:#}");
        assert!(valid > 0 && count(&system["met_runs"]) <= valid as u64, "{driver}: {system:#}");
        let ended = serde_json::json!([{ "run": 1, "endpoint": endpoints[0], "flows": flows_ended }]);
        assert_eq!(system["ended"], ended, "{driver}");
        let run = &cell["runs"][0];
        assert_eq!(run["state"], "failed", "{driver}: {run:#}");
        assert_eq!(run["failure"]["endpoint"], endpoints[0], "{driver}: {run:#}");
        assert!(text(&run["failure"]["error"]).contains("killed by signal 9"), "{driver}: {run:#}");
        let warnings = list(&run["warnings"]);
        assert!(warnings.iter().any(|warning| warning["text"] == words), "{driver}: {warnings:#?}");
        assert!(warnings.iter().all(|warning| warning["kind"] != "runs_invalid"), "{driver}: {warnings:#?}");
        let flows = list(&run["flows"]);
        assert_eq!(flows.len(), routes_left, "{driver}: {run:#}");
        for flow in flows {
            let ends = [text(&flow["writer"]), text(&flow["reader"])];
            assert!(ends.iter().all(|end| !endpoints.contains(end)), "{driver}: {flow:#}");
            let counted = &flow["counted"];
            let (sent, delivered) = (count(&counted["sent"]), count(&counted["delivered"]));
            assert!(sent > 0 && sent == delivered, "{driver}: {flow:#}");
            let timeliness = &flow["timeliness"];
            let missed = count(&timeliness["planned"]) - delivered;
            assert_eq!(count(&timeliness["missed"]), missed, "{driver}: {flow:#}");
        }
        assert_eq!(list(&run["processes"]).len(), 3, "{driver}: {run:#}");
    }
}
