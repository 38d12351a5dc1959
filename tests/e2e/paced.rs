//! Samples at planned times, from the plan to the table, with real drivers.

use std::fs;

use serde_json::Value;

use crate::support::{Scene, count, list};

/// The runs of an experiment file, by cell.
fn runs(scene: &Scene, file: &str) -> Value {
    fs::write(scene.path("paced.toml"), file).expect("a file");
    let outcome = scene.ddsmark(&["run", "paced.toml", "--json", "--out", "result"]);
    outcome.assert_status(0);
    outcome.document()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value:#}"))
}

/// What holds of each flow of any valid run.
fn assert_reconciles(run: &Value) {
    assert_eq!(run["state"], "valid", "{run:#}");
    for flow in list(&run["paced"]["flows"]) {
        let counted = &flow["counted"];
        let [sent, delivered, lost, undelivered] =
            ["sent", "delivered", "lost", "undelivered"].map(|name| count(&counted[name]));
        assert_eq!(sent, delivered + lost + undelivered, "{flow:#}");
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
fn rates_are_planned_offered_delivered_and_each_sample_is_as_late_as_its_parts() {
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
        blocks = 3
        warm_up = "20ms"
        measure = "500ms"
        "#,
    );
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 3);
    for (cell, planned) in cells.iter().zip([Some(50), Some(5_000), None]) {
        list(&cell["runs"]).iter().for_each(assert_reconciles);
        let run = &cell["runs"][0];
        let paced = &run["paced"];
        match planned {
            Some(planned) => {
                assert_eq!(count(&paced["planned"]), planned, "{run:#}");
                assert_eq!(number(&paced["planned_sps"]), planned as f64 * 2.0, "{run:#}");
            }
            None => assert!(paced["planned_sps"].is_null() && paced["sender_limited"] == false, "{run:#}"),
        }
    }
    let report = scene.ddsmark(&["report", "result"]);
    report.assert_status(0);
    let table: Vec<&str> =
        report.stdout.lines().skip_while(|line| !line.starts_with("Latency under load")).collect();
    let rates: Vec<&str> = table[2..5].iter().filter_map(|row| row.split_whitespace().nth(2)).collect();
    assert_eq!(rates, ["100/s", "10000/s", "max"], "{}", report.stdout);
}

#[test]
fn flows_have_topics_plans_and_figures_of_their_own() {
    let scene = Scene::new();
    let times: String = (0..40).map(|i| format!("0.{:03}\n", i * i / 4)).collect();
    fs::write(scene.path("times.txt"), times).expect("a file");
    let document = runs(
        &scene,
        r#"
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
        "#,
    );
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 2);
    for cell in cells {
        list(&cell["runs"]).iter().for_each(assert_reconciles);
        let run = &cell["runs"][0];
        let flows = list(&run["paced"]["flows"]);
        let told: Vec<(&str, u64)> = flows
            .iter()
            .map(|flow| (flow["name"].as_str().expect("a name"), count(&flow["size_bytes"])))
            .collect();
        assert_eq!(told, [("control", 64), ("bulk", 4096), ("seen", 256)]);
        assert_eq!((count(&flows[0]["planned"]), count(&flows[2]["planned"])), (100, 40), "{run:#}");
        // of a mean of 1000, over ten standard deviations away
        assert!((650..1350).contains(&count(&flows[1]["planned"])), "{run:#}");
        // the cell has each of them too
        assert_eq!(list(&cell["paced"]["flows"]).len(), 3);
    }
    // what is drawn is drawn for each run
    let all = cells.iter().flat_map(|cell| list(&cell["runs"]));
    let mut drawn: Vec<u64> = all.map(|run| count(&run["paced"]["flows"][1]["planned"])).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert!(drawn.len() > 1, "{drawn:?}");
}

#[test]
fn a_middleware_that_takes_less_than_planned_holds_the_sender_up_and_that_is_said() {
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
        blocks = 3
        warm_up = "20ms"
        measure = "500ms"
        "#,
    );
    let runs = list(&document["cells"][0]["runs"]);
    runs.iter().for_each(assert_reconciles);
    let run = &runs[0];
    let paced = &run["paced"];
    assert_eq!((count(&paced["planned"]), &paced["sender_limited"]), (5_000, &Value::Bool(true)), "{run:#}");
    assert!(count(&paced["unsent"]) > 0, "{run:#}");
    let kinds: Vec<&str> =
        list(&run["warnings"]).iter().filter_map(|warning| warning["kind"].as_str()).collect();
    assert!(kinds.contains(&"sender_limited") && kinds.contains(&"unsent"), "{run:#}");
}
