//! The counts of the agents are compared with those of the driver: a driver that misreports a count makes its runs
//! invalid.

use std::fs;

use serde_json::Value;

use crate::support::{Outcome, Scene, changed_driver, list};

/// Builds the driver `tcp`, reliable, changed by each of these functions of `faulty_driver.cpp`.
fn lying(scene: &Scene, lies: &[&str]) -> Vec<String> {
    lies.iter().map(|lie| changed_driver(scene, "tcp", lie)).collect()
}

/// Measures these drivers in three short runs each, together with the unchanged driver.
fn measure(scene: &Scene, workload: &str, load: &str, drivers: &[String]) -> Outcome {
    let drivers: Vec<&str> = drivers.iter().map(String::as_str).chain(["tcp"]).collect();
    let text = format!(
        "question = \"Do the witnesses agree?\"\nworkload = {workload:?}\n[factors]\ndriver = {drivers:?}\nsize = 64\n\
         {load}\n\
         [qos]\nreliability = \"reliable\"\nhistory = \"keep_all\"\n\
         [design]\nblocks = 1\nwarm_up = \"20ms\"\nmeasure = \"50ms\"\n"
    );
    fs::write(scene.path("lies.toml"), text).expect("a file");
    let _ = fs::remove_dir_all(scene.path("result"));
    scene.ddsmark(&["run", "lies.toml", "--json", "--no-reference", "--out", "result"])
}

/// Returns the state and the warnings of this driver's first run.
fn told(document: &Value, driver: &str) -> (String, Vec<String>) {
    let cells = list(&document["cells"]);
    let cell = cells.iter().find(|cell| cell["factors"]["driver"] == driver).expect("a cell");
    let run = &list(&cell["runs"])[0];
    let warnings = list(&run["warnings"]).iter().filter_map(|warning| warning["text"].as_str());
    (run["state"].as_str().expect("a state").to_owned(), warnings.map(str::to_owned).collect())
}

/// Returns the numbers in a sentence.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Change of the driver, text of its warning, and whether the two numbers in it differ as expected.
type Lie = (&'static str, &'static str, fn(u64, u64) -> bool);

const LIES: [Lie; 3] = [
    ("overstates_taken", "the driver says that it gave", |said, given| said > given),
    ("understates_sent", "the writer's driver says that it sent", |said, came| said < came),
    ("understates_received", "the reader's driver says that it received", |said, given| said < given),
];

fn assert_invalid(outcome: &Outcome, drivers: &[String]) {
    let document = outcome.document();
    for (driver, (lie, words, differ)) in drivers.iter().zip(LIES) {
        let (state, warnings) = told(&document, driver);
        assert_eq!(state, "invalid", "{lie}: {warnings:?}");
        let text = warnings.iter().find(|text| text.contains(words));
        let text = text.unwrap_or_else(|| panic!("{lie}: {warnings:?}"));
        let [said, other] = numbers(text)[..] else { panic!("{lie}: {text}") };
        assert!(differ(said, other), "{lie}: {text}");
    }
    let (state, warnings) = told(&document, "tcp");
    assert_eq!(state, "valid", "{warnings:?}");
}

#[test]
fn driver_that_miscounts_makes_its_runs_invalid() {
    let scene = Scene::new();
    let drivers = lying(&scene, &LIES.map(|(lie, ..)| lie));
    let outcome = measure(&scene, "throughput", "", &drivers);
    outcome.assert_status(4);
    assert_invalid(&outcome, &drivers);
    // also in the open-loop workload
    let outcome = measure(&scene, "paced", "rate = 2000", &drivers);
    outcome.assert_status(4);
    assert_invalid(&outcome, &drivers);
}

#[test]
fn overwritten_loan_counts_as_corrupt() {
    let scene = Scene::new();
    let drivers = lying(&scene, &["overwrites"]);
    for workload in ["throughput", "latency"] {
        let outcome = measure(&scene, workload, "", &drivers);
        outcome.assert_status(4);
        let (state, warnings) = told(&outcome.document(), &drivers[0]);
        assert_eq!(state, "invalid", "{workload}: {warnings:?}");
        assert!(warnings.iter().any(|text| text.contains("came damaged")), "{workload}: {warnings:?}");
        assert_eq!(told(&outcome.document(), "tcp").0, "valid", "{workload}");
    }
}

#[test]
fn middleware_that_breaks_its_promise_is_reported() {
    let scene = Scene::new();
    let lies = [
        ("swallows", "the middleware lost them"),
        ("repeats", "the middleware repeated them"),
        ("invents_losses", "the middleware says that it lost 1000000 samples"),
    ];
    let drivers = lying(&scene, &lies.map(|(lie, _)| lie));
    let outcome = measure(&scene, "throughput", "", &drivers);
    outcome.assert_status(0);
    for (driver, (lie, words)) in drivers.iter().zip(lies) {
        let (state, warnings) = told(&outcome.document(), driver);
        assert_eq!(state, "valid", "{lie}: {warnings:?}");
        assert!(warnings.iter().any(|text| text.contains(words)), "{lie}: {warnings:?}");
    }
    let (_, warnings) = told(&outcome.document(), "tcp");
    assert!(lies.iter().all(|(_, words)| !warnings.iter().any(|text| text.contains(words))), "{warnings:?}");
}
