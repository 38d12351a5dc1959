//! Batches of a number of samples, turbo batches, and echo probes, on real drivers.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, blocks, count, list},
};

/// Runs an experiment file, and returns its cells.
fn cells(scene: &Scene, text: &str) -> Vec<Value> {
    fs::write(scene.path("f.toml"), text).expect("a file");
    let outcome = scene.run_blocks("f.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    for run in list(&document["cells"]).iter().flat_map(|cell| list(&cell["runs"])) {
        assert_eq!(run["state"], "valid", "{run:#}");
    }
    list(&document["cells"]).to_vec()
}

fn cell<'c>(cells: &'c [Value], id: &str) -> &'c Value {
    cells.iter().find(|cell| cell["id"].as_str().is_some_and(|found| found == id)).unwrap_or_else(|| {
        let ids: Vec<_> = cells.iter().map(|cell| &cell["id"]).collect();
        panic!("{id} is none of {ids:?}")
    })
}

#[test]
fn turbo_batch_holds_all_samples_that_are_due() {
    let scene = Scene::new();
    let found = cells(
        &scene,
        r#"question = "How large are batches?"
workload = "paced"
[factors]
driver = ["udp", "tcp", "cyclonedds", "fastdds", "sim"]
size = 100
rate = ["50/50ms", "max"]
arrival = ["burst"]
batch_samples = [4, "turbo 1kB"]
[design]
warm_up = "50ms"
measure = "500ms"
"#,
    );
    for (way, who) in [
        ("udp/udp4", "application"),
        ("tcp/tcp4", "application"),
        ("cyclonedds/udp4", "native"),
        ("fastdds/udp4", "application"),
        ("sim/local", "application"),
    ] {
        let batches = |id: &str| {
            let cell = cell(&found, &format!("{way}/paced/100/{id}"));
            let batching = cell["factors"]["batching"].as_str().expect("a word").to_owned();
            let batches = &cell["throughput"]["batches"];
            assert_eq!(batches["samples"], cell["throughput"]["sent"], "{cell:#}");
            let mean = batches["mean_samples"].as_f64().expect("a mean");
            (batching, mean, count(&batches["max_samples"]))
        };
        // bursts of 50 samples leave in batches of ten, the ceiling
        let (batching, mean, max) = batches("rate-1000/burst-50/turbo-1000");
        assert_eq!(batching, format!("turbo_{who}"));
        assert!(mean > 5.0 && max == 10, "{way}: {mean} {max}");
        // as fast as possible: every batch is full, except the last of a run
        let (_, mean, max) = batches("max/turbo-1000");
        assert!(mean > 9.0 && max == 10, "{way}: {mean} {max}");
        // batches of a fixed number of samples, too
        let (batching, mean, max) = batches("rate-1000/burst-50/batch-400");
        assert_eq!((batching.as_str(), max), (who, 4));
        assert!(mean > 3.8, "{way}: {mean}");
    }
}

#[test]
fn turbo_batch_holds_one_sample_at_a_low_rate() {
    let scene = Scene::new();
    let found = cells(
        &scene,
        r#"question = "Is a sample held back for nothing?"
workload = "paced"
[factors]
driver = ["udp", "sim"]
size = 100
rate = 20
batch_samples = [4, "turbo"]
[design]
warm_up = "0s"
measure = "900ms"
"#,
    );
    for way in ["udp/udp4", "sim/local"] {
        let turbo = cell(&found, &format!("{way}/paced/100/rate-20/turbo-8192"));
        let packed = cell(&found, &format!("{way}/paced/100/rate-20/batch-400"));
        // one sample every 50 ms: none is held back unless the sender is that late
        let batches = &turbo["throughput"]["batches"];
        let mean = batches["mean_samples"].as_f64().expect("a mean");
        assert!(mean < 1.5, "{way}: {batches:#}");
        // a batch of four waits for its fourth sample: the first of each batch waits 150 ms
        assert!(count(&packed["latency"]["response"]["max_ns"]) >= 150_000_000, "{way}: {packed:#}");
    }
}

#[test]
fn probes_return_and_writer_and_reader_agree() {
    let scene = Scene::new();
    let found = cells(
        &scene,
        r#"question = "What is the round trip under load?"
workload = ["throughput", "paced"]
[factors]
driver = ["udp", "cyclonedds", "sim"]
size = 100
rate = "10k/s"
batch_samples = [1, "turbo"]
[options.sim]
latency = "300us"
[design]
warm_up = "50ms"
measure = "200ms"
probe_every = 101
"#,
    );
    assert_eq!(found.len(), 12);
    for cell in &found {
        for run in list(&cell["runs"]) {
            let (throughput, probes) =
                (&run["measured"]["throughput"], &run["measured"]["throughput"]["probes"]);
            let [sent, came, echoed, returned, lost] =
                ["sent", "came", "echoed", "returned", "lost"].map(|name| count(&probes[name]));
            assert_eq!(sent, count(&throughput["sent"]).div_ceil(101), "{run:#}");
            assert!(came <= sent && echoed <= came && returned <= echoed, "{probes:#}");
            assert_eq!(lost, sent - returned, "{probes:#}");
            assert!(returned > 0, "{probes:#}");
            assert_eq!(count(&run["latency"]["rtt"]["n"]), returned, "{run:#}");
            assert!(probes["echo_mbps"].as_f64().expect("a rate") > 0.0, "{probes:#}");
        }
        let id = cell["id"].as_str().expect("an id");
        if id.starts_with("sim") {
            // twice the configured latency
            assert!(count(&cell["latency"]["rtt"]["min_ns"]) >= 600_000, "{id}");
            assert_eq!(count(&cell["throughput"]["probes"]["lost"]), 0, "{id}: reliable");
        }
    }
}

#[test]
fn probe_with_a_lost_echo_is_counted() {
    let scene = Scene::new();
    let found = cells(
        &scene,
        r#"question = "Is an echo missed?"
workload = "paced"
[factors]
driver = "sim"
size = 64
rate = "20k/s"
[qos]
reliability = "best_effort"
[options.sim]
loss = "30%"
[design]
warm_up = "0s"
measure = "1s"
probe_every = 101
"#,
    );
    let probes = &found[0]["throughput"]["probes"];
    let [sent, came, echoed, returned, lost] =
        ["sent", "came", "echoed", "returned", "lost"].map(|name| count(&probes[name]));
    // 0.7 * 0.7 of the probes come back
    assert!(came < sent && returned < echoed && lost == sent - returned, "{probes:#}");
    let allowed = 5.0 * (sent as f64 * 0.49 * 0.51).sqrt();
    assert!((returned as f64 - 0.49 * sent as f64).abs() <= allowed, "{probes:#}");
}

#[test]
fn throttled_writer_stays_close_to_its_reader() {
    // A writer without a limit gets ahead only if it is faster than the server, which it is not on a busy host.
    on_quiet_host(|| {
        let scene = Scene::new();
        let found = cells(
            &scene,
            r#"question = "How far does a writer get ahead?"
workload = "paced"
[factors]
driver = "sim"
size = 64
rate = ["max", "throttled 2020"]
[options.sim]
latency = "100us"
service = "200us"
queue = "20000"
[design]
warm_up = "200ms"
measure = "1s"
probe_every = 101
"#,
        );
        let unthrottled = cell(&found, "sim/local/paced/64/max");
        let throttled = cell(&found, "sim/local/paced/64/throttled-2020");
        // the server takes 4 s for a queue of 20,000 samples, and 0.4 s for 90 % of 2020 samples
        for run in list(&throttled["runs"]) {
            let throttle = &run["measured"]["paced"]["throttle"];
            assert_eq!((count(&throttle["low_mark"]), count(&throttle["high_mark"])), (202, 1818));
        }
        assert!(list(&unthrottled["runs"]).iter().all(|run| run["measured"]["paced"]["throttle"].is_null()));
        let service = |cell: &Value| cell["latency"]["service"]["p50_ns"].as_f64().unwrap();
        assert!(service(throttled) < service(unthrottled), "{} {}", service(throttled), service(unthrottled));
    });
}

#[test]
fn probes_are_rejected_where_a_listener_must_not_write() {
    let scene = Scene::new();
    let text = r#"question = "From a listener?"
workload = "throughput"
[factors]
driver = ["udp", "cyclonedds"]
receive = "listener"
[design]
probe_every = 101
"#;
    fs::write(scene.path("f.toml"), text).expect("a file");
    let outcome = scene.ddsmark(&["run", "f.toml", "--dry-run"]);
    outcome.assert_status(2);
    assert!(outcome.stderr.contains("a listener of driver `cyclonedds` must not wait"), "{}", outcome.stderr);
    fs::write(scene.path("f.toml"), text.replace(", \"cyclonedds\"", "")).expect("a file");
    scene.ddsmark(&["run", "f.toml", "--dry-run"]).assert_status(0);
}

#[test]
fn polling_reader_sleeps_between_polls() {
    let scene = Scene::new();
    let found = cells(
        &scene,
        r#"question = "What does a pause between looks cost and save?"
workload = ["throughput", "paced"]
[factors]
driver = ["udp", "cyclonedds", "sim"]
size = 100
rate = 1000
receive = "polling"
polling_delay = ["0s", "20ms"]
[design]
warm_up = "50ms"
measure = "300ms"
"#,
    );
    assert_eq!(found.len(), 12);
    for cell in &found {
        let id = cell["id"].as_str().expect("an id");
        let delayed = id.ends_with("delay-20ms");
        assert_eq!(cell["factors"]["queues"]["polling_delay_ns"] == 20_000_000, delayed, "{id}");
        if id.contains("paced") {
            let mean_ns = cell["latency"]["response"]["mean_ns"].as_f64().expect("a mean");
            let takes = &cell["throughput"]["takes"];
            let [calls, groups] = ["calls", "groups"].map(|name| count(&takes[name]));
            if delayed {
                // a sample waits half of the delay on average, and is taken with others if a take returns more than
                // a datagram
                assert!(mean_ns > 2e6, "{id}: {cell:#}");
                let each = takes["mean_samples"].as_f64().expect("a mean");
                assert!(each > 2.0 || id.starts_with("udp/"), "{id}: {takes:#}");
                // a delay follows each look that finds nothing: at most 15 in 300 ms, and some before and after
                assert!(calls - groups < 70 * blocks() as u64, "{id}: {takes:#}");
            }
        }
    }
    let report = scene.ddsmark(&["report", "result", "--full"]);
    report.assert_status(0);
    assert!(report.stdout.contains("polling with a delay of 20ms"), "{}", report.stdout);
}

#[test]
fn every_driver_takes_samples_in_groups() {
    let scene = Scene::new();
    let found = cells(
        &scene,
        r#"question = "What does a group cost?"
workload = ["throughput", "paced"]
[factors]
driver = ["udp", "cyclonedds", "sim"]
size = 100
rate = 1000
receive_group = [1, "8/5ms"]
[design]
warm_up = "50ms"
measure = "300ms"
"#,
    );
    assert_eq!(found.len(), 12);
    for cell in &found {
        let id = cell["id"].as_str().expect("an id");
        let takes = &cell["throughput"]["takes"];
        assert_eq!(takes["samples"], cell["throughput"]["delivered"], "{id}: {cell:#}");
        let [groups, samples, max, calls] =
            ["groups", "samples", "max_samples", "calls"].map(|name| count(&takes[name]));
        assert!(groups > 0 && groups <= samples && calls >= groups, "{id}: {takes:#}");
        let grouped = id.ends_with("group-8-5ms");
        assert_eq!(cell["factors"]["queues"]["receive_group"]["by"] == "application", grouped, "{id}");
        if grouped {
            assert!((2..=8).contains(&max), "{id}: {takes:#}");
        }
        if id.contains("paced") && grouped {
            // 5 or 6 samples arrive in 5 ms: each run has at most 61 groups that are not full, and 38 that are
            assert!(groups < 100 * blocks() as u64, "{id}: {takes:#}");
            assert!(count(&cell["latency"]["response"]["max_ns"]) >= 5_000_000, "{id}: {cell:#}");
            assert!(cell["latency"]["response"]["mean_ns"].as_f64().expect("a mean") > 1e6, "{id}: {cell:#}");
        }
    }
    let report = scene.ddsmark(&["report", "result", "--full"]);
    report.assert_status(0);
    assert!(
        report.stdout.contains("waitset in groups of 8 or what comes within 5ms (application)"),
        "{}",
        report.stdout
    );
    assert!(report.stdout.contains("Samples/take"), "{}", report.stdout);
}
