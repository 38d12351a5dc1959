//! Samples at planned times, from plan to table, with real drivers.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, count, list, number, wait_for},
};

/// Runs an experiment file, and returns its result.
fn runs(scene: &Scene, file: &str) -> Value {
    fs::write(scene.path("paced.toml"), file).expect("a file");
    let outcome = scene.run_blocks("paced.toml");
    outcome.assert_status(0);
    outcome.document()
}

/// Asserts what holds of each flow of any valid run.
fn assert_reconciles(run: &Value) {
    assert_eq!(run["state"], "valid", "{run:#}");
    for flow in list(&run["flows"]) {
        let counted = &flow["counted"];
        let [sent, delivered] = ["sent", "delivered"].map(|name| count(&counted[name]));
        assert!(delivered > 0, "{flow:#}");
        let latency = &flow["latency"];
        assert_eq!(count(&latency["service"]["n"]), delivered, "{flow:#}");
        let [planned, offered] = ["planned", "offered"].map(|name| count(&flow[name]));
        assert!(planned >= offered && offered >= sent, "{flow:#}");
        let response = &latency["response"];
        if flow["load"] == "max" {
            assert!(response.is_null() && latency["send_lag"].is_null(), "{flow:#}");
            continue;
        }
        assert_eq!(count(&response["n"]) + count(&flow["unplaced"]), delivered, "{flow:#}");
        assert_eq!(count(&latency["send_lag"]["n"]), offered, "{flow:#}");
        let mean = |kind: &str| number(&latency[kind]["mean_ns"]);
        assert!(mean("response") >= mean("service"), "{flow:#}");
        if offered == delivered {
            let rest = mean("response") - mean("service") - mean("send_lag");
            assert!(rest.abs() < 1e-6 * mean("response"), "{rest}: {flow:#}");
        }
    }
}

#[test]
fn response_time_is_the_sum_of_send_lag_and_service_time() {
    let scene = Scene::new();
    let document = runs(
        &scene,
        r#"
        question = "How late is a sample at this load?"
        workload = "paced"
        [factors]
        driver = "udp"
        size = 64
        rate = [100, "10k/s", "max"]
        [design]
        warm_up = "20ms"
        measure = "500ms"
        "#,
    );
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 3);
    for (cell, planned) in cells.iter().zip([Some(50), Some(5_000), None]) {
        list(&cell["runs"]).iter().for_each(assert_reconciles);
        let run = &cell["runs"][0];
        let paced = &run["measured"]["paced"];
        match planned {
            Some(planned) => {
                assert_eq!(count(&paced["planned"]), planned, "{run:#}");
                assert_eq!(number(&paced["planned_sps"]), planned as f64 * 2.0, "{run:#}");
            }
            None => assert!(paced["planned_sps"].is_null() && paced["sender_limited"] == false, "{run:#}"),
        }
    }
    let report = scene.ddsmark(&["report", "result", "--full"]);
    report.assert_status(0);
    let table: Vec<&str> =
        report.stdout.lines().skip_while(|line| !line.starts_with("Latency under load")).collect();
    let rates: Vec<&str> = table[3..6].iter().filter_map(|row| row.split_whitespace().nth(2)).collect();
    assert_eq!(rates, ["100/s", "10000/s", "max"], "{}", report.stdout);
}

#[test]
fn each_flow_has_its_own_schedule_and_metrics() {
    let scene = Scene::new();
    let times: String = (0..40).map(|i| format!("0.{:03}\n", i * i / 4)).collect();
    fs::write(scene.path("times.txt"), times).expect("a file");
    let file = r#"
        question = "Do flows disturb each other?"
        workload = "paced"
        [factors]
        driver = ["udp", "cyclonedds"]
        [[flows]]
        name = "control"
        size = 64
        rate = 200
        [[flows]]
        name = "bulk"
        size = 4096
        rate = 2000
        arrival = "poisson"
        [[flows]]
        name = "seen"
        size = 256
        trace = "times.txt"
        [design]
        blocks = 3
        warm_up = "20ms"
        measure = "500ms"
    "#;
    fs::write(scene.path("flows.toml"), file).expect("a file");
    let outcome = scene.ddsmark(&[
        "run",
        "flows.toml",
        "--json",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--out",
        "result",
    ]);
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 2);
    for cell in cells {
        list(&cell["runs"]).iter().for_each(assert_reconciles);
        let run = &cell["runs"][0];
        let flows = list(&run["flows"]);
        let summary: Vec<(&str, u64)> = flows
            .iter()
            .map(|flow| (flow["name"].as_str().expect("a name"), count(&flow["size_bytes"])))
            .collect();
        assert_eq!(summary, [("control", 64), ("bulk", 4096), ("seen", 256)]);
        assert_eq!((count(&flows[0]["planned"]), count(&flows[2]["planned"])), (100, 40), "{run:#}");
        // the mean is 1000; the limits are more than ten standard deviations away
        assert!((650..1350).contains(&count(&flows[1]["planned"])), "{run:#}");
        // the cell has each of the flows, too
        assert_eq!(list(&cell["paced"]["flows"]).len(), 3);
    }
    // each run draws its own random times
    let all = cells.iter().flat_map(|cell| list(&cell["runs"]));
    let mut drawn: Vec<u64> = all.map(|run| count(&run["flows"][1]["planned"])).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert!(drawn.len() > 1, "{drawn:?}");
}

/// The simulated middleware takes 5 ms, which `tight` does not allow. With real middleware, all deadlines are those of a busy host.
#[test]
fn system_names_the_flow_that_misses_its_deadline() {
    let scene = Scene::new();
    let file = |driver: &str, tight: &str| {
        format!(
            r#"
            question = "Which topic suffers?"
            workload = "paced"
            factors.driver = "{driver}"
            [[flows]]
            name = "tight"
            size = 64
            rate = "100/s"
            deadline = "{tight}"
            [[flows]]
            name = "small"
            count = 20
            size = 64
            rate = "20/s"
            deadline = "10s"
            [design]
            blocks = 1
            warm_up = "50ms"
            measure = "1s"
            {options}
            "#,
            options = if driver == "sim" { "[options.sim]\nlatency = \"5ms\"" } else { "" }
        )
    };
    let document = runs(&scene, &file("sim", "1ms"));
    let cell = &list(&document["cells"])[0];
    let (run, system) = (&cell["runs"][0], &cell["paced"]["system"]);
    assert_reconciles(run);
    let tight = &run["flows"][0]["timeliness"];
    assert_eq!(
        (count(&tight["planned"]), count(&tight["missed"]), &tight["is_met"]),
        (100, 100, &false.into())
    );
    assert_eq!((count(&system["runs"]), count(&system["met_runs"])), (1, 0), "{system:#}");
    assert_eq!((&system["not_met"][0]["flow"], count(&system["not_met"][0]["flows"])), (&"tight".into(), 1));
    // Half a period of 10 ms and the response, at least.
    assert!(number(&tight["mean_age_ns"]) > 9e6, "{tight:#}");

    let document = runs(&Scene::new(), &file("cyclonedds", "10s"));
    let cell = &list(&document["cells"])[0];
    let (run, system) = (&cell["runs"][0], &cell["paced"]["system"]);
    assert_reconciles(run);
    assert_eq!(list(&run["flows"]).len(), 21);
    for flow in list(&run["flows"]) {
        let [missed, planned] = ["missed", "planned"].map(|name| count(&flow["timeliness"][name]));
        assert_eq!(missed, planned - count(&flow["counted"]["delivered"]), "{flow:#}");
        assert!(count(&flow["latency"]["age"]["n"]) > 0, "{flow:#}");
    }
    assert_eq!(count(&system["met_runs"]), 1, "{system:#}");
}

#[test]
fn each_flow_has_its_own_policies() {
    let scene = Scene::new();
    let document = runs(
        &scene,
        r#"
        question = "Do flows have what each was asked for?"
        workload = "paced"
        [factors]
        driver = "cyclonedds"
        [qos]
        reliability = "reliable"
        [[flows]]
        name = "control"
        size = 64
        rate = 200
        [[flows]]
        name = "images"
        size = 4096
        rate = 100
        qos = { reliability = "best_effort", history = "keep_last", history_depth = 3 }
        [design]
        warm_up = "20ms"
        measure = "300ms"
        "#,
    );
    for run in list(&document["cells"][0]["runs"]) {
        assert_reconciles(run);
        for (entity, reliability, history) in [
            ("writer", "reliable", "keep_all"),
            ("writer-2", "best_effort", "keep_last"),
            ("reader", "reliable", "keep_all"),
            ("reader-2", "best_effort", "keep_last"),
        ] {
            let endpoints = list(&run["endpoints"]).iter();
            let qos = endpoints.map(|endpoint| &endpoint["effective_qos"][entity]).find(|qos| !qos.is_null());
            let qos = qos.expect("the QoS of the entity");
            let found = (qos["reliability"].as_str(), qos["history"].as_str());
            assert_eq!(found, (Some(reliability), Some(history)), "{entity}: {run:#}");
        }
    }
}

#[test]
fn middleware_slower_than_the_schedule_is_reported_as_back_pressure() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let document = runs(
            &scene,
            r#"
        question = "What if more is planned than it takes?"
        workload = "paced"
        [factors]
        driver = "sim"
        size = 64
        rate = "10k/s"
        [options.sim]
        service = "1ms"
        [design]
        warm_up = "20ms"
        measure = "500ms"
        "#,
        );
        let runs = list(&document["cells"][0]["runs"]);
        runs.iter().for_each(assert_reconciles);
        let run = &runs[0];
        let paced = &run["measured"]["paced"];
        assert_eq!(count(&paced["planned"]), 5_000);
        // on a busy host the cause cannot be determined
        let usage = &run["processes"][0]["usage"];
        let [user, system, waited, driving] = ["user_ns", "system_ns", "run_delay_ns", "driving_ns"]
            .map(|ns| number(&usage[ns]) / number(&usage["elapsed_ns"]));
        let is_starved = waited > 0.5 && user + system < 0.5;
        let is_busy = is_starved || driving > 0.9;
        let kind = if is_busy { "sender_limited" } else { "back_pressure" };
        assert_eq!(paced[kind], true, "{run:#}");
        assert!(number(&run["flows"][0]["lag_in_writes_pct"]) > 50.0, "{run:#}");
        assert!(count(&paced["unsent"]) > 0, "{run:#}");
        let kinds: Vec<&str> =
            list(&run["warnings"]).iter().filter_map(|warning| warning["kind"].as_str()).collect();
        assert!(kinds.contains(&kind) && kinds.contains(&"unsent"), "{run:#}");
    });
}

/// Returns the median over runs of the lower of offered and delivered rate.
fn median_of_lower(maximum: &Value) -> f64 {
    let mut rates: Vec<f64> = list(&maximum["runs"])
        .iter()
        .map(|run| number(&run["unpaced"]["offered_sps"]).min(number(&run["unpaced"]["delivered_sps"])))
        .collect();
    assert_eq!(rates.len(), 3, "{maximum:#}");
    rates.sort_by(f64::total_cmp);
    rates[1]
}

const PERCENTS: &str = r#"
    question = "How late is a sample at this share of what it does?"
    workload = "paced"
    [factors]
    driver = "udp"
    size = 64
    rate = ["5%", "20%", "40%"]
    [design]
    blocks = 3
    warm_up = "20ms"
    measure = "300ms"
"#;

#[test]
fn percent_rates_refer_to_a_maximum_measured_once() {
    let scene = Scene::new();
    fs::write(scene.path("paced.toml"), PERCENTS).expect("a file");
    let plan = scene.ddsmark(&["run", "paced.toml", "--dry-run"]);
    assert!(plan.stdout.contains("what 100 % of a rate is: 3 runs of 1 cell"), "{}", plan.stdout);
    let running = scene.start("ddsmark", &["run", "paced.toml", "--out", "result"]);
    let second = scene.path("result/runs/0002.json");
    wait_for("the second run", || second.is_file().then_some(()));
    running.signal("KILL");
    assert_eq!(running.end().status.code(), None);
    wait_for("the end of all agents", || scene.processes().is_empty().then_some(()));
    let saved = fs::read(scene.path("result/log.json")).expect("the log");
    let saved: Value = serde_json::from_slice(&saved).expect("JSON");

    let outcome = scene.ddsmark(&["run", "--resume", "result", "--json"]);
    outcome.assert_status(0);
    assert!(!outcome.stderr.contains("[maximum"), "{}", outcome.stderr);
    let document = outcome.document();
    assert_eq!((&document["max_rates"], list(&document["max_rates"]).len()), (&saved["max_rates"], 1));
    let maximum = &document["max_rates"][0];
    let sps = number(&maximum["sps"]);
    assert!((sps - median_of_lower(maximum)).abs() < 1e-9, "{maximum:#}");
    for (cell, percent) in list(&document["cells"]).iter().zip([5.0, 20.0, 40.0]) {
        let load = &cell["factors"]["load"];
        assert_eq!((&load["plan"], number(&load["percent"])), (&"share".into(), percent), "{load:#}");
        let rate = number(&load["rate"]["samples"]) * 1e9 / number(&load["rate"]["period_ns"]);
        assert!((rate - sps * percent / 100.0).abs() < 1e-5, "{load:#} of {sps}");
        assert_eq!(list(&cell["runs"]).len(), 3);
        for run in list(&cell["runs"]) {
            assert_reconciles(run);
            // up to one sample of the schedule
            let planned = number(&run["measured"]["paced"]["planned_sps"]);
            assert!((planned - rate).abs() <= 1.0 / 0.3 + 1e-6, "{planned}, not {rate}");
        }
    }
    let report = scene.ddsmark(&["report", "result", "--full"]).stdout;
    assert!(report.contains("100 % at 64 bytes, batch none: "), "{report}");
    assert!(report.contains("the median of 3 runs as fast as it goes ("), "{report}");
    // the first row of the table
    let row =
        report.lines().skip_while(|line| !line.starts_with("Latency under load")).nth(3).unwrap_or_default();
    assert!(row.contains(" 5% ("), "{row}");
}
