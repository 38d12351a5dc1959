//! Two results measured one after the other, while the host really changes between them.

use std::{fs, thread};

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Running, Scene, changed_driver, list},
};

/// Measures the round trip of the bare socket, built with this change.
fn measure(scene: &Scene, name: &str, change: &str) {
    fs::copy(changed_driver(scene, "udp", change), scene.path("libddsmark_mine.so")).expect("a driver");
    let plan = format!(
        "question = \"What is the round-trip time?\"\nworkload = \"latency\"\n\
         [factors]\ndriver = {:?}\nsize = 64\n\
         [design]\nblocks = 8\nwarm_up = \"20ms\"\nmeasure = \"300ms\"\nrepeat_noisy = false\n",
        scene.path("libddsmark_mine.so")
    );
    fs::write(scene.path("trip.toml"), plan).expect("a file");
    scene.ddsmark(&["run", "trip.toml", "--out", name]).assert_status(0);
}

/// The verdict on the median round trip of `after` compared with `before`.
fn compare(scene: &Scene) -> Value {
    let outcome =
        scene.ddsmark(&["compare", "before", "after", "--metric", "p50", "--factor", "env.driver", "--json"]);
    outcome.assert_status(0);
    let comparison: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let verdicts = list(&comparison["verdicts"]).iter().filter(|verdict| verdict["kind"] == "comparison");
    let [verdict] = verdicts.collect::<Vec<_>>()[..] else {
        panic!("one cell and one metric: {comparison:#}")
    };
    verdict.clone()
}

/// Starts one busy process per core. They end with the value.
fn load(scene: &Scene) -> Vec<Running> {
    let cores = thread::available_parallelism().expect("cores").get();
    (0..cores).map(|_| scene.start("sh", &["-c", "while :; do :; done"])).collect()
}

/// The verdict on the same driver, measured first on a quiet host and then on a loaded one.
fn changed_host(scene: &Scene) -> Value {
    for result in ["before", "after"] {
        let _ = fs::remove_dir_all(scene.path(result));
    }
    measure(scene, "before", "unchanged");
    let _load = load(scene);
    measure(scene, "after", "unchanged");
    compare(scene)
}

#[test]
fn slower_host_makes_no_claim_and_a_slower_driver_does() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let word = |verdict: &Value| verdict["answer"]["conclusion"]["word"].clone();
        let is_inconclusive = |verdict: &Value| word(verdict) == "inconclusive";
        // the load may begin or end in the middle of a result, with what else the host does: two attempts
        let verdicts = [(); 2].iter().map(|()| changed_host(&scene)).find(is_inconclusive);
        let verdict = verdicts.expect("the host makes a claim of a difference inconclusive");
        // the reference shows what happened
        assert!(!list(&verdict["references"]).is_empty(), "{verdict:#}");

        // what else the host does may hide the slower driver, too: 20 ms per write are more than a busy host takes
        let slower = || {
            for (result, change) in [("before", "unchanged"), ("after", "blocks")] {
                fs::remove_dir_all(scene.path(result)).expect("a result");
                measure(&scene, result, change);
            }
            compare(&scene)
        };
        let mut verdicts = (0..3).map(|_| slower());
        assert!(verdicts.any(|verdict| word(&verdict) == "higher"), "a slower driver is not found");
    });
}
