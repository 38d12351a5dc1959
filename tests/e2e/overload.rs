//! Overload: the result when more is sent than taken, with real middleware.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, blocks, count, list},
};

/// Runs an experiment file. Returns its valid runs, each with the driver of its cell.
fn runs(scene: &Scene, text: &str) -> Vec<(String, Value)> {
    fs::write(scene.path("f.toml"), text).expect("a file");
    let outcome = scene.run_blocks("f.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    let of_cell = |cell: &Value| {
        let driver = cell["factors"]["driver"].as_str().expect("a driver").to_owned();
        list(&cell["runs"]).iter().map(move |run| (driver.clone(), run.clone())).collect::<Vec<_>>()
    };
    let runs: Vec<(String, Value)> = list(&document["cells"]).iter().flat_map(of_cell).collect();
    for (driver, run) in &runs {
        assert_eq!(run["state"], "valid", "{driver}: {run:#}");
    }
    runs
}

fn lost(run: &Value) -> u64 {
    count(&run["measured"]["throughput"]["lost"])
}

/// Returns the 99 % quantile of the send lag, in ns.
fn lag_ns(run: &Value) -> u64 {
    count(&run["latency"]["send_lag"]["p99_ns"])
}

/// Experiment whose reader has room for 20 samples and polls every 20 ms: it takes a tenth of the planned samples.
const SLOW: &str = r#"
question = "What if the reader takes a tenth of what is planned?"
workload = "paced"
[factors]
driver = "cyclonedds"
size = 1024
rate = "10k/s"
receive = "polling"
polling_delay = "20ms"
receive_queue = 20
[design]
warm_up = "20ms"
measure = "500ms"
[limits]
drain = "20s"
"#;

#[test]
fn slow_reader_delays_a_reliable_writer_and_loses_nothing() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let runs = runs(&scene, &format!("{SLOW}\n[qos]\nreliability = \"reliable\"\n"));
        assert_eq!(runs.len(), blocks());
        for (_, run) in &runs {
            assert_eq!(lost(run), 0, "{run:#}");
            let paced = &run["measured"]["paced"];
            assert!(count(&paced["unsent"]) > 0, "{run:#}");
            // on a busy host the cause may be either; the send lag shows it, and most of it is time of write calls
            assert!(paced["back_pressure"] == true || paced["sender_limited"] == true, "{run:#}");
            assert!(run["flows"][0]["lag_in_writes_pct"].as_f64().expect("a share") > 50.0, "{run:#}");
            assert!(lag_ns(run) > 10_000_000, "{run:#}");
        }
    });
}

#[test]
fn slow_best_effort_reader_loses_what_its_queue_cannot_hold() {
    on_quiet_host(|| {
        let text = SLOW.replace("driver = \"cyclonedds\"", "driver = \"udp\"");
        let text = text.replace("receive_queue = 20", "receive_buffer = \"16KiB\"");
        let dds = format!("{SLOW}\n[qos]\nreliability = \"best_effort\"\n");
        for text in [text, dds] {
            for (driver, run) in &runs(&Scene::new(), &text) {
                assert!(lost(run) > 0, "{driver}: {run:#}");
                assert_eq!(count(&run["measured"]["throughput"]["undelivered"]), 0, "{driver}: {run:#}");
                let kinds: Vec<&str> =
                    list(&run["warnings"]).iter().filter_map(|warning| warning["kind"].as_str()).collect();
                assert!(kinds.contains(&"loss"), "{driver}: {run:#}");
            }
        }
    });
}

#[test]
fn burst_larger_than_every_queue_is_late_or_lost_and_reconciles() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let runs = runs(
            &scene,
            r#"
question = "What if a burst is larger than every queue?"
workload = "paced"
[factors]
driver = "udp"
size = 1024
rate = "10000/10s"
arrival = "burst"
receive = "polling"
polling_delay = "50ms"
receive_buffer = "64KiB"
include = [{ driver = "cyclonedds", receive_queue = 256, polling_delay = "5ms" }]
[design]
warm_up = "20ms"
measure = "500ms"
[limits]
drain = "20s"
"#,
        );
        assert_eq!(runs.len(), 2 * blocks());
        let of =
            |driver: &str| runs.iter().filter(|(of, _)| of == driver).map(|(_, run)| run).collect::<Vec<_>>();
        for run in of("cyclonedds") {
            assert_eq!(lost(run), 0, "{run:#}");
            // the last of 10,000 samples is late by more than 1 ms, because no write takes 100 ns or less
            assert!(lag_ns(run) > 1_000_000, "{run:#}");
        }
        for run in of("udp") {
            assert!(lost(run) > 0, "{run:#}");
        }
    });
}
