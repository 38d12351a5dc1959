//! Fast DDS: the requested path is the measured one; and interoperation with another middleware on one topic.

use std::{cell::Cell, path::Path, process::Command};

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, count, drivers, list, root},
};

const EXPERIMENT: &str = r#"
question = "Which way do samples go?"
workload = ["latency", "throughput"]

[factors]
driver = "fastdds"
transport = ["udp4", "shm"]
size = [64, 100000]

[options.fastdds]
publish_mode = ["sync", "async"]

[design]
warm_up = "50ms"
measure = "200ms"
"#;

#[test]
fn requested_transport_and_mode_are_effective() {
    let scene = Scene::new();
    std::fs::write(scene.path("ways.toml"), EXPERIMENT).expect("a file");
    let outcome = scene.run_blocks("ways.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 16, "of two workloads, transports, sizes and modes");
    for cell in cells {
        let requested = &cell["factors"];
        for run in list(&cell["runs"]) {
            assert_eq!(run["state"], "valid", "{run:#}");
            assert!(count(&list(&run["flows"])[0]["counted"]["delivered"]) > 0, "{run:#}");
            // read back from writer and reader
            let text = run.to_string();
            for (name, value) in [
                ("transport", &requested["transport"]),
                ("publish_mode", &requested["options"]["publish_mode"]),
                ("data_sharing", &"off".into()),
            ] {
                assert!(text.contains(&format!("\"{name}\":{value}")), "{name} {value}: {run:#}");
            }
        }
    }
    // the scene sees shared memory files, so it would see leftover ones
    assert!(!scene.shared_memory().is_empty());
}

/// The library discards samples if a writer takes freed memory at once: as shipped, in 12 of 12 such runs.
#[test]
fn reliable_data_sharing_with_a_full_history_loses_nothing() {
    let text = "question = \"?\"\nworkload = \"throughput\"\n[factors]\ndriver = \"fastdds\"\ntransport = \"data_sharing\"\n\
                size = 65536\n[design]\nwarm_up = \"100ms\"\nmeasure = \"600ms\"\n";
    let lost = Cell::new(0);
    // A busy host may write fewer samples than the history holds.
    on_quiet_host(|| {
        let scene = Scene::new();
        std::fs::write(scene.path("shared.toml"), text).expect("a file");
        let outcome = scene.run_blocks("shared.toml");
        outcome.assert_status(0);
        for run in list(&outcome.document()["cells"][0]["runs"]) {
            assert_eq!(run["state"], "valid", "{run:#}");
            let counted = &list(&run["flows"])[0]["counted"];
            lost.set(lost.get() + count(&counted["lost"]));
            assert!(count(&counted["delivered"]) > 1024, "{counted}");
        }
    });
    // In no attempt, on a quiet host or a busy one.
    assert_eq!(lost.get(), 0);
}

/// With the type of a fixed size, with and without loans. Every sample is compared in full.
const LOANS: &str = r#"
question = "Do samples arrive that were written in lent memory?"
workload = ["latency", "paced"]

[factors]
driver = "fastdds"
transport = ["data_sharing", "shm", "udp4"]
size = [16, 65536]
rate = "1000/s"
loans = [false, true]

[options.fastdds]
plain = "true"

[design]
warm_up = "50ms"
measure = "200ms"
check_every = 1
"#;

#[test]
fn samples_written_in_lent_memory_arrive_intact() {
    let scene = Scene::new();
    std::fs::write(scene.path("loans.toml"), LOANS).expect("a file");
    let outcome = scene.run_blocks("loans.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 24, "of two workloads, three transports, two sizes, with and without loans");
    for cell in cells {
        let loans = if cell["factors"]["loans"] == true { "true" } else { "false" };
        assert_eq!(cell["id"].as_str().expect("an id").contains("/loans"), loans == "true", "{}", cell["id"]);
        for run in list(&cell["runs"]) {
            assert_eq!(run["state"], "valid", "{run:#}");
            let counted = &list(&run["flows"])[0]["counted"];
            let [sent, delivered, lost, corrupt, checked] =
                ["sent", "delivered", "lost", "corrupt", "checked_in_full"].map(|name| count(&counted[name]));
            assert!(sent > 0 && [delivered, checked] == [sent; 2] && [lost, corrupt] == [0; 2], "{counted}");
            let endpoints = list(&run["endpoints"]);
            let drives = |of: &&serde_json::Value| of["role"] == "writer" || of["role"] == "pinger";
            let settings = |of: &serde_json::Value| of["settings"]["writer"]["loans"].clone();
            assert_eq!(settings(endpoints.iter().find(drives).expect("a writer")), loans, "{run:#}");
            // An echo is a copy of what was received.
            for echo in endpoints.iter().filter(|of| of["role"] == "echo") {
                assert_eq!(settings(echo), "false", "{run:#}");
            }
        }
    }
}

/// A reader of Fast DDS that does not know of a lifespan gets all expired samples.
#[test]
fn expired_samples_are_not_delivered_with_lifespan_on_the_writer() {
    let scene = Scene::new();
    let text = "question = \"?\"\nworkload = \"throughput\"\n[factors]\ndriver = \"fastdds\"\ntransport = \"udp4\"\nsize = 64\n\
                [qos.writer]\nlifespan = \"30us\"\n[design]\nwarm_up = \"50ms\"\nmeasure = \"200ms\"\n";
    std::fs::write(scene.path("expires.toml"), text).expect("a file");
    let outcome = scene.run_blocks("expires.toml");
    outcome.assert_status(0);
    for run in list(&outcome.document()["cells"][0]["runs"]) {
        let counted = &list(&run["flows"])[0]["counted"];
        // samples that wait in a full history are older than that; the middleware does not report what it discards
        assert!(count(&counted["delivered"]) < count(&counted["sent"]), "{counted}");
    }
}

/// Each process loads one driver, so that no process has two middlewares.
#[test]
fn two_middlewares_interoperate_on_one_topic() {
    let scene = Scene::new();
    let tests = root().join("drivers/common/tests");
    let program = scene.path("across");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(root().join("include"))
        .args(["across.c", "harness.c", "receive.c"].map(|file| tests.join(file)))
        .args(["-o".as_ref(), program.as_path(), Path::new("-ldl"), Path::new("-lpthread")])
        .output()
        .expect("a compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let file = |driver: &str| drivers().join(format!("libddsmark_{driver}.so")).display().to_string();
    for (writer, reader) in [("cyclonedds", "fastdds"), ("fastdds", "cyclonedds")] {
        let across = scene.start(&program.display().to_string(), &[&file(writer), &file(reader)]).end();
        assert!(across.status.success(), "{writer} to {reader}: {across:?}");
    }
}
