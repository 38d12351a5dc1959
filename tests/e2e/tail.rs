//! Samples that arrive after the last write, with real processes.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, changed_driver, count, list, runs},
};

/// Whether all samples arrived, at the planned rate, and one of them late if the driver holds one back.
fn is_as_planned(run: &Value, holds_one: bool) -> bool {
    let throughput = &run["measured"]["throughput"];
    let samples = |key: &str| count(&throughput[key]);
    let (tail, tail_ns) = (count(&throughput["tail"]["samples"]), count(&throughput["tail"]["ns"]));
    let rate = |key: &str| throughput[key].as_f64().expect("a rate");
    run["state"] == "valid"
        && (samples("sent"), samples("delivered")) == (600, 600)
        && samples("delivered_in_time") + tail == 600
        // over the time until the last arrival, the rate would be 0.71 of it
        && rate("delivered_sps") > 0.85 * rate("accepted_sps")
        && samples("out_of_order") == u64::from(holds_one)
        && (!holds_one || tail >= 1 && tail_ns > 100_000_000)
}

#[test]
fn late_sample_lengthens_the_tail_and_keeps_the_rate() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let holds_one = changed_driver(&scene, "tcp", "holds_one");
        // 40 samples of the warm-up, then 600 in 300 ms; one of the 600 arrives 120 ms after the others
        let plan = format!(
            "question = \"Does one late sample change the rate?\"\nworkload = \"paced\"\n\
         [factors]\ndriver = [{holds_one:?}, \"tcp\"]\nsize = 64\nrate = 2000\n\
         [qos]\nreliability = \"reliable\"\nhistory = \"keep_all\"\n\
         [design]\nblocks = 3\nwarm_up = \"20ms\"\nmeasure = \"300ms\"\n"
        );
        fs::write(scene.path("late.toml"), plan).expect("a file");
        let outcome = scene.ddsmark(&[
            "run",
            "late.toml",
            "--json",
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--out",
            "result",
        ]);
        outcome.assert_status(0);
        let document = outcome.document();
        for cell in list(&document["cells"]) {
            let driver = cell["factors"]["driver"].as_str().expect("a driver");
            let cell = list(&cell["runs"]);
            let as_planned = cell.iter().filter(|run| is_as_planned(run, driver != "tcp")).count();
            // the host may stop the processes in one run of the three
            assert!(as_planned >= 2, "{driver}: {cell:#?}");
        }
        assert_eq!(runs(&document).len(), 6);
        let report = scene.ddsmark(&["report", "result", "--full"]);
        report.assert_status(0);
        assert!(report.stdout.contains("Tail"), "{}", report.stdout);
    });
}
