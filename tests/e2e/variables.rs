//! Environment variables of the agents as factors, with real processes.

use std::fs;

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, list, shared_library},
};

fn slow_send(scene: &Scene) -> String {
    shared_library(scene, "cc", "slow_send.so", &["-std=c11", "-O2", "../preload/slow_send.c"])
}

#[test]
fn preloaded_slowdown_is_detected() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let library = slow_send(&scene);
        let sets = [
            "factors.driver=udp".to_owned(),
            "factors.size=64".to_owned(),
            format!("factors.env.LD_PRELOAD=false,{library}"),
            // 4 ms is above the noise of any host
            "factors.env.SLOW_SEND_NS=4000000".to_owned(),
            "design.baseline.env.LD_PRELOAD=false".to_owned(),
            "design.blocks=7".to_owned(),
            "design.measure=250ms".to_owned(),
            "design.warm_up=20ms".to_owned(),
            "design.repeat_noisy=false".to_owned(),
        ];
        let words = [
            "run",
            "latency-vs-size",
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--json",
            "--out",
            "result",
        ];
        let words: Vec<&str> =
            words.into_iter().chain(sets.iter().flat_map(|set| ["--set", set.as_str()])).collect();
        let outcome = scene.ddsmark(&words);
        outcome.assert_status(0);
        let document = outcome.document();
        let ids: Vec<&str> = list(&document["cells"]).iter().filter_map(|cell| cell["id"].as_str()).collect();
        let [unset, slow] =
            ["udp/udp4/latency/64/LD-PRELOAD-unset", "udp/udp4/latency/64/LD-PRELOAD-slow-send.so"];
        assert_eq!(ids, [unset, slow]);
        let is_p50 = |verdict: &&Value| {
            verdict["kind"] == "comparison"
                && verdict["metric"] == "rtt_p50"
                && verdict["treatment"]["cell"] == slow
        };
        let verdict = list(&document["verdicts"]).iter().find(is_p50).expect("a verdict");
        assert_eq!(verdict["baseline"]["cell"], unset);
        assert_eq!(verdict["answer"]["conclusion"]["word"], "higher", "{verdict:#}");
        // a hash of the library is recorded, not only its path
        let variables = &document["hosts"][0]["environment"]["fields"]["variable"];
        let hash = variables[format!("LD_PRELOAD{library}")].as_str().expect("a hash");
        assert_eq!(hash, results::sha256(&fs::read(&library).expect("the library")));

        let [baseline, treatment] = [unset, slow].map(|cell| format!("result:{cell}"));
        let rejected = scene.ddsmark(&["compare", &baseline, &treatment]);
        rejected.assert_status(2);
        assert!(
            rejected.stderr.contains(&format!("env.LD_PRELOAD: `(not set)`, then `{library}`")),
            "{rejected:?}"
        );
        let compared = scene.ddsmark(&[
            "compare",
            &baseline,
            &treatment,
            "--factor",
            "env.LD_PRELOAD",
            "--fail-if",
            "p50 > +50%",
        ]);
        compared.assert_status(1);
        let report = scene.ddsmark(&["report", "result", "--full"]);
        report.assert_status(0);
        let wanted = "environment of the agents: LD_PRELOAD not set, SLOW_SEND_NS=4000000";
        assert!(report.stdout.contains(wanted), "{}", report.stdout);
    });
}

#[test]
fn library_that_cannot_be_preloaded_and_missing_file_are_rejected_before_the_first_run() {
    let scene = Scene::new();
    let run = |set: &str| {
        let sets = ["--set", "factors.driver=udp", "--set", "factors.size=64", "--set", set];
        let outcome = scene.ddsmark(&[&["run", "latency-vs-size", "--dry-run"], &sets[..]].concat());
        outcome.assert_status(2);
        outcome.stderr
    };
    let error = run("factors.env.LD_PRELOAD=/nowhere/missing.so");
    assert!(error.contains("cell `udp/udp4/latency/64`") && error.contains("/nowhere/missing.so"), "{error}");
    assert!(error.contains("hint: name an existing shared library"), "{error}");
    let error = run("factors.env.SOME_URI=file:///nowhere/config.xml");
    assert!(error.contains("file `/nowhere/config.xml` of variable `SOME_URI` not found"), "{error}");
    assert!(error.contains("^^^^"), "{error}");
}
