//! Bottleneck of a run of the default length, 800 ms, with real processes: the sender, the middleware, the reader;
//! and the idle part of their CPU time.

use std::{ffi::OsStr, fs};

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, changed_driver, count, list, root, runs, shared_library},
};

/// Returns parts of an agent's usage as a fraction of the metered time.
fn share(agent: &Value, parts: &[&str]) -> f64 {
    let usage = &agent["usage"];
    parts.iter().map(|part| count(&usage[part])).sum::<u64>() as f64 / count(&usage["elapsed_ns"]) as f64
}

/// Builds a library from `tests/preload`, for `LD_PRELOAD`.
fn preload(scene: &Scene, name: &str) -> String {
    let source = root().join("tests/preload").join(format!("{name}.c")).display().to_string();
    shared_library(scene, "cc", &format!("{name}.so"), &["-O2", "-std=gnu11", &source])
}

/// Measures a plan for 800 ms a run, with these variables in the environment of all processes.
fn measure(scene: &Scene, variables: &[(&str, &OsStr)], plan: &str) -> Value {
    let design = "[design]\nblocks = 3\nwarm_up = \"20ms\"\nmeasure = \"800ms\"\n";
    fs::write(scene.path("limits.toml"), format!("question = \"What limits it?\"\n{plan}{design}"))
        .expect("a file");
    let _ = fs::remove_dir_all(scene.path("result"));
    let outcome = scene
        .start_with(
            variables,
            "ddsmark",
            &[
                "run",
                "limits.toml",
                "--no-reference",
                "--set",
                "design.noise_probe=false",
                "--json",
                "--out",
                "result",
            ],
        )
        .end();
    outcome.assert_status(0);
    outcome.document()
}

/// Returns the runs that are as `wanted`, in spite of a busy host. Measures up to four times until there are some.
fn undisturbed(
    scene: &Scene,
    variables: &[(&str, &OsStr)],
    plan: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Vec<Value> {
    let found = (0..4).find_map(|_| {
        let document = measure(scene, variables, plan);
        let found: Vec<Value> = runs(&document).into_iter().filter(|run| wanted(run)).cloned().collect();
        (!found.is_empty()).then_some(found)
    });
    found.expect("a run that is not disturbed, in four experiments")
}

fn paced(driver: &str, receive: &str, rate: u64) -> String {
    format!(
        "workload = \"paced\"\n[factors]\ndriver = {driver:?}\nreceive = {receive:?}\nsize = 64\nrate = {rate}\n"
    )
}

#[test]
fn burning_sender_is_sender_limited_and_blocked_sender_is_back_pressure() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let slow = preload(&scene, "slow_send");
        let variables = [("LD_PRELOAD", OsStr::new(&slow)), ("SLOW_SEND_NS", OsStr::new("400000"))];
        // 2,500 samples/s are possible
        let burned = |run: &Value| share(&run["processes"][0], &["driving_ns"]) > 0.9;
        for run in undisturbed(&scene, &variables, &paced("udp", "waitset", 10_000), burned) {
            let paced = &run["measured"]["paced"];
            assert!(paced["sender_limited"] == true && paced["back_pressure"] != true, "{run:#}");
        }
        // 50 samples/s are possible
        let had_a_core = |run: &Value| {
            let writer = &run["processes"][0];
            share(writer, &["driving_ns"]) < 0.9 && share(writer, &["run_delay_ns"]) < 0.5
        };
        for run in undisturbed(
            &scene,
            &[],
            &paced(&changed_driver(&scene, "udp", "blocks"), "waitset", 1_000),
            had_a_core,
        ) {
            assert_eq!(run["measured"]["paced"]["back_pressure"], true, "{run:#}");
        }
    });
}

#[test]
fn saturated_reader_uses_its_core_for_the_whole_measurement() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let slow = preload(&scene, "slow_receive");
        let variables = [("LD_PRELOAD", OsStr::new(&slow)), ("SLOW_RECEIVE_NS", OsStr::new("100000"))];
        let plan = "workload = \"throughput\"\n[factors]\ndriver = \"udp\"\nsize = [1000, 1008]\n";
        let document = measure(&scene, &variables, plan);
        let all = runs(&document);
        // from the order to the end of the drain it would be at most 0.76
        let saturated = all.iter().filter(|run| share(&run["processes"][1], &["driving_ns"]) > 0.9).count();
        assert!(2 * saturated > all.len(), "{saturated} of {}: {document:#}", all.len());
        // both sizes have the same rate unless the host disturbs one of them
        let findings = list(&document["findings"]).iter().filter(|_| saturated == all.len());
        for plateau in findings.filter(|finding| finding["kind"] == "plateau") {
            assert!(list(&plateau["limits"]).contains(&"reader_cpu".into()), "{plateau:#}");
        }
    });
}

#[test]
fn idle_cost_is_subtracted_unless_the_process_polls() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let texts = |run: &Value| -> Vec<String> {
            let idle = list(&run["warnings"]).iter().filter(|warning| warning["kind"] == "idle_cpu");
            idle.filter_map(|warning| warning["text"].as_str().map(ToOwned::to_owned)).collect()
        };
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number: {value}"));
        let busy =
            measure(&scene, &[], &paced(&changed_driver(&scene, "udp", "keeps_busy"), "waitset", 10_000));
        let mut subtracted = 0;
        for run in runs(&busy) {
            let cpu_per_sample = &run["cpu_ns_per_sample"];
            for (agent, end) in list(&run["processes"]).iter().zip(["writer", "reader"]) {
                let usage = &agent["usage"];
                let idle = &usage["idle"];
                let cpu = (count(&usage["user_ns"]) + count(&usage["system_ns"])) as f64;
                let rate = count(&idle["used_ns"]) as f64 / count(&idle["elapsed_ns"]) as f64;
                let expected = rate * count(&usage["elapsed_ns"]) as f64 / cpu;
                // the busy thread exists; on a host that gives it no core it may be idle, or use all CPU time of the
                // process
                let words = texts(run).into_iter().find(|text| text.contains(end)).unwrap_or_default();
                if cpu_per_sample.is_null() || !words.contains("was subtracted") {
                    continue;
                }
                let pct = number(&cpu_per_sample[format!("{end}_idle_pct")]);
                assert!(pct > 5.0 && (pct / 100.0 - expected).abs() < 1e-6, "{run:#}");
                let left = cpu * (1.0 - expected) / count(&usage["samples"]) as f64;
                let reported = number(&cpu_per_sample[end]);
                assert!((reported / left - 1.0).abs() < 1e-6, "{reported} {left}: {run:#}");
                subtracted += 1;
            }
        }
        assert!(subtracted > 0, "{busy:#}");
        let polling = measure(&scene, &[], &paced("udp", "polling", 200));
        for run in runs(&polling) {
            assert!(run["cpu_ns_per_sample"]["reader_idle_pct"].is_null(), "{run:#}");
            assert!(
                texts(run).iter().any(|text| text.contains("the reader's process waits by using its core")),
                "{run:#}"
            );
        }
    });
}
