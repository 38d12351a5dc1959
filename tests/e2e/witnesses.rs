//! The counts of the agents are compared with those of the driver: a driver that misreports a count makes its runs
//! invalid.

use std::fs;

use serde_json::Value;

use crate::support::{Outcome, Scene, changed_driver, list};

/// Builds the driver `tcp`, reliable, changed by each of these functions of `faulty_driver.cpp`.
fn faulty_drivers(scene: &Scene, faults: &[&str]) -> Vec<String> {
    faults.iter().map(|fault| changed_driver(scene, "tcp", fault)).collect()
}

/// Measures these drivers in short runs, together with the unchanged driver.
fn measure(scene: &Scene, workload: &str, load: &str, drivers: &[String]) -> Outcome {
    let drivers: Vec<&str> = drivers.iter().map(String::as_str).chain(["tcp"]).collect();
    let text = format!(
        "question = \"Do the witnesses agree?\"\nworkload = {workload:?}\n[factors]\ndriver = {drivers:?}\nsize = 64\n\
         {load}\n\
         [qos]\nreliability = \"reliable\"\nhistory = \"keep_all\"\n\
         [design]\nwarm_up = \"20ms\"\nmeasure = \"50ms\"\n"
    );
    fs::write(scene.path("faulty.toml"), text).expect("a file");
    let _ = fs::remove_dir_all(scene.path("result"));
    scene.run_blocks("faulty.toml")
}

/// Returns the state and the warnings of this driver's first run.
fn first_run(document: &Value, driver: &str) -> (String, Vec<String>) {
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
type Fault = (&'static str, &'static str, fn(u64, u64) -> bool);

const FAULTS: [Fault; 3] = [
    ("overstates_taken", "the driver says that it gave", |reported, given| reported > given),
    ("understates_sent", "the writer's driver says that it sent", |reported, came| reported < came),
    ("understates_received", "the reader's driver says that it received", |reported, given| reported < given),
];

fn assert_invalid(outcome: &Outcome, drivers: &[String]) {
    let document = outcome.document();
    for (driver, (fault, words, differ)) in drivers.iter().zip(FAULTS) {
        let (state, warnings) = first_run(&document, driver);
        assert_eq!(state, "invalid", "{fault}: {warnings:?}");
        let text = warnings.iter().find(|text| text.contains(words));
        let text = text.unwrap_or_else(|| panic!("{fault}: {warnings:?}"));
        let [reported, other] = numbers(text)[..] else { panic!("{fault}: {text}") };
        assert!(differ(reported, other), "{fault}: {text}");
    }
    let (state, warnings) = first_run(&document, "tcp");
    assert_eq!(state, "valid", "{warnings:?}");
}

#[test]
fn driver_that_miscounts_makes_its_runs_invalid() {
    let scene = Scene::new();
    let drivers = faulty_drivers(&scene, &FAULTS.map(|(fault, ..)| fault));
    let outcome = measure(&scene, "throughput", "", &drivers);
    outcome.assert_status(4);
    assert_invalid(&outcome, &drivers);
    // also in the paced workload
    let outcome = measure(&scene, "paced", "rate = 2000", &drivers);
    outcome.assert_status(4);
    assert_invalid(&outcome, &drivers);
}

#[test]
fn overwritten_loan_counts_as_corrupt() {
    let scene = Scene::new();
    let drivers = faulty_drivers(&scene, &["overwrites"]);
    for workload in ["throughput", "latency"] {
        let outcome = measure(&scene, workload, "", &drivers);
        outcome.assert_status(4);
        let (state, warnings) = first_run(&outcome.document(), &drivers[0]);
        assert_eq!(state, "invalid", "{workload}: {warnings:?}");
        assert!(warnings.iter().any(|text| text.contains("came damaged")), "{workload}: {warnings:?}");
        assert_eq!(first_run(&outcome.document(), "tcp").0, "valid", "{workload}");
    }
}

#[test]
fn middleware_that_breaks_its_promise_is_reported() {
    let scene = Scene::new();
    let faults = [
        ("swallows", "the middleware lost them"),
        ("repeats", "the middleware repeated them"),
        ("invents_losses", "the middleware says that it lost 1000000 samples"),
    ];
    let drivers = faulty_drivers(&scene, &faults.map(|(fault, _)| fault));
    let outcome = measure(&scene, "throughput", "", &drivers);
    outcome.assert_status(0);
    for (driver, (fault, words)) in drivers.iter().zip(faults) {
        let (state, warnings) = first_run(&outcome.document(), driver);
        assert_eq!(state, "valid", "{fault}: {warnings:?}");
        assert!(warnings.iter().any(|text| text.contains(words)), "{fault}: {warnings:?}");
    }
    let (_, warnings) = first_run(&outcome.document(), "tcp");
    assert!(
        faults.iter().all(|(_, words)| !warnings.iter().any(|text| text.contains(words))),
        "{warnings:?}"
    );
}
