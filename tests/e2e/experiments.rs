//! Experiment files and recipes on real drivers.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::support::{Scene, blocks, count, list, root};

/// Returns the names of the recipes in the tree.
fn recipes() -> Vec<String> {
    let files = fs::read_dir(root().join("recipes")).expect("the recipes").flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect()
}

/// Returns whether a recipe creates virtual hosts, which needs root.
fn has_lab(recipe: &str) -> bool {
    let text = fs::read_to_string(root().join(format!("recipes/{recipe}.toml"))).expect("a recipe");
    text.contains("\nat = \"lab:")
}

/// Plans the recipes that create virtual hosts, or all others.
pub fn plan_recipes(with_lab: bool) {
    let scene = Scene::new();
    let mut recipes = recipes();
    recipes.retain(|recipe| has_lab(recipe) == with_lab);
    assert!(recipes.len() >= if with_lab { 6 } else { 12 }, "{recipes:?}");
    for recipe in recipes {
        // The plan of a system that this host cannot carry is a plan, too.
        let mut words = vec!["run", &recipe, "--dry-run", "--json", "--force"];
        if recipe == "implementations" {
            // the recipe names versions that have to be installed first: the drivers of the tree replace them
            words.extend(["--set", "factors.driver=tcp,cyclonedds,fastdds"]);
        }
        let outcome = scene.ddsmark(&words);
        outcome.assert_status(0);
        let plan: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert!(list(&plan["cells"]).len() > 1, "{recipe}: {plan}");
        assert!(count(&plan["expected_ns"]) < 2 * 3_600 * 1_000_000_000, "{recipe}: {}", plan["expected_ns"]);
        if plan["design"]["baseline"].is_array() {
            let (blocks, least) = (count(&plan["design"]["blocks"]), count(&plan["least_blocks"]));
            assert!(count(&plan["claims"]) > 0, "{recipe} claims nothing");
            assert!(blocks >= least && least >= 6, "{recipe}: {blocks} blocks support no claim, {least} do");
        } else {
            assert_eq!((&plan["claims"], &plan["least_blocks"]), (&Value::from(0), &Value::Null));
        }
        assert_eq!(plan["name"], Value::from(recipe));
    }
}

#[test]
fn every_recipe_plans_for_the_installed_drivers() {
    plan_recipes(false);
}

/// Commands of README.md, of documents, of recipes and of `--help` are valid plans.
#[test]
fn documented_changes_of_recipes_are_valid_plans() {
    const THREE: [&str; 2] = ["-d", "tcp,cyclonedds,fastdds"];
    let scene = Scene::new();
    let commands: [(&str, &[&str]); 11] = [
        ("latency-vs-size", &["-s", "64,1024", "-n", "12"]),
        ("loaded-latency", &["--set", "factors.driver=cyclonedds"]),
        ("loaded-latency", &["--set", "factors.rate=10%,50%,90%,max"]),
        (
            "receive-modes",
            &["--set", "factors.driver=udp", "--set", "factors.size=64,1024", "--set", "design.blocks=12"],
        ),
        ("max-throughput", &["--set", "search.strict=true"]),
        ("bursts", &["--polling-delay", "5ms"]),
        ("implementations", &THREE),
        ("implementations", &[THREE[0], THREE[1], "--vendor-defaults=false,true"]),
        (
            "large-data-11mb",
            &["-d", "fastdds", "-t", "udp4,shm", "--option", "fastdds.publish_mode=sync,async"],
        ),
        (
            "large-data-11mb",
            &[
                "-d",
                "cyclonedds,fastdds",
                "-t",
                "udp4,shm",
                "--option",
                "fastdds.publish_mode=sync,async",
                "--set",
                "factors.exclude=[{ workload = \"paced\" }, { driver = \"cyclonedds\", transport = \"shm\" }]",
                "--runs",
                "50",
                "--warm-up",
                "300ms",
                "--duration",
                "1s",
                "--set",
                "design.repeat_noisy=false",
            ],
        ),
        (
            "large-data-11mb",
            &[
                "-d",
                "fastdds",
                "-t",
                "shm",
                "--set",
                "factors.exclude=[{ workload = \"paced\" }]",
                "--option",
                "fastdds.shm_segment_size=2147000000",
                "--option",
                "fastdds.max_message_size=12000000",
            ],
        ),
    ];
    for (recipe, changes) in commands {
        let words: Vec<&str> =
            ["run", recipe, "--dry-run"].into_iter().chain(changes.iter().copied()).collect();
        scene.ddsmark(&words).assert_status(0);
    }
}

#[test]
fn smoke_recipe_measures_every_workload() {
    let scene = Scene::new();
    let outcome = scene.run_blocks("smoke");
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    assert!(cells.len() >= 3, "{document}");
    for cell in cells {
        let runs = list(&cell["runs"]);
        assert!(runs.len() == blocks() && runs.iter().all(|run| run["state"] == "valid"), "{cell}");
    }
}

#[test]
fn recipes_follow_the_schema() {
    let schema = fs::read(root().join("schemas/experiment.schema.json")).expect("the schema");
    let schema = serde_json::from_slice(&schema).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema is one");
    for recipe in recipes() {
        let text = fs::read_to_string(root().join(format!("recipes/{recipe}.toml"))).expect("a recipe");
        let recipe_value: Value = toml::from_str(&text).expect("TOML");
        let errors: Vec<String> = schema.iter_errors(&recipe_value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{recipe}: {errors:?}");
    }
    let wrong: Value = toml::from_str("question = \"?\"\nworkload = \"latency\"\nsise = 1\n").expect("TOML");
    assert!(!schema.is_valid(&wrong));
}

#[test]
fn both_runs_of_a_baseline_are_in_the_result() {
    let scene = Scene::new();
    let outcome = scene.ddsmark(&[
        "run",
        "latency-vs-size",
        "--json",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--set",
        "factors.driver=udp",
        "--set",
        "factors.size=64,1024",
        "--set",
        "design.baseline.size=64",
        "--set",
        "design.blocks=3",
        "--set",
        "design.repeat_noisy=false",
        "--set",
        "design.measure=20ms",
        "--set",
        "design.warm_up=0s",
    ]);
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(document["state"], "complete");
    assert_eq!(list(&document["experiment"]["design"]["baseline"]), ["udp/udp4/latency/64"]);
    let runs = |cell: usize| list(&document["cells"][cell]["runs"]);
    let blocks = |cell: usize| -> BTreeSet<(u64, bool)> {
        runs(cell).iter().map(|run| (count(&run["block"]), run["twin"].as_bool().unwrap_or(false))).collect()
    };
    let both: BTreeSet<_> = (1..=3).flat_map(|block| [(block, false), (block, true)]).collect();
    assert_eq!((runs(0).len(), blocks(0)), (6, both));
    assert_eq!((runs(1).len(), blocks(1)), (3, (1..=3).map(|block| (block, false)).collect()));
    assert!(runs(0).iter().chain(runs(1)).all(|run| run["state"] == "valid"), "{document}");
}

#[test]
fn profiles_are_effective_and_have_their_own_tables() {
    let scene = Scene::new();
    let few = format!("design.blocks={}", blocks());
    let sets = [
        "factors.driver=cyclonedds",
        "factors.exclude=[]",
        "factors.in_flight=1",
        "factors.profile=default,deadline-10s,reliability-best-effort",
        &few,
        "design.measure=20ms",
        "design.warm_up=0s",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let outcome = scene.ddsmark(
        &[
            &[
                "run",
                "qos-cost",
                "--verbose",
                "--no-reference",
                "--set",
                "design.noise_probe=false",
                "--out",
                "result",
            ],
            &sets[..],
        ]
        .concat(),
    );
    outcome.assert_status(0);
    for words in ["profile default\n", "profile deadline-10s\n", "profile reliability-best-effort\n"] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    let document = scene.ddsmark(&["report", "result", "--json"]).document();
    let in_force = |cell: usize| &document["cells"][cell]["effective_qos"]["writer"];
    assert_eq!(in_force(0)["deadline_ns"], "infinite");
    assert_eq!(in_force(1)["deadline_ns"], 10_000_000_000_u64);
    assert_eq!(in_force(2)["reliability"], "best_effort");
}

/// Writer and reader of a cell request different QoS, with one middleware and with two.
#[test]
fn writer_and_reader_have_their_requested_qos() {
    let scene = Scene::new();
    let text = "question = \"?\"\nworkload = [\"latency\", \"throughput\"]\n[factors]\n\
                driver = [\"cyclonedds\", \"fastdds\", \"cyclonedds+fastdds\"]\nsize = 64\n[qos]\ndeadline = \"10s\"\n\
                [qos.writer]\nlifespan = \"20s\"\n[qos.reader]\nreliability = \"best_effort\"\ndeadline = \"30s\"\n\
                [design]\nwarm_up = \"0s\"\nmeasure = \"20ms\"\n";
    fs::write(scene.path("ends.toml"), text).expect("a file");
    let outcome = scene.run_blocks("ends.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(list(&document["cells"]).len(), 6);
    for cell in list(&document["cells"]) {
        assert!(list(&cell["runs"]).iter().all(|run| run["state"] == "valid"), "{cell}");
        let (writer, reader) = (&cell["effective_qos"]["writer"], &cell["effective_qos"]["reader"]);
        assert_eq!(
            (&writer["reliability"], &reader["reliability"]),
            (&"reliable".into(), &"best_effort".into())
        );
        let seconds = |number: u64| Value::from(number * 1_000_000_000);
        assert_eq!((&writer["deadline_ns"], &reader["deadline_ns"]), (&seconds(10), &seconds(30)));
        assert_eq!(writer["lifespan_ns"], seconds(20), "{cell}");
    }
    // endpoints that would never match are rejected before the first run
    let rejected = scene.ddsmark(&["run", "ends.toml", "--set", "qos.reader.deadline=5s", "--out", "none"]);
    rejected.assert_status(2);
    assert!(
        rejected.stderr.contains("never match: deadline 10s offered, 5s requested"),
        "{}",
        rejected.stderr
    );
    assert!(!scene.path("none").exists());
}

#[test]
fn result_never_differs_from_itself() {
    let scene = Scene::new();
    fs::write(
        scene.path("short.toml"),
        "question = \"?\"\nworkload = [\"latency\", \"throughput\"]\n[factors]\ndriver = \"udp\"\nsize = 64\n[design]\n\
         blocks = 6\nwarm_up = \"10ms\"\nmeasure = \"60ms\"\nbaseline = { size = 64 }\n",
    )
    .expect("a file");
    for out in ["a", "b"] {
        scene.ddsmark(&["run", "short.toml", "--out", out]).assert_status(0);
    }
    let compared = |words: &[&str], statuses: &[i32]| -> Value {
        let outcome = scene.ddsmark(&[&["compare", "--json"], words].concat());
        let status = outcome.status.code();
        assert!(status.is_some_and(|code| statuses.contains(&code)), "{status:?}: {}", outcome.stderr);
        serde_json::from_str(&outcome.stdout).expect("JSON")
    };
    // the conclusions depend on the host, but the number of verdicts does not
    let two = compared(&["a", "b"], &[0]);
    let apart = list(&two["verdicts"]).iter().filter(|verdict| verdict["pairing"] == "apart");
    assert_eq!(apart.count(), 3, "{two}");
    compared(&["a", "b", "--fail-if", "p50 > +5%"], &[0, 1, 4]);
    compared(&["a", "b", "--fail-if", "p50 > +5%", "--allow-inconclusive"], &[0, 1]);
    let same = compared(&["a", "a"], &[0]);
    for verdict in list(&same["verdicts"]).iter().filter(|verdict| verdict["kind"] == "comparison") {
        let word = verdict["answer"]["conclusion"]["word"].as_str().unwrap_or("none");
        assert!(["equivalent", "inconclusive", "too_few", "none"].contains(&word), "{verdict}");
    }
}

/// Requests buffers far above the default limit of any kernel: the warning shows the effective size and the limit.
#[test]
fn buffer_above_the_kernel_limit_is_reported_with_the_limit() {
    const REQUESTED: &str = "2000000000";
    let scene = Scene::new();
    let limit = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/net/core/{name}")).expect("a limit");
        text.trim().to_owned()
    };
    let buffers = [format!("factors.send_buffer={REQUESTED}"), format!("factors.receive_buffer={REQUESTED}")];
    let more = ["factors.driver=udp", "factors.size=64", "factors.receive=waitset", "workload=throughput"];
    let few = format!("design.blocks={}", blocks());
    let design = [few.as_str(), "design.measure=20ms", "design.warm_up=0s"];
    let sets = buffers.iter().map(String::as_str).chain(more).chain(design).flat_map(|set| ["--set", set]);
    let file = "question = \"?\"\nworkload = \"throughput\"\n";
    fs::write(scene.path("f.toml"), file).expect("a file");
    let arguments: Vec<&str> =
        ["run", "f.toml", "--json", "--no-reference", "--set", "design.noise_probe=false", "--out", "result"]
            .into_iter()
            .chain(sets)
            .collect();
    let outcome = scene.ddsmark(&arguments);
    outcome.assert_status(0);
    let document = outcome.document();
    let warnings: Vec<[&str; 2]> = list(&document["cells"][0]["warnings"])
        .iter()
        .filter(|warning| warning["kind"] == "buffers")
        .map(|warning| ["text", "hint"].map(|key| warning[key].as_str().expect("words")))
        .collect();
    let [[warnings, hints]] = &warnings[..] else { panic!("one: {warnings:?}") };
    for (buffer, sysctl) in
        [("send_buffer_bytes of the writer", "wmem_max"), ("receive_buffer_bytes of the reader", "rmem_max")]
    {
        let limit = limit(sysctl);
        assert!(
            warnings.contains(&format!("{buffer}: requested {REQUESTED}, effective "))
                && warnings.contains(&format!("net.core.{sysctl} is {limit}"))
                && hints.contains(&format!("`sysctl -w net.core.{sysctl}={REQUESTED}`")),
            "{warnings}; {hints}"
        );
    }
    let report = scene.ddsmark(&["report", "result", "--full"]);
    assert!(report.stdout.contains("send_buffer_bytes of the writer: requested"), "{}", report.stdout);
}

/// Cyclone DDS reads a writer's sample limit back but does not enforce it; the driver sets the equivalent number of
/// bytes.
#[test]
fn send_queue_becomes_a_limit_in_bytes() {
    let scene = Scene::new();
    let file = "question = \"?\"\nworkload = \"throughput\"\n[factors]\ndriver = \"cyclonedds\"\nsize = 200\nsend_queue = \
                [4, 4096]\n[design]\nwarm_up = \"20ms\"\nmeasure = \"100ms\"\n";
    fs::write(scene.path("f.toml"), file).expect("a file");
    let outcome = scene.run_blocks("f.toml");
    outcome.assert_status(0);
    let document = outcome.document();
    let [few, many] = list(&document["cells"]) else { panic!("two cells: {document:#}") };
    assert_eq!(few["settings"]["participant"]["whc_high"], (4 * 208 - 1).to_string());
    assert_eq!(many["settings"]["participant"]["whc_high"], (4096 * 208 - 1).to_string());
    let blocked = |cell: &Value| {
        let runs = list(&cell["runs"]).iter();
        let writers = runs.flat_map(|run| list(&run["endpoints"])).filter(|agent| agent["role"] == "writer");
        let times: u64 = writers.map(|agent| count(&agent["counters"]["writer"]["write_blocked"])).sum();
        times as f64 / count(&cell["throughput"]["sent"]) as f64
    };
    assert!(blocked(few) > 2.0 * blocked(many), "{} {}", blocked(few), blocked(many));
}
