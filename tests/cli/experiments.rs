//! Experiment files and recipes: output and errors.

use std::fs;

use crate::support::Place;

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
fn place(from: &str, to: &str) -> Place {
    assert!(FILE.contains(from), "{from}");
    let place = Place::new();
    place.write("small.toml", &FILE.replace(from, to));
    place
}

#[track_caller]
fn refused(name: &str, from: &str, to: &str, sets: &[&str]) {
    let place = place(from, to);
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    place.snapshot(name, &[&["run", "small.toml", "--out", "result"], &sets[..]].concat());
    assert!(!place.path("result").exists(), "something was left behind");
}

#[test]
fn a_plan_is_printed_and_nothing_is_measured() {
    let place = place("", "");
    place.snapshot("dry-run", &["run", "small.toml", "--dry-run", "--set", "design.blocks=12"]);
    let both = "factors.vendor_defaults=false,true";
    let none = place.run(&["run", "small.toml", "--dry-run", "--no-reference"]);
    let said = String::from_utf8_lossy(&none.stdout);
    assert!(said.contains("no reference: `compare` will make no claim"), "{said}");
    place.snapshot("dry-run-shipped", &["run", "small.toml", "--dry-run", "--set", both]);
    assert!(!place.path("results").exists());
    let output = place.run(&["run", "small.toml", "--dry-run", "--json"]);
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
fn a_plan_of_loads_says_how_many_samples_are_due() {
    let place = Place::new();
    place.write("loads.toml", LOADS);
    fs::create_dir(place.path("times")).expect("a folder");
    place.write("times/t.txt", "0\n0.25\n0.75\n");
    place.snapshot("dry-run-paced", &["run", "loads.toml", "--dry-run"]);
    let percents: Vec<&str> = LOADS
        .lines()
        .filter(|line| !line.starts_with("trace") && !line.starts_with("exclude"))
        .map(
            |line| {
                if line.starts_with("rate") { "rate = [1000, \"50%\", \"99.5%\", \"max\"]" } else { line }
            },
        )
        .collect();
    place.write("percents.toml", &percents.join("\n"));
    let batches = "factors.batch_samples=1,4";
    place.snapshot("dry-run-percent", &["run", "percents.toml", "--dry-run", "--set", batches]);
    place.snapshot("refused-percent", &["run", "loads.toml", "--set", "factors.rate=50%,250%"]);
    place.write("times/t.txt", "0\n0.25 s\n");
    place.snapshot("refused-trace", &["run", "loads.toml"]);
    fs::remove_file(place.path("times/t.txt")).expect("it is there");
    place.snapshot("refused-trace-none", &["run", "loads.toml"]);
}

#[test]
fn a_plan_with_a_precision_says_what_it_may_take() {
    place("blocks = 6", "precision = \"2%\"\nbudget = \"2min\"")
        .snapshot("dry-run-precision", &["run", "small.toml", "--dry-run"]);
}

#[test]
fn recipes_are_listed_and_shown() {
    let place = Place::new();
    place.snapshot("recipes-list", &["recipes", "list"]);
    let output = place.run(&["recipes", "show", "latency-vs-size"]);
    let file = crate::support::root().join("recipes/latency-vs-size.toml");
    assert_eq!(output.stdout, fs::read(file).expect("the recipe"));
    place.snapshot("recipe-unknown", &["run", "latenci"]);
    place.snapshot("file-missing", &["run", "./latency.toml"]);
}

#[test]
fn unknown_interface_is_rejected_with_its_position() {
    let place = place("driver = \"udp\"", "driver = \"udp\"\ninterface = \"ddsmark0\"");
    let output = place.run(&["run", "small.toml"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: small.toml:7:13: network interface `ddsmark0` "), "{said}");
}

#[test]
fn a_file_that_is_none_is_refused_with_its_place() {
    refused("file-syntax", "blocks = 6", "blocks = = 6", &[]);
    refused("file-key", "size = [64", "sise = [64", &[]);
    refused("file-word", "\"throughput\"]", "\"througput\"]", &[]);
    refused("file-size", "\"1KiB\"]\nbatch", "\"1kb\"]\nbatch", &[]);
    refused("file-missing-key", "question = ", "# question = ", &[]);
    refused("file-driver", "\"udp\"", "[\"udp\", \"nonesuch.so\"]", &[]);
    refused("file-policy", "[design]", "[qos]\ndeadline = \"10ms\"\n\n[design]", &[]);
    refused("file-too-large", "\"1KiB\"]\nbatch", "\"1MiB\"]\nbatch", &[]);
    refused("file-budget", "blocks = 6", "blocks = 6\nbudget = \"1s\"", &[]);
    refused("file-baseline", "size = 64, w", "size = 65, w", &[]);
    refused("set-key", "", "", &["design.block=12"]);
    refused("set-value", "", "", &["design.blocks=12", "factors.size=64,15"]);
    refused("set-malformed", "", "", &["blocks"]);
}

#[test]
fn invalid_duet_is_rejected() {
    const DUET: &str = "question = \"?\"\nworkload = \"latency\"\n\n[factors]\ndriver = \"udp\"\nsize = [64, 1024]\n\n\
                        [design]\nduet = true\npin = \"none\"\nbaseline = { size = 64 }\n";
    let place = Place::new();
    let refused = |name: &str, text: &str, more: &[&str]| {
        place.write("duet.toml", text);
        place.snapshot(name, &[&["run", "duet.toml", "--out", "result"], more].concat());
        assert!(!place.path("result").exists(), "something was left behind");
    };
    refused("duet-not-pinned", DUET, &[]);
    refused("duet-two-cores", &DUET.replace("duet = true\n", ""), &["--duet", "--set", "design.pin=0,1"]);
    refused("duet-throughput", DUET, &["--set", "workload=latency,throughput"]);
    refused("duet-no-baseline", &DUET.replace("baseline = { size = 64 }\n", ""), &[]);
    place.snapshot("duet-resume", &["run", "--resume", "result", "--duet"]);
}
