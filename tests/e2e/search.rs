//! Searches for the highest sustained rate, with real processes. Other load on the host lowers the sustained rate
//! and never raises it. Only a slow server is therefore tested for a minimum rate: a thread that waits some ms for
//! its core does not overload it.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, blocks, count, list, wait_for},
};

/// Experiment with a server of 2000 samples/s and short trials.
const FILE: &str = r#"question = "How much?"
workload = "search"

[factors]
driver = "sim"
size = 64

[options.sim]
service = "500us"
queue = 50

[search]
initial_trial = "100ms"
final_trial = "200ms"
duration_sum = "200ms"
width = "25%"
budget = "60s"

[design]
blocks = 1
warm_up = "20ms"
seed = 7

[limits]
hello = "20s"
"#;
/// Changes to a server of 200 samples/s: a sample may wait 5 ms for its turn and be in time. Two of three trials
/// judge a rate.
const SLOW: [(&str, &str); 5] = [
    ("500us", "5ms"),
    ("queue = 50", "queue = 10"),
    ("\"100ms\"", "\"400ms\""),
    ("final_trial = \"200ms\"", "final_trial = \"400ms\""),
    ("duration_sum = \"200ms\"", "duration_sum = \"1200ms\""),
];
const SLOW_CAPACITY: f64 = 200.0;
/// Lowest valid result as a fraction of the capacity. The width takes 25 %, and a step of the grid as much again.
const LEAST: f64 = 0.5;
/// Highest valid result as a fraction of the capacity: samples in the queue at the end of a short trial may arrive
/// within the tail.
const ROOM: f64 = 1.1;

fn rate(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no rate: {value}"))
}

fn searches(document: &Value) -> Vec<Value> {
    list(&document["cells"][0]["runs"]).iter().map(|run| run["measured"]["search"].clone()).collect()
}

#[test]
fn search_finds_the_capacity_between_the_bounds_of_its_trials() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let slow = SLOW.iter().fold(FILE.to_owned(), |file, (from, to)| file.replace(from, to));
        fs::write(scene.path("search.toml"), slow).expect("a file");
        let outcome = scene.run_blocks("search.toml");
        outcome.assert_status(0);
        let document = outcome.document();
        let searches = searches(&document);
        assert_eq!(searches.len(), blocks());
        for search in &searches {
            assert_eq!(search["ended"], true);
            assert!(rate(&search["ceiling_sps"]) > rate(&search["unpaced"]["offered_sps"]), "{search:#}");
            let trials = list(&search["trials"]);
            let goals = list(&search["goals"]);
            assert_eq!(goals.len(), 2);
            for (number, goal) in goals.iter().enumerate() {
                assert_eq!(goal["state"], "found", "{search:#}");
                let [lower, upper] = [rate(&goal["lower"]["load_sps"]), rate(&goal["upper"]["load_sps"])];
                assert!(lower < upper && upper - lower <= 0.25 * upper * 1.000_001, "{goal:#}");
                assert!(lower <= ROOM * SLOW_CAPACITY, "{goal:#}");
                assert!(lower >= LEAST * SLOW_CAPACITY, "{search:#}");
                assert!(rate(&goal["conditional_sps"]) <= lower * 1.000_001, "{goal:#}");
                let judged_at = |load: f64, good: bool| {
                    trials.iter().any(|trial| {
                        (rate(&trial["load_sps"]) - load).abs() < 1e-9
                            && trial["judged"][number]["good"] == good
                    })
                };
                assert!(judged_at(lower, true) && judged_at(upper, false), "{search:#}");
            }
            // each trial has a schedule of its own
            for trial in trials {
                let planned = rate(&trial["load_sps"]) * count(&trial["duration_ns"]) as f64 / 1e9;
                assert!((count(&trial["planned"]) as f64 - planned).abs() <= 1.0, "{trial:#}");
                assert!(count(&trial["delivered"]) <= count(&trial["planned"]), "{trial:#}");
            }
        }
        // progress by trial, and the report
        assert!(outcome.stderr.contains("trial 1: "), "{}", outcome.stderr);
        let report = scene.ddsmark(&["report", "result", "--full"]).stdout;
        assert!(report.contains("Highest sustained rate") && report.contains("ndr"), "{report}");
    });
}

#[test]
fn interrupted_search_is_repeated_and_earlier_ones_are_kept() {
    let scene = Scene::new();
    fs::write(scene.path("search.toml"), FILE.replace("blocks = 1", "blocks = 2")).expect("a file");
    let running = scene.start("ddsmark", &["run", "search.toml", "--out", "result"]);
    let second = scene.path("result/runs/0002.json");
    // during the second search
    wait_for("a trial of the second search", || second.is_file().then_some(()));
    running.signal("KILL");
    assert_eq!(running.end().status.code(), None);
    wait_for("the end of all agents", || scene.processes().is_empty().then_some(()));
    let part = scene.ddsmark(&["report", "result", "--json"]).document();
    assert_eq!(part["state"], "interrupted");
    let before = fs::read(scene.path("result/runs/0001.json")).expect("the first run");
    let saved: Value = serde_json::from_slice(&fs::read(&second).expect("the second run")).expect("JSON");
    assert_eq!(
        (&saved["state"], &saved["measured"]["search"]["ended"]),
        (&"failed".into(), &false.into()),
        "{saved:#}"
    );
    assert!(!list(&saved["measured"]["search"]["trials"]).is_empty());

    let outcome = scene.ddsmark(&["run", "--resume", "result", "--json"]);
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(document["state"], "complete");
    assert!(searches(&document).iter().all(|search| search["ended"] == true), "{document:#}");
    assert_eq!(list(&document["cells"][0]["runs"]).len(), 2);
    assert_eq!(fs::read(scene.path("result/runs/0001.json")).expect("the first run"), before);
}

/// To judge 99.9 % of the responses in 200 ms takes 14,975 samples/s; the server does 2000.
#[test]
fn deadline_that_no_trial_can_decide_fails_the_search() {
    let scene = Scene::new();
    let deadline = FILE.replace("[search]", "[search]\ngoals = \"slo\"\ndeadline = \"100ms\"");
    fs::write(scene.path("search.toml"), &deadline).expect("a file");
    let plan = scene.ddsmark(&["run", "search.toml", "--dry-run"]);
    let words = "no trial of 200 ms is made below 14975/s";
    assert!(plan.stdout.contains(words), "{}", plan.stdout);
    let outcome = scene.run_blocks("search.toml");
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    let document = outcome.document();
    let failure = &list(&document["cells"][0]["runs"])[0]["failure"];
    assert!(failure["error"].to_string().contains("`slo` needs 14975 samples/s"), "{failure:#}");
    assert!(failure["hint"].to_string().contains("`late_ratio`"), "{failure:#}");

    // a ratio that fewer samples can show: 59 for 5 %
    let larger = deadline.replace("[search]", "[search]\nlate_ratio = \"5%\"");
    fs::write(scene.path("larger.toml"), larger).expect("a file");
    let outcome = scene.run_blocks_into("larger", "larger.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    for search in searches(&document) {
        assert!(rate(&search["floor_sps"]) >= 295.0, "{search:#}");
        assert!(list(&search["trials"]).iter().all(|trial| rate(&trial["load_sps"]) >= 295.0), "{search:#}");
    }
}

#[test]
fn search_reports_no_rate_if_none_is_sustained() {
    let scene = Scene::new();
    let lossy = FILE
        .replace("queue = 50", "loss = \"90%\"")
        .replace("[search]", "[qos]\nreliability = \"best_effort\"\n\n[search]");
    fs::write(scene.path("search.toml"), lossy).expect("a file");
    let outcome = scene.run_blocks("search.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    // a trial of 10 samples without a loss: one in 10^10
    for goal in searches(&document).iter().flat_map(|search| list(&search["goals"])) {
        assert_eq!((&goal["state"], &goal["conditional_sps"]), (&"floor".into(), &Value::Null), "{goal:#}");
    }
    let warnings = document["cells"][0]["warnings"].to_string();
    assert!(warnings.contains("is not sustained: no rate is known that is"), "{warnings}");
}

/// System of two topics, each with a server of 200 samples/s of its own: the IMU reaches it at scale 4, the commands at 20.
const SYSTEM: &str = r#"question = "How much more?"
workload = "paced"
factors.driver = "sim"

[options.sim]
service = "5ms"

[[flows]]
name = "imu"
size = 64
rate = 50
from = "sensor"
to = "control"
deadline = "40ms"
missed = "5%"

[[flows]]
name = "commands"
size = 64
rate = 10
from = "control"
to = "motor"
deadline = "40ms"
missed = "5%"

[search]
initial_trial = "400ms"
final_trial = "800ms"
duration_sum = "2400ms"
width = "25%"
budget = "90s"

[design]
blocks = 1
warm_up = "20ms"
seed = 7

[limits]
hello = "20s"
"#;
/// Scale at which the IMU reaches the capacity of its server.
const PLANTED: f64 = 4.0;

#[test]
fn search_over_a_system_finds_its_headroom_and_what_fails_first() {
    on_quiet_host(|| {
        let scene = Scene::new();
        fs::write(scene.path("system.toml"), SYSTEM).expect("a file");
        let outcome = scene.ddsmark(&[
            "search",
            "./system.toml",
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--runs",
            "1",
            "--out",
            "result",
            "--json",
        ]);
        outcome.assert_status(0);
        let document = outcome.document();
        let searches = searches(&document);
        let [search] = &searches[..] else { panic!("{searches:#?}") };
        let goal = &search["goals"][0];
        assert_eq!((&goal["aim"], &goal["state"]), (&"system".into(), &"found".into()), "{search:#}");
        assert_eq!(goal["fails_first"], "imu", "{search:#}");
        let [lower, upper] = ["lower", "upper"].map(|bound| rate(&goal[bound]["scale"]));
        assert!(lower < upper && upper - lower <= 0.25 * upper * 1.000_01, "{goal:#}");
        // Samples that wait in the queue at the end of a trial may be in time.
        assert!((LEAST * PLANTED..=1.15 * PLANTED).contains(&lower), "{search:#}");
        for trial in list(&search["trials"]) {
            let scale = rate(&trial["scale"]);
            assert!((rate(&trial["load_sps"]) / 60.0 - scale).abs() < 1e-4, "{trial:#}");
            let planned = 60.0 * scale * count(&trial["duration_ns"]) as f64 / 1e9;
            assert!((count(&trial["planned"]) as f64 - planned).abs() <= 3.0, "{trial:#}");
            let good = trial["judged"][0]["good"] == true;
            // Absent if no sample missed a deadline.
            let beyond = trial["worst"]["missed_pct"].as_f64().is_some_and(|missed| missed > 5.0);
            assert_eq!(good, !beyond, "{trial:#}");
        }
        let headroom = &document["cells"][0]["search"]["goals"][0]["headroom"];
        assert!((rate(&headroom["scale"]) - lower).abs() < 1e-9, "{headroom:#}");
        assert!(outcome.stderr.contains("trial 1: scale "), "{}", outcome.stderr);
        let report = scene.ddsmark(&["report", "result"]).stdout;
        assert!(report.contains("headroom ") && report.contains("imu fails first"), "{report}");
        let csv = scene.ddsmark(&["report", "result", "--csv"]).stdout;
        assert!(csv.contains("search.trials.0.scale"), "{csv}");
    });
}

#[test]
fn search_over_a_system_of_real_middleware_ends_at_its_range() {
    let quick = SYSTEM
        .replace("\"sim\"", "\"cyclonedds\"\nfactors.transport = \"udp4\"")
        .replace("[options.sim]\nservice = \"5ms\"\n", "")
        .replace("400ms", "100ms")
        .replace("800ms", "200ms")
        .replace("2100ms", "200ms")
        .replace("[search]", "[search]\nhighest_scale = 2\nlowest_scale = 0.5");
    let goal_of = |file: &str| {
        let scene = Scene::new();
        fs::write(scene.path("system.toml"), file).expect("a file");
        let outcome = scene.ddsmark(&[
            "run",
            "system.toml",
            "--workload",
            "search",
            "--runs",
            "1",
            "--out",
            "result",
            "--json",
        ]);
        outcome.assert_status(0);
        let search = searches(&outcome.document()).remove(0);
        search["goals"][0].clone()
    };
    // Any host keeps a deadline of 10 s, and none of 1 µs.
    let easy = goal_of(&quick.replace("\"40ms\"", "\"10s\""));
    assert_eq!((&easy["state"], &easy["lower"]["scale"]), (&"ceiling".into(), &2.0.into()), "{easy:#}");
    let last = quick.rfind("\"40ms\"").expect("a deadline");
    let impossible = format!("{}\"1us\"{}", &quick[..last], &quick[last + "\"40ms\"".len()..]);
    let hard = goal_of(&impossible.replace("\"40ms\"", "\"10s\""));
    assert_eq!((&hard["state"], &hard["fails_first"]), (&"floor".into(), &"commands".into()), "{hard:#}");
}

#[test]
fn system_that_no_host_carries_is_rejected_before_it_starts() {
    let scene = Scene::new();
    let file = SYSTEM
        .replace("size = 64\nrate = 50", "size = \"60kB\"\nrate = 1000000")
        .replace("driver = \"sim\"", "driver = \"udp\"")
        .replace("[options.sim]\nservice = \"5ms\"\n", "");
    let file = file.split("[search]").next().expect("a file");
    fs::write(scene.path("huge.toml"), file).expect("a file");
    for more in [&["--dry-run"][..], &["--out", "result"]] {
        let rejected = scene.ddsmark(&[&["run", "huge.toml"][..], more].concat());
        rejected.assert_status(2);
        for words in ["480 Gbit/s", "this host carried", "scale = [", "--force"] {
            assert!(rejected.stderr.contains(words), "{words}: {}", rejected.stderr);
        }
    }
    assert!(!scene.path("result").exists());
    let plan = scene.ddsmark(&["run", "huge.toml", "--dry-run", "--force"]);
    plan.assert_status(0);
    assert!(
        plan.stdout.contains("1000010 samples/s and 480000 Mbit/s of payload are written"),
        "{}",
        plan.stdout
    );
    // At a thousandth, it is a plan of any host.
    let scaled = scene.ddsmark(&["run", "huge.toml", "--dry-run", "--scale", "0.001"]);
    scaled.assert_status(0);
    assert!(scaled.stdout.contains("over loopback this host carried"), "{}", scaled.stdout);
}
