//! Resumed experiments, whose runner was killed.

use std::{collections::BTreeSet, ffi::OsStr, fs};

use serde_json::Value;

use crate::support::{Outcome, Scene, count, list, programs, wait_for};

/// Settings for two cells, one of which is the baseline: three runs in each block.
const SETS: [&str; 11] = [
    "factors.driver=udp",
    "factors.size=64,1024",
    "design.baseline.size=64",
    "design.measure=20ms",
    "design.warm_up=0s",
    "design.repeat_noisy=false",
    "design.seed=7",
    "limits.hello=20s",
    "design.pin=auto",
    "design.reference=false",
    "design.noise_probe=false",
];

/// Experiment file without a number of blocks.
const FILE: &str = "question = \"?\"\nworkload = \"latency\"\n";

fn run_arguments<'a>(experiment: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let sets = SETS.into_iter().chain(more.iter().copied()).flat_map(|set| ["--set", set]);
    ["run", experiment, "--out", "result"].into_iter().chain(sets).collect()
}

/// Returns number, block, cell and twin of each run, by number.
fn order(document: &Value) -> Vec<(u64, u64, String, bool)> {
    let runs = list(&document["cells"]).iter().flat_map(|cell| list(&cell["runs"]));
    let mut order: Vec<_> = runs
        .map(|run| {
            let cell = run["cell"].as_str().expect("a cell").to_owned();
            (count(&run["number"]), count(&run["block"]), cell, run["twin"].as_bool().unwrap_or(false))
        })
        .collect();
    order.sort();
    order
}

fn killed(scene: &Scene, plan: &str, arguments: &[&str]) -> Outcome {
    let kills = scene.path("kills");
    fs::create_dir_all(&kills).expect("a directory");
    fs::write(kills.join("plan"), format!("{plan}\n")).expect("a file");
    let outcome = start(scene, &[], arguments);
    assert_eq!(outcome.status.code(), None, "{plan}: {outcome:?}");
    wait_for("the end of all agents", || scene.processes().is_empty().then_some(()));
    outcome
}

/// Runs ddsmark, with the program that kills instead of the agent.
fn start(scene: &Scene, more: &[(&str, &OsStr)], arguments: &[&str]) -> Outcome {
    let (kills, agent) = (scene.path("kills"), programs().join("killing-agent"));
    let variables = [("DDSMARK_KILLS", kills.as_os_str()), ("DDSMARK_AGENT", agent.as_os_str())];
    scene.start_with(&[&variables[..], more].concat(), "ddsmark", arguments).end()
}

fn resumed(scene: &Scene, more: &[&str]) -> Outcome {
    let arguments = [&["run", "--resume", "result", "--json"], more].concat();
    start(scene, &[], &arguments)
}

#[test]
fn resumed_experiment_has_each_run_once_in_planned_order() {
    // a scene has exclusive use of the host, so the first one ends here
    let planned = {
        let scene = Scene::new();
        let whole = scene
            .ddsmark(&[&run_arguments("latency-vs-size", &["design.blocks=3"])[..], &["--json"]].concat());
        whole.assert_status(0);
        order(&whole.document())
    };
    assert_eq!(planned.len(), 9);

    let scene = Scene::new();
    // in the first run, in the middle of a block, and in the last run of a block; the number counts launches
    killed(&scene, "udp pinger 0 match 0 runner", &run_arguments("latency-vs-size", &["design.blocks=3"]));
    killed(&scene, "udp echo 3 measure 0 runner", &["run", "--resume", "result"]);
    let before = fs::read(scene.path("result/runs/0001.json")).expect("the first run");
    // a file that a crash may leave
    fs::write(scene.path("result/runs/.0009.json.tmp"), "{\"schema_ver").expect("a file");
    killed(&scene, "udp pinger 7 exit 0 runner", &["run", "--resume", "result"]);
    let part = scene.ddsmark(&["report", "result", "--json"]).document();
    assert_eq!(
        (part["state"].as_str(), part["allocation"]["stopped_by"].as_str()),
        (Some("interrupted"), Some("interrupted"))
    );
    let outcome = resumed(&scene, &[]);
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(document["state"], "complete");
    assert_eq!(order(&document), planned);
    assert_eq!(fs::read(scene.path("result/runs/0001.json")).expect("the first run"), before);
    let firsts: Vec<u64> =
        list(&document["resumed"]).iter().map(|again| count(&again["first_run"])).collect();
    assert_eq!((firsts.len(), firsts[0]), (3, 1), "{firsts:?}");
    let blocks = list(&document["blocks"]);
    assert_eq!(blocks.len(), 3);
    assert!(blocks.iter().all(|block| block["complete"] == true), "{blocks:?}");
    // the saved result is the printed one
    assert_eq!(scene.ddsmark(&["report", "result", "--json"]).document(), document);
    let again = resumed(&scene, &[]);
    again.assert_status(2);
    assert!(again.stderr.contains("is complete"), "{}", again.stderr);
}

#[test]
fn resumed_experiment_keeps_the_blocks_of_its_pilot() {
    let scene = Scene::new();
    // the precision cannot be reached; 10 blocks fit into the planned time; more runs are launched than the pilot
    // has
    let more = ["design.precision=0.1%", "design.pilot=6", "design.budget=15s"];
    fs::write(scene.path("open.toml"), FILE).expect("a file");
    killed(&scene, "udp pinger 19 measure 0 runner", &run_arguments("open.toml", &more));
    let saved: Value =
        serde_json::from_slice(&fs::read(scene.path("result/log.json")).expect("a log")).expect("JSON");
    let allocation = &saved["allocation"];
    assert!(count(&allocation["wanted"]) > count(&allocation["planned"]), "{saved:#}");
    let outcome = resumed(&scene, &[]);
    outcome.assert_status(0);
    let document = outcome.document();
    for field in ["planned", "wanted", "pilot_log_sd", "room"] {
        assert_eq!(document["allocation"][field], allocation[field], "{field}");
    }
    assert_eq!(document["allocation"]["stopped_by"], "budget");
    let made = count(&document["allocation"]["made"]);
    assert!((7..=count(&allocation["planned"])).contains(&made), "{made}");
    let numbers: BTreeSet<u64> = order(&document).into_iter().map(|(number, ..)| number).collect();
    assert_eq!(numbers, (1..=made * 3).collect());
}

#[test]
fn resume_in_another_environment_is_rejected_unless_forced() {
    let scene = Scene::new();
    killed(&scene, "udp pinger 2 measure 0 runner", &run_arguments("latency-vs-size", &["design.blocks=3"]));
    let other = [("MALLOC_ARENA_MAX", OsStr::new("1"))];
    let rejected = start(&scene, &other, &["run", "--resume", "result"]);
    rejected.assert_status(2);
    let words = "variable/MALLOC_ARENA_MAX: absent, now `1`";
    assert!(rejected.stderr.contains(words) && rejected.stderr.contains("--force"), "{}", rejected.stderr);
    let forced = start(&scene, &other, &["run", "--resume", "result", "--force", "--json"]);
    forced.assert_status(0);
    let document = forced.document();
    assert_eq!(list(&document["resumed"])[0]["differences"][0], words);
    assert!(list(&document["warnings"]).iter().any(|warning| warning["kind"] == "mixed"), "{document:#}");
    assert_eq!(order(&document).len(), 9);
}

#[test]
fn result_stores_its_trace_and_resumes_from_any_directory() {
    const FOLLOWS: &str = r#"question = "?"
workload = "paced"
[factors]
driver = "udp"
size = 64
trace = "times.txt"
[design]
blocks = 3
measure = "100ms"
warm_up = "0s"
repeat_noisy = false
"#;
    let scene = Scene::new();
    let times: String = (0..50).map(|number| format!("0.{:03}\n", number * 2)).collect();
    fs::write(scene.path("times.txt"), &times).expect("a file");
    fs::write(scene.path("f.toml"), FOLLOWS).expect("a file");
    killed(&scene, "udp writer 1 measure 0 runner", &["run", "f.toml", "--out", "result"]);
    // in another directory, and without the file
    fs::remove_file(scene.path("times.txt")).expect("the file");
    fs::create_dir(scene.path("elsewhere")).expect("a directory");
    fs::rename(scene.path("result"), scene.path("elsewhere/moved")).expect("moved");
    let arguments = ["run", "--resume", "elsewhere/moved", "--json"];
    let copies: Vec<_> = fs::read_dir(scene.path("elsewhere/moved/traces"))
        .expect("copies")
        .map(|e| e.expect("one").path())
        .collect();
    let [copy] = &copies[..] else { panic!("one: {copies:?}") };
    assert_eq!(fs::read_to_string(copy).expect("a copy"), times);
    // a damaged copy is rejected
    fs::write(copy, "0\n").expect("a file");
    let rejected = start(&scene, &[], &arguments);
    rejected.assert_status(3);
    assert!(rejected.stderr.contains("cannot use trace `times.txt`"), "{}", rejected.stderr);
    fs::write(copy, &times).expect("a file");
    let outcome = start(&scene, &[], &arguments);
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(document["state"], "complete");
    let runs = list(&document["cells"][0]["runs"]);
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(
            (run["state"].as_str(), count(&run["measured"]["paced"]["planned"])),
            (Some("valid"), 50),
            "{run:#}"
        );
    }
}
