//! Cells whose writer and reader have different drivers.

use std::{ffi::OsStr, fs};

use crate::support::{Outcome, Scene, blocks_text, count, drivers, list, runs, shared_library};

/// Measures these drivers, found in the directory of the scene first.
fn characterize(scene: &Scene, drivers: &str, more: &[&str]) -> Outcome {
    let path = scene.path("drivers");
    let words = [
        "characterize",
        "--driver",
        drivers,
        "--size",
        "64,65536",
        "--quick",
        "--runs",
        blocks_text(),
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
        "--out",
        "result",
    ];
    scene.start_with(&[("DDSMARK_DRIVER_PATH", OsStr::new(&path))], "ddsmark", &[&words, more].concat()).end()
}

fn scene() -> Scene {
    let scene = Scene::new();
    fs::create_dir(scene.path("drivers")).expect("a directory");
    scene
}

#[test]
fn two_drivers_reach_each_other_both_ways() {
    let scene = scene();
    // the same library under the name of its version: the test checks that each endpoint has the driver named for
    // it
    let other = scene.path("drivers/libddsmark_cyclonedds@11.so");
    fs::copy(drivers().join("libddsmark_cyclonedds.so"), other).expect("a file");
    let names = ["cyclonedds+cyclonedds@11", "cyclonedds@11+cyclonedds"];
    let outcome = characterize(&scene, &names.join(","), &[]);
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    for name in names {
        let of_pair = cells.iter().filter(|cell| cell["factors"]["driver"] == name);
        assert!(of_pair.count() >= 5, "latency, throughput, batched: {document:#}");
        assert!(document["drivers"][name]["middleware_version"].is_string(), "{}", document["drivers"]);
    }
    assert_eq!(cells[0]["id"], "cyclonedds+cyclonedds@11/udp4/latency/64");
    for run in runs(&document) {
        assert_eq!(run["state"], "valid", "{run:#}");
        let counted = &list(&run["flows"])[0]["counted"];
        assert!(count(&counted["sent"]) > 0, "{run:#}");
        assert_eq!(counted["sent"], counted["delivered"], "reliable: {run:#}");
    }
}

/// Fast DDS unpacks batches of Cyclone DDS, because RTPS defines them; only the driver of Fast DDS unpacks its own
/// batches.
#[test]
fn batches_are_packed_by_the_writers_middleware() {
    let scene = scene();
    let names = ["cyclonedds+fastdds", "fastdds+cyclonedds"];
    let outcome = characterize(&scene, &names.join(","), &["--workload", "throughput"]);
    outcome.assert_status(0);
    let document = outcome.document();
    for run in runs(&document) {
        assert_eq!(run["state"], "valid", "{run:#}");
        let counted = &list(&run["flows"])[0]["counted"];
        assert!(count(&counted["sent"]) > 0, "{run:#}");
        assert_eq!(counted["sent"], counted["delivered"], "reliable: {run:#}");
    }
    let batched = |name: &str| {
        let of_pair = list(&document["cells"]).iter().map(|cell| &cell["factors"]);
        of_pair.filter(|factors| factors["driver"] == name && factors["batching"] == "native").count()
    };
    assert_eq!(names.map(batched), [1, 0], "of 64 bytes");
    let notes = document["experiment"]["notes"].to_string();
    assert!(notes.contains("driver `fastdds+cyclonedds` cannot batch"), "{notes}");
}

#[test]
fn writer_and_reader_load_their_own_driver() {
    for (pair, role, other) in
        [("cyclonedds+bad", "reader", "writer"), ("bad+cyclonedds", "writer", "reader")]
    {
        let scene = scene();
        let real = format!("-DREAL=\"{}\"", drivers().join("libddsmark_cyclonedds.so").display());
        let words = ["-std=c++17", &real, "-DHOW=prints", "faulty_driver.cpp"];
        shared_library(&scene, "c++", "drivers/libddsmark_bad.so", &words);
        let outcome = characterize(&scene, pair, &["--workload", "throughput", "--batch-bytes", "0"]);
        outcome.assert_status(0);
        let document = outcome.document();
        for run in runs(&document) {
            let log = |role| {
                let file = format!("result/logs/{:04}-{role}.log", count(&run["number"]));
                fs::read_to_string(scene.path(&file)).unwrap_or_default()
            };
            assert!(log(role).contains("schema_version"), "{pair}: the {role} has the driver that prints");
            assert!(!log(other).contains("schema_version"), "{pair}: the {other} has the other one");
        }
    }
}

#[test]
fn drivers_that_cannot_be_paired_are_rejected() {
    let scene = scene();
    for (pair, words) in [
        (
            "udp+cyclonedds",
            "`udp+cyclonedds` cannot be paired: a driver without discovery needs the same driver as its peer",
        ),
        (
            "cyclonedds+udp",
            "`cyclonedds+udp` cannot be paired: a driver without discovery needs the same driver as its peer",
        ),
        ("cyclonedds+cyclonedds", "`cyclonedds+cyclonedds` names one driver twice"),
        ("cyclonedds+nonesuch", "unknown driver `nonesuch`"),
        ("cyclonedds+", "unknown driver ``"),
    ] {
        let outcome = characterize(&scene, pair, &[]);
        outcome.assert_status(2);
        let error = &outcome.stderr;
        assert!(error.contains(words) && error.contains("\nhint: "), "{pair}: {error}");
        assert!(!scene.path("result").exists(), "{pair}");
    }
}
