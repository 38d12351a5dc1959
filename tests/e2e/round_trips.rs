//! Writes that a middleware delays, rejects or times out are part of the RTT; and where echoes are sent.

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, changed_driver, count, list},
};

/// Time by which `faulty_driver.cpp` delays a write, in ns.
const KEPT_NS: u64 = 50_000_000;

/// Returns the sum of a count over the runs of a cell.
fn retries(cell: &Value, what: &str) -> u64 {
    list(&cell["runs"]).iter().map(|run| count(&run["measured"]["ping_retries"][what])).sum()
}

#[test]
fn delayed_writes_are_in_the_tail_and_retries_are_counted() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let drivers = ["stalls", "times_out", "refuses"].map(|how| changed_driver(&scene, "udp", how));
        // 1,000 pings, two of them delayed, take 0.1 s and 1,000 round trips, which a busy host makes longer
        let plan = format!(
            r#"question = "Is a write that is kept part of the round trip?"
workload = "latency"
[factors]
driver = {drivers:?}
size = 64
[design]
warm_up = "20ms"
measure = "2s"
"#
        );
        std::fs::write(scene.path("kept.toml"), plan).expect("a file");
        let outcome = scene.run_blocks("kept.toml");
        outcome.assert_status(0);
        let document = outcome.document();
        let warning_text = "round trips include the time since the first attempt";
        for (how, driver) in ["stalls", "times_out", "refuses"].into_iter().zip(&drivers) {
            let cells = list(&document["cells"]);
            let cell =
                cells.iter().find(|cell| cell["factors"]["driver"] == driver.as_str()).expect("a cell");
            let rtt = &cell["latency"]["rtt"];
            let max = |run: &Value| count(&run["latency"]["rtt"]["max_ns"]);
            let runs = list(&cell["runs"]);
            assert!(runs.iter().all(|run| run["state"] == "valid" && max(run) >= KEPT_NS), "{how}: {cell:#}");
            // histogram values have a relative error of up to 0.1 %
            assert!(rtt["p99_9_ns"].as_f64().unwrap() >= KEPT_NS as f64 * 0.999, "{how}: {cell:#}");
            // most writes are not delayed
            assert!(rtt["p50_ns"].as_f64().unwrap() < KEPT_NS as f64 / 2.0, "{how}: {cell:#}");
            let [timed_out, rejected, unsent] =
                ["timed_out", "refused", "unsent"].map(|what| retries(cell, what));
            assert_eq!(
                (timed_out > 0, rejected > 0, unsent),
                (how == "times_out", how == "refuses", 0),
                "{cell:#}"
            );
            let warnings = list(&cell["warnings"]).iter().filter_map(|warning| warning["text"].as_str());
            assert_eq!(
                warnings.filter(|text| text.contains(warning_text)).count(),
                usize::from(how != "stalls"),
                "{cell:#}"
            );
            // the wait before a ping is accepted is part of the outward one-way latency
            let way_out = |run: &Value| count(&run["latency"]["one_way_out"]["max_ns"]);
            assert!(how == "stalls" || runs.iter().all(|run| way_out(run) >= KEPT_NS), "{how}: {cell:#}");
        }
        let report = scene.ddsmark(&["report", "result", "--full"]);
        report.assert_status(0);
        assert!(report.stdout.contains(warning_text), "{}", report.stdout);
    });
}

/// Returns the echoes of the listeners of all runs of a driver, and the pings that its echoes received.
fn of_listeners(cells: &[Value], driver: &str) -> (u64, u64) {
    let cell = cells.iter().find(|cell| cell["factors"]["driver"] == driver).expect("a cell");
    let runs = list(&cell["runs"]);
    assert!(runs.iter().all(|run| run["state"] == "valid"), "{cell:#}");
    let echoes = runs.iter().flat_map(|run| list(&run["endpoints"])).filter(|end| end["role"] == "echo");
    echoes.fold((0, 0), |(sent, received), echo| {
        (sent + count(&echo["echoed_in_listener"]), received + count(&echo["reception"]["samples"]))
    })
}

#[test]
fn listeners_send_echoes_themselves_where_the_driver_says_so() {
    let scene = Scene::new();
    let drivers = ["udp", "tcp", "cyclonedds", "fastdds"];
    let list_of_drivers = drivers.join(",");
    let arguments = ["latency", "--driver", &list_of_drivers, "--size", "64", "--receive", "listener"];
    let outcome = scene.ddsmark(
        &[
            &arguments[..],
            &[
                "--runs",
                "1",
                "--warm-up",
                "20ms",
                "--duration",
                "100ms",
                "--no-reference",
                "--set",
                "design.noise_probe=false",
                "--json",
            ],
        ]
        .concat(),
    );
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    for driver in drivers {
        let (sent, received) = of_listeners(cells, driver);
        assert!(sent > 0 && sent == received, "{driver}: {sent} of {received}");
    }
}
