//! Two variants in alternating blocks, with real processes.

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, list, runs, shared_library},
};

const SHORT: &str = "latency-vs-size --set factors.driver=udp --set factors.size=64 --set design.measure=250ms --set \
                     design.warm_up=20ms --set design.repeat_noisy=false --set factors.env.SLOW_SEND_NS=4000000";

#[test]
fn planted_slowdown_of_variant_b_fails_the_gate() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let library =
            shared_library(&scene, "cc", "slow_send.so", &["-std=c11", "-O2", "../preload/slow_send.c"]);
        let slow = format!("run {SHORT} --set 'factors.env.LD_PRELOAD={library}'");
        let gate = ["--metric", "p50", "--fail-if", "p50 > +50%"];
        let measure = ["compare", "--interleave", SHORT, &slow, "--blocks", "7", "--out", "gate", "--json"];
        let outcome = scene.ddsmark(&[&measure[..], &gate[..]].concat());
        outcome.assert_status(1);
        let comparison: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let verdicts = list(&comparison["verdicts"]);
        let compared: Vec<&Value> =
            verdicts.iter().filter(|verdict| verdict["kind"] == "comparison").collect();
        let [verdict] = compared[..] else { panic!("one cell and one metric: {comparison:#}") };
        assert_eq!(verdict["baseline"]["cell"], "A/udp/udp4/latency/64");
        assert_eq!(verdict["treatment"]["cell"], "B/udp/udp4/latency/64");
        assert_eq!(verdict["answer"]["conclusion"]["word"], "higher", "{verdict:#}");
        assert_eq!(comparison["factors"], serde_json::json!(["env.LD_PRELOAD"]));
        // an ordinary result: each block has A twice and B once
        let report = scene.ddsmark(&["report", "gate", "--json"]);
        let document = report.document();
        assert_eq!(runs(&document).len(), 21);
        assert_eq!(document["experiment"]["variants"]["a"], SHORT);
        // the verdict again, and a criterion that passes
        let again = scene.ddsmark(&["compare", "gate", "--metric", "p50", "--fail-if", "p50 < -50%"]);
        again.assert_status(0);
        assert!(
            again.stdout.contains("B/udp/udp4/latency/64 against A/udp/udp4/latency/64"),
            "{}",
            again.stdout
        );
        assert!(again.stdout.contains("measured in alternating blocks"), "{}", again.stdout);
        let tables = scene.ddsmark(&["report", "gate", "--full"]);
        assert!(
            tables.stdout.contains("\nA: udp") && tables.stdout.contains("\nB: udp"),
            "{}",
            tables.stdout
        );
    });
}

#[test]
fn wrong_variants_are_rejected_with_the_one_that_is_wrong() {
    let scene = Scene::new();
    let error = |a: &str, b: &str, more: &[&str]| {
        let outcome = scene.ddsmark(&[&["compare", "--interleave", a, b], more].concat());
        outcome.assert_status(2);
        outcome.stderr
    };
    let found = error(SHORT, "latency-vs-size --set factors.driver=nothing-such", &[]);
    assert!(found.starts_with("error: variant B: ") && found.contains("nothing-such"), "{found}");
    assert!(found.contains("^^^^"), "{found}");
    let found = error("latency-vs-size --set 'x", SHORT, &[]);
    assert!(found.contains("variant A: unterminated quote in"), "{found}");
    let found = error(SHORT, &format!("{SHORT} --out here"), &[]);
    assert!(found.contains("variant B: `--out` is not valid in a variant"), "{found}");
    let found = error(SHORT, &SHORT.replace("250ms", "200ms"), &[]);
    assert!(found.contains("| design.measure_ns: A has 250000000, B has 200000000"), "{found}");
    let found = error(
        SHORT,
        "characterize --driver udp --size 64 --workload throughput --duration 100ms --warm-up 20ms",
        &[],
    );
    assert!(found.contains("not measured in the same way") || found.contains("cannot be paired"), "{found}");
    // only a plan
    let planned = scene.ddsmark(&["compare", "--interleave", SHORT, SHORT, "--dry-run", "--blocks", "8"]);
    planned.assert_status(0);
    assert!(planned.stdout.contains("A and B are the same"), "{}", planned.stdout);
    assert!(planned.stdout.contains("A/udp/udp4/latency/64"), "{}", planned.stdout);
    assert!(!scene.path("results").exists());
}
