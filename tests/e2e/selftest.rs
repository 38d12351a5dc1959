//! The selftest measures which effects a host can resolve, stores the outcome, and a plan shows it.

use std::{collections::BTreeSet, ffi::OsStr, fs, os::unix::fs::PermissionsExt as _};

use serde_json::Value;

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, count, list, programs, root, runs, shared_library},
};

const PLAN: &str = "question = \"Which?\"\nworkload = \"latency\"\n[factors]\ndriver = \"udp\"\nsize = [64, 1024]\n\
                    [design]\nblocks = 12\npin = \"none\"\nbaseline = { size = 64 }\n";
/// Pairs of runs, as many as blocks of `SELFTEST`.
const PAIRS: u32 = 10;

/// Asserts that an outcome has what a selftest measures, and that its experiment is like any other.
fn assert_complete(scene: &Scene, selftest: &Value) {
    assert_eq!(
        (selftest["driver"].as_str(), selftest["pairs"].as_u64()),
        (Some("udp"), Some(u64::from(PAIRS))),
        "{selftest:#}"
    );
    // RTT p50, RTT p99 and goodput, for two sizes
    let metrics = list(&selftest["metrics"]);
    assert_eq!(metrics.len(), 6, "{selftest:#}");
    let mut differs = 0;
    for metric in metrics {
        let number = |name: &str| metric[name].as_f64().unwrap_or_else(|| panic!("no {name}: {metric:#}"));
        // on a busy host too few pings come back for p99; fewer than 6 pairs have no confidence interval
        if metric["metric"] == "rtt_p99" && metric["pairs"].as_u64() < Some(6) {
            continue;
        }
        assert!(number("median") > 0.0 && number("between_run_pct") > 0.0, "{metric:#}");
        assert!(number("low_pct") <= number("change_pct") && number("change_pct") <= number("high_pct"));
        let effect = |blocks: &str| metric["smallest_effect_pct"][blocks].as_f64().expect("an effect");
        assert!(effect("6") > effect("12") && effect("12") > effect("24"), "{metric:#}");
        assert_eq!(metric["differs"].as_bool(), Some(number("p_adjusted") <= 0.05), "{metric:#}");
        differs += u64::from(metric["differs"] == true);
    }
    assert_eq!(selftest["differs"].as_u64(), Some(differs));
    assert!(differs >= 2, "{selftest:#}");
    let noise = &selftest["noise"];
    // blocks disturbed by other work are repeated once, and the repetitions count, too
    let result = scene.ddsmark(&["report", "result", "--json"]).document();
    let (again, planned): (Vec<&Value>, Vec<&Value>) =
        list(&result["blocks"]).iter().partition(|block| block["repeats"].is_u64());
    assert_eq!(planned.len(), PAIRS as usize, "{result:#}");
    assert_eq!(noise["blocks"].as_u64(), Some((planned.len() + again.len()) as u64), "{noise:#}");
    assert!(noise["worst_stolen_pct"].as_f64() >= noise["stolen_pct"].as_f64(), "{noise:#}");
    assert!(scene.path("result/result.json").is_file(), "it is an experiment like any other");
    assert!(scene.path("result/report.html").is_file(), "and has a page");
}

/// Asserts that plans show the stored outcome, unless it is of another host or cannot be read.
fn assert_used_by_dry_run(scene: &Scene, selftest: &Value) {
    let kept = scene.path("state/ddsmark/selftest.json");
    let text = fs::read_to_string(&kept).expect("the outcome is kept");
    assert_eq!(errors(&serde_json::from_str(&text).expect("JSON")), Vec::<String>::new());
    let planned = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
    planned.assert_status(0);
    for words in ["smallest effect with driver `udp`", "2 comparisons judged together", "RTT p50"] {
        assert!(planned.stdout.contains(words), "{words}: {}", planned.stdout);
    }
    let planned = scene.ddsmark(&["run", "plan.toml", "--dry-run", "--json"]);
    let plan: Value = serde_json::from_str(&planned.stdout).expect("JSON");
    let foreseen = &plan["smallest_effect"][0];
    assert_eq!((foreseen["driver"].as_str(), foreseen["comparisons"].as_u64()), (Some("udp"), Some(2)));
    for effect in list(&foreseen["effects"]) {
        assert!(effect["least_pct"].as_f64().expect("an effect") > 0.0, "{foreseen:#}");
    }
    assert_eq!(list(&foreseen["effects"]).len(), 2, "{foreseen:#}");
    // the outcome of another host is not shown
    let name = selftest["host"]["kernel"].as_str().expect("a kernel");
    fs::write(&kept, text.replace(name, "another")).expect("a file");
    let elsewhere = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
    assert!(elsewhere.stdout.contains("unknown on this host"), "{}", elsewhere.stdout);
    // nor is an outcome that cannot be read
    fs::write(&kept, "nothing").expect("a file");
    let damaged = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
    damaged.assert_status(0);
    assert!(damaged.stderr.contains("invalid selftest outcomes"), "{}", damaged.stderr);
}

/// Returns the schema errors of stored outcomes.
fn errors(kept: &Value) -> Vec<String> {
    let schema = fs::read_to_string(root().join("schemas/selftest.schema.json")).expect("the schema");
    let schema = serde_json::from_str(&schema).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema is one");
    schema.iter_errors(kept).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Experiment of a selftest, as an experiment file.
const SELFTEST: &str = "question = \"?\"\nworkload = [\"latency\", \"throughput\"]\n[factors]\ndriver = \"udp\"\n\
                        size = [64, 16384]\n[design]\nblocks = 10\nbaseline = { driver = \"udp\" }\n";

/// Slows the second run of every block from outside. Its processes are recognized by the length of their
/// environment, which follows from the seed.
#[test]
fn slower_second_runs_fail_the_selftest_and_plans_show_its_outcome() {
    on_quiet_host(|| {
        let scene = Scene::new();
        fs::write(scene.path("plan.toml"), PLAN).expect("a file");
        let unknown = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
        unknown.assert_status(0);
        assert!(unknown.stdout.contains("run `ddsmark selftest --driver udp`"), "{}", unknown.stdout);
        fs::write(scene.path("same.toml"), SELFTEST).expect("a file");
        let planned = scene.ddsmark(&["run", "same.toml", "--dry-run", "--json"]);
        planned.assert_status(0);
        let mut plan: experiment::Plan = serde_json::from_str(&planned.stdout).expect("an experiment");
        // a seed with which no first run has the length of a second one, even if every block is noisy and repeated
        let mut lengths = |seed: u64| -> [BTreeSet<u32>; 2] {
            plan.design.seed = seed;
            let mut all = plan.schedule();
            let (blocks, in_a_block) = (plan.design.blocks, all.len() as u32 / plan.design.blocks);
            all.extend(
                (blocks..2 * blocks).flat_map(|made| plan.block_again(made + 1, made * in_a_block + 1)),
            );
            [false, true].map(|twin| {
                let of = all.iter().filter(|run| run.twin == twin);
                of.map(|run| plan.environment_padding_bytes(run.number)).collect()
            })
        };
        let seed = (1..).find(|seed| {
            let [first, second] = lengths(*seed);
            first.is_disjoint(&second)
        });
        let seed = seed.expect("there is one");
        let [first, second] = lengths(seed);

        let library =
            shared_library(&scene, "cc", "slow_send.so", &["-std=c11", "-O2", "../preload/slow_send.c"]);
        let slow = second.iter().map(u32::to_string).collect::<Vec<_>>().join("|");
        let agent = scene.path("agent");
        let script = format!(
            "#!/bin/sh\ncase ${{#DDSMARK_PADDING}} in {slow}) export SLOW_SEND_NS=100000 LD_PRELOAD='{library}' ;; esac\n\
         exec '{}' \"$@\"\n",
            programs().join("ddsmark-agent").display()
        );
        fs::write(&agent, script).expect("a file");
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("it may be run");
        let variables = [("DDSMARK_AGENT", OsStr::new(&agent))];
        let seed = seed.to_string();
        let pairs = PAIRS.to_string();
        let words = ["selftest", "--quick", "--pairs", &pairs, "--seed", &seed, "--json", "--out", "result"];
        let rigged = scene.start_with(&variables, "ddsmark", &words).end();
        rigged.assert_status(1);
        let selftest: Value = serde_json::from_str(&rigged.stdout).expect("JSON");
        let p50s: Vec<&Value> =
            list(&selftest["metrics"]).iter().filter(|metric| metric["metric"] == "rtt_p50").collect();
        assert_eq!(p50s.len(), 2, "{selftest:#}");
        for metric in p50s {
            // each round trip has two spins
            assert!(metric["differs"] == true && metric["change_pct"].as_f64() > Some(0.0), "{metric:#}");
        }
        // only the second runs were slowed down
        let result = fs::read_to_string(scene.path("result/result.json")).expect("a result");
        let result: Value = serde_json::from_str(&result).expect("JSON");
        for run in runs(&result) {
            let length = u32::try_from(count(&run["environment_padding_bytes"])).expect("less than a page");
            let which = if run["twin"] == true { &second } else { &first };
            assert!(which.contains(&length), "{run:#}");
        }
        assert_complete(&scene, &selftest);
        assert_used_by_dry_run(&scene, &selftest);
    });
}
