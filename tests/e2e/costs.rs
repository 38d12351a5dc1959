//! Costs of QoS policies: settings over bases, on real middleware.

use std::fs;

use experiment::{Qos, Support};
use results::{Directory, RunState};
use serde_json::Value;

use crate::support::{Scene, blocks, list};

const FILE: &str = "question = \"What does each policy cost?\"\nworkload = \"latency\"\n\
    [factors]\ndriver = \"cyclonedds\"\nsize = 64\ntopology = \"ring-2\"\nbase = [\"default\", \"loose\"]\n\
    [bases.loose]\nreliability = \"best_effort\"\n\
    [profiles.deadline]\ndeadline = \"10s\"\n\
    [profiles.lifespan]\nlifespan = \"1s\"\n\
    [profiles.exclusive]\nownership = \"exclusive\"\n\
    [profiles.partition]\npartitions = [\"ddsmark\"]\n\
    [profiles.kept]\ndurability = \"transient_local\"\n\
    [design]\nblocks = 6\nmeasure = \"50ms\"\nwarm_up = \"20ms\"\nbaseline = { profile = \"default\" }\n\
    second_tier = { cells = { base = \"loose\" }, blocks = 3 }\n";

#[test]
fn report_begins_with_the_settings_that_matter_and_shows_the_effect_over_each_base() {
    let scene = Scene::new();
    fs::write(scene.path("costs.toml"), FILE).expect("a file");
    let outcome = scene.ddsmark(&["run", "costs.toml", "--budget", "10m", "--out", "costs"]);
    outcome.assert_status(0);
    let first_screen = outcome.stdout.clone();
    // 10 claims need more than 6 blocks
    for words in ["too few blocks to show what 5 settings cost: at least ", "second tier, exploratory, "] {
        assert!(first_screen.contains(words), "{words}: {first_screen}");
    }

    let text = fs::read_to_string(scene.path("costs/result.json")).expect("a result");
    let result: Value = serde_json::from_str(&text).expect("JSON");
    let cells = list(&result["cells"]);
    for cell in cells {
        let (id, runs) = (cell["id"].as_str().expect("an id"), list(&cell["runs"]).len());
        let of_baseline = id.ends_with("base-default/default");
        let expected = match (id.contains("base-loose"), of_baseline) {
            (true, _) => 3,
            (false, true) => 12,
            (false, false) => 6,
        };
        assert_eq!(runs, expected, "{id}");
    }
    assert_eq!(cells.len(), 12);
    let over_bases = list(&result["over_bases"]);
    assert!(over_bases.len() >= 5, "{over_bases:?}");
    for effect in over_bases {
        let bases: Vec<&str> =
            list(&effect["bases"]).iter().filter_map(|base| base["base"].as_str()).collect();
        assert_eq!(bases, ["default", "loose"], "{effect}");
    }

    let full = scene.ddsmark(&["report", "costs", "--full"]);
    full.assert_status(0);
    for words in [
        "Cost of each setting: cyclonedds",
        "default (A/A)",
        "AVERAGE 2 (µs/hop)",
        "Bases differ",
        "exploratory",
    ] {
        assert!(full.stdout.contains(words), "{words}: {}", full.stdout);
    }
    let page = fs::read_to_string(scene.path("costs/report.html")).expect("a page");
    assert!(page.contains("Cost of each setting"), "the page has no table of costs");
}

#[test]
fn bases_of_one_tier_have_tables_of_their_own() {
    let scene = Scene::new();
    let file = FILE.replace("second_tier = { cells = { base = \"loose\" }, blocks = 3 }\n", "");
    assert_ne!(file, FILE);
    fs::write(scene.path("costs.toml"), file).expect("a file");
    scene.ddsmark(&["run", "costs.toml", "--out", "costs"]).assert_status(0);
    let full = scene.ddsmark(&["report", "costs", "--full"]);
    full.assert_status(0);
    for title in
        ["Cost of each setting: cyclonedds, base default", "Cost of each setting: cyclonedds, base loose"]
    {
        assert!(full.stdout.contains(title), "{title}: {}", full.stdout);
    }
}

/// The cost of a setting is that of the value that is in effect: each requested value is read back from the entity, unless the driver
/// declares that the policy has no effect there. `make test-all` tries all settings.
#[test]
fn every_requested_value_is_read_back_unless_it_has_no_effect() {
    let scene = Scene::new();
    let mut words = vec![
        "run",
        "qos-cost",
        "-d",
        "cyclonedds,fastdds",
        "--in-flight",
        "1",
        "--topology",
        "pair",
        "--duration",
        "20ms",
        "--warm-up",
        "0s",
        "--set",
        "design.blocks=1",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--out",
        "costs",
    ];
    let is_short = blocks() == 1;
    if is_short {
        words.extend([
            "--profile",
            "default,high-overhead,resource-limits,reader-data-lifecycle-1s,presentation-topic",
        ]);
    }
    scene.ddsmark(&words).assert_status(0);
    let document = Directory::load(&scene.path("costs")).expect("a result");
    assert!(document.cells.len() >= if is_short { 10 } else { 60 }, "{} cells", document.cells.len());
    let (mut read_back, mut without_effect) = (0, 0);
    for cell in &document.cells {
        let driver = &document.drivers[&cell.factors.driver];
        // Each with the fields that have a meaning there: a reader does not block.
        let [of_writer, of_reader] =
            [cell.factors.writer_qos(0).of_writers(), cell.factors.reader_qos(0).of_readers()];
        let requested = [("writer", of_writer), ("reader", of_reader)];
        for (end, (entity, requested)) in requested.into_iter().enumerate() {
            let differences = requested.differences(&cell.effective_qos[entity]);
            read_back += requested.differences(&Qos::default()).len() - differences.len();
            for (field, value, effective) in differences {
                let policy = Qos::policy_of(field).expect("a field of a policy");
                let support = driver.support_of_ends(policy)[end];
                let words = format!("{}: {field} of the {entity}: {value}, read back {effective}", cell.id);
                assert_eq!((effective.as_str(), support), ("unknown", Support::Ignored), "{words}");
                without_effect += 1;
            }
        }
        assert!(cell.runs.iter().all(|run| run.state == RunState::Valid), "{}", cell.id);
    }
    assert!(read_back > 20 && without_effect > 0, "{read_back} and {without_effect}");
}
