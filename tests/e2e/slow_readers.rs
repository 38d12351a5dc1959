//! A reader ten times slower than what is offered: who is held up, and who loses.

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, count, list, number, runs, text},
};

/// Measures 10,000 samples/s to three readers, the last of which processes at most 1,000. Returns the run, and the text of
/// the report.
fn slow(scene: &Scene, driver: &str, more: &[&str]) -> Value {
    let words = [
        "load",
        "--driver",
        driver,
        "--readers",
        "3",
        "--slow-reader",
        "1ms",
        "--rate",
        "10000",
        "--size",
        "256",
        "--runs",
        "1",
        "--duration",
        "1s",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
    ];
    let outcome = scene.ddsmark(&[&words[..], more].concat());
    outcome.assert_status(0);
    let run = runs(&outcome.document())[0].clone();
    assert_eq!(run["state"], "valid", "{driver}: {run:#}");
    run
}

/// Returns sent and delivered samples of each reader, in their order.
fn delivered(run: &Value) -> Vec<(u64, u64)> {
    let flows: Vec<_> = list(&run["flows"])
        .iter()
        .map(|flow| {
            let of = ["sent", "delivered"].map(|name| count(&flow["counted"][name]));
            (text(flow, "reader").to_owned(), of)
        })
        .collect();
    let readers: Vec<&str> = flows.iter().map(|(reader, _)| reader.as_str()).collect();
    assert_eq!(readers, ["reader-1", "reader-2", "reader-3"], "{run:#}");
    flows.into_iter().map(|(_, [sent, delivered])| (sent, delivered)).collect()
}

/// Returns the texts of the warnings of a kind.
fn warned<'r>(run: &'r Value, kind: &str) -> Vec<&'r str> {
    list(&run["warnings"]).iter().filter(|of| of["kind"] == *kind).map(|of| text(of, "text")).collect()
}

/// Small queues: otherwise they hold all samples of the measurement.
const QUEUES: [&str; 4] = ["--send-queue", "50", "--receive-queue", "50"];

#[test]
fn slow_reader_holds_up_a_reliable_writer_and_is_named() {
    on_quiet_host(|| {
        let scene = Scene::new();
        for (driver, more) in [
            ("cyclonedds", &QUEUES[..]),
            ("fastdds", &QUEUES),
            // The sockets are the queues of TCP.
            ("tcp", &["--send-buffer", "8192", "--receive-buffer", "8192"]),
            ("shm", &["--receive-buffer", "8192"]),
        ] {
            let run = slow(&scene, driver, &[&["--qos", "reliable,keep_all"], more].concat());
            // No reader loses a sample, and all are as slow as the slowest.
            let all = delivered(&run);
            assert!(all.iter().all(|(sent, delivered)| sent == delivered), "{driver}: {run:#}");
            assert!(all[0].0 * 2 < count(&run["measured"]["paced"]["planned"]), "{driver}: {run:#}");
            assert_eq!(run["measured"]["paced"]["back_pressure"], true, "{driver}: {run:#}");
            let texts = warned(&run, "back_pressure");
            assert!(texts.iter().all(|text| text.starts_with("writer: ")), "{driver}: {texts:?}");
            assert!(texts.iter().any(|text| text.contains("reader-3 holds it up")), "{driver}: {texts:?}");
        }
    });
}

#[test]
fn slow_reader_loses_alone_without_reliability_and_is_named() {
    on_quiet_host(|| {
        let scene = Scene::new();
        for (driver, more) in
            [("cyclonedds", &QUEUES[..]), ("fastdds", &QUEUES), ("udp", &["--receive-buffer", "8192"])]
        {
            let run = slow(&scene, driver, &[&["--qos", "best_effort"], more].concat());
            let share: Vec<f64> = delivered(&run).iter().map(|of| of.1 as f64 / of.0 as f64).collect();
            assert!(share[2] > 0.0 && share[2] < 0.5, "{driver}: {share:?}: {run:#}");
            assert!(share[0] > 2.0 * share[2] && share[1] > 2.0 * share[2], "{driver}: {share:?}: {run:#}");
            let readers = &run["measured"]["throughput"]["readers"];
            assert_eq!(readers["lowest"], "reader-3", "{driver}: {run:#}");
            assert!(number(&readers["lowest_sps"]) < number(&readers["highest_sps"]), "{driver}: {run:#}");
            let texts = warned(&run, "loss");
            assert!(texts.iter().any(|text| text.contains(": reader-3 lost ")), "{driver}: {texts:?}");
        }
    });
}
