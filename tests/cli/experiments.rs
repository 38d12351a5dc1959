//! Experiment files and recipes: output and errors.

use std::fs;

use crate::support::Sandbox;

const FILE: &str = r#"# How much do small samples cost?
question = "How much do small samples cost?"
workload = ["latency", "throughput"]

[factors]
driver = "udp"
size = [64, "1KiB"]
batch_bytes = [0, "8KiB"]
exclude = [{ workload = "latency", size = "1KiB" }]

[design]
blocks = 6
seed = 7
pin = "none"
baseline = { size = 64, workload = "throughput", batch_bytes = 0 }
"#;

const LOADS: &str = r#"question = "At what load?"
workload = "paced"

[factors]
driver = "udp"
size = [64, "1KiB"]
rate = [5, 1000, "10/100ms", "100Mbit/s", "max"]
trace = "times/t.txt"
exclude = [{ size = "1KiB", rate = [5, "10/100ms"] }]

[design]
seed = 7
pin = "none"
baseline = { rate = 1000 }
"#;

/// Creates a place with the file, after this change.
fn sandbox(from: &str, to: &str) -> Sandbox {
    assert!(FILE.contains(from), "{from}");
    let sandbox = Sandbox::new();
    sandbox.write("small.toml", &FILE.replace(from, to));
    sandbox
}

#[track_caller]
fn rejected(name: &str, from: &str, to: &str, sets: &[&str]) {
    let sandbox = sandbox(from, to);
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    sandbox.snapshot(name, &[&["run", "small.toml", "--out", "result"], &sets[..]].concat());
    assert!(!sandbox.path("result").exists(), "something was left behind");
}

#[test]
fn a_plan_is_printed_and_nothing_is_measured() {
    let sandbox = sandbox("", "");
    sandbox.snapshot("dry-run", &["run", "small.toml", "--dry-run", "--set", "design.blocks=12"]);
    let both = "factors.vendor_defaults=false,true";
    let none = sandbox.run(&["run", "small.toml", "--dry-run", "--no-reference"]);
    let stderr = String::from_utf8_lossy(&none.stdout);
    assert!(stderr.contains("no reference: `compare` will make no claim"), "{stderr}");
    sandbox.snapshot("dry-run-shipped", &["run", "small.toml", "--dry-run", "--set", both]);
    assert!(!sandbox.path("results").exists());
    let output = sandbox.run(&["run", "small.toml", "--dry-run", "--json"]);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(plan["name"], "small");
    assert_eq!(plan["design"]["baseline"], serde_json::json!(["udp/udp4/throughput/64"]));
    // without a selftest of this host a minimum detectable effect would be a guess
    let unknown = serde_json::json!([{
        "driver": "udp", "selftest_unix_ns": null, "comparisons": 3, "power_pct": 80.0, "effects": [],
    }]);
    assert_eq!(plan["smallest_effect"], unknown);
}

#[test]
fn dry_run_of_loads_shows_planned_samples() {
    let sandbox = Sandbox::new();
    sandbox.write("loads.toml", LOADS);
    fs::create_dir(sandbox.path("times")).expect("a folder");
    sandbox.write("times/t.txt", "0\n0.25\n0.75\n");
    sandbox.snapshot("dry-run-paced", &["run", "loads.toml", "--dry-run"]);
    let percents: Vec<&str> = LOADS
        .lines()
        .filter(|line| !line.starts_with("trace") && !line.starts_with("exclude"))
        .map(
            |line| {
                if line.starts_with("rate") { "rate = [1000, \"50%\", \"99.5%\", \"max\"]" } else { line }
            },
        )
        .collect();
    sandbox.write("percents.toml", &percents.join("\n"));
    let batches = "factors.batch_samples=1,4";
    sandbox.snapshot("dry-run-percent", &["run", "percents.toml", "--dry-run", "--set", batches]);
    sandbox.snapshot("refused-percent", &["run", "loads.toml", "--set", "factors.rate=50%,250%"]);
    sandbox.write("times/t.txt", "0\n0.25 s\n");
    sandbox.snapshot("refused-trace", &["run", "loads.toml"]);
    fs::remove_file(sandbox.path("times/t.txt")).expect("it is there");
    sandbox.snapshot("refused-trace-none", &["run", "loads.toml"]);
}

#[test]
fn dry_run_with_precision_shows_its_maximum_duration() {
    sandbox("blocks = 6", "precision = \"2%\"\nbudget = \"2min\"")
        .snapshot("dry-run-precision", &["run", "small.toml", "--dry-run"]);
}

#[test]
fn recipes_are_listed_and_shown() {
    let sandbox = Sandbox::new();
    sandbox.snapshot("recipes-list", &["recipes", "list"]);
    let output = sandbox.run(&["recipes", "show", "latency-vs-size"]);
    let file = crate::support::root().join("recipes/latency-vs-size.toml");
    assert_eq!(output.stdout, fs::read(file).expect("the recipe"));
    sandbox.snapshot("recipe-unknown", &["run", "latenci"]);
    sandbox.snapshot("file-missing", &["run", "./latency.toml"]);
}

#[test]
fn unknown_interface_is_rejected_with_its_position() {
    let sandbox = sandbox("driver = \"udp\"", "driver = \"udp\"\ninterface = \"ddsmark0\"");
    let output = sandbox.run(&["run", "small.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: small.toml:7:13: network interface `ddsmark0` "), "{stderr}");
}

#[test]
fn invalid_file_is_rejected_at_its_position() {
    rejected("file-syntax", "blocks = 6", "blocks = = 6", &[]);
    rejected("file-key", "size = [64", "sise = [64", &[]);
    rejected("file-word", "\"throughput\"]", "\"througput\"]", &[]);
    rejected("file-size", "\"1KiB\"]\nbatch", "\"1kx\"]\nbatch", &[]);
    rejected("file-missing-key", "question = ", "# question = ", &[]);
    rejected("file-driver", "\"udp\"", "[\"udp\", \"nonesuch.so\"]", &[]);
    rejected("file-policy", "[design]", "[qos]\ndeadline = \"10ms\"\n\n[design]", &[]);
    rejected("file-too-large", "\"1KiB\"]\nbatch", "\"1MiB\"]\nbatch", &[]);
    rejected("file-budget", "blocks = 6", "blocks = 6\nbudget = \"1s\"", &[]);
    rejected("file-baseline", "size = 64, w", "size = 65, w", &[]);
    rejected("set-key", "", "", &["design.block=12"]);
    rejected("set-value", "", "", &["design.blocks=12", "factors.size=64,15"]);
    rejected("set-malformed", "", "", &["blocks"]);
}

#[test]
fn invalid_duet_is_rejected() {
    const DUET: &str = "question = \"?\"\nworkload = \"latency\"\n\n[factors]\ndriver = \"udp\"\nsize = [64, 1024]\n\n\
                        [design]\nduet = true\npin = \"none\"\nbaseline = { size = 64 }\n";
    let sandbox = Sandbox::new();
    let rejected = |name: &str, text: &str, more: &[&str]| {
        sandbox.write("duet.toml", text);
        sandbox.snapshot(name, &[&["run", "duet.toml", "--out", "result"], more].concat());
        assert!(!sandbox.path("result").exists(), "something was left behind");
    };
    rejected("duet-not-pinned", DUET, &[]);
    rejected("duet-two-cores", &DUET.replace("duet = true\n", ""), &["--duet", "--set", "design.pin=0,1"]);
    rejected("duet-throughput", DUET, &["--set", "workload=latency,throughput"]);
    rejected("duet-no-baseline", &DUET.replace("baseline = { size = 64 }\n", ""), &[]);
    sandbox.snapshot("duet-resume", &["run", "--resume", "result", "--duet"]);
}
