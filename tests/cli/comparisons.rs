//! Verdicts, comparisons and criteria: output and exit status.

use std::fs;

use experiment::Workload;

use results::{Assembler, Histograms, ResultDocument, State};

use crate::{
    sample::{self, Characterize},
    support::Sandbox,
};

/// Creates a result of two drivers: `plain`, the baseline, and `dds`, whose RTT is `ratio` times that of `plain`.
fn result(blocks: u32, ratio: f64, reach: f64) -> ResultDocument {
    let mut header = sample::header_of(&Characterize {
        sizes: vec![64],
        workloads: vec![Workload::Latency],
        batch_bytes: 0,
        seed: 5,
        ..sample::characterize()
    });
    header.experiment.name = "rig".to_owned();
    header.experiment.design.blocks = blocks;
    header.experiment.design.baseline = vec!["plain/udp4/latency/64".to_owned()];
    let (schedule, cells) = (header.experiment.schedule(), header.experiment.cells.clone());
    let mut assembler = Assembler::new(header);
    for scheduled in schedule {
        let (mut run, _) = sample::run(scheduled, &cells[scheduled.cell]);
        let ratio = if run.cell.starts_with("dds") { ratio } else { 1.0 };
        let noise = (sample::Noise(u64::from(run.number)).next() >> 11) as f64 / (1_u64 << 53) as f64;
        let p50 = 100_000.0 * ratio * (1.0 + reach * (2.0 * noise - 1.0));
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        (rtt.p50_ns, rtt.p99_ns) = (Some(p50 as u64), Some((2.0 * p50) as u64));
        assembler.add(run, &Histograms::new());
    }
    let mut document = assembler.document(State::Complete);
    document.blocks = sample::blocks(&document.experiment);
    document
}

/// Creates a place with these results.
fn sandbox(results: &[(&str, ResultDocument)]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, document) in results {
        sandbox.write(name, &report::json(document));
    }
    sandbox
}

const CELLS: [&str; 5] = ["compare", "r.json:plain/*", "r.json:dds/*", "--factor", "driver,qos"];

fn with<'w>(words: &[&'w str]) -> Vec<&'w str> {
    CELLS.iter().copied().chain(words.iter().copied()).collect()
}

#[test]
fn a_report_has_the_verdicts_of_its_baseline() {
    let sandbox = sandbox(&[("r.json", result(12, 0.95, 0.01))]);
    let output = sandbox.run(&["report", "r.json", "--full"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let verdicts = text.split("\nVerdicts: ").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(verdicts.contains("% lower (95 % ") && verdicts.contains("\nNoise floor: "), "{verdicts}");
    let json = sandbox.run(&["report", "r.json", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(document["verdicts"].as_array().map(Vec::len), Some(4), "two noise floors, two comparisons");
}

#[test]
fn a_comparison_in_words() {
    let sandbox = sandbox(&[
        ("r.json", result(12, 0.95, 0.01)),
        ("later.json", {
            let mut later = result(10, 1.2, 0.01);
            later.hosts[0].environment = sample::environment("26214400");
            later
        }),
    ]);
    sandbox.snapshot("compare-cells", &with(&[]));
    sandbox.snapshot(
        "compare-results",
        &["compare", "r.json", "later.json", "--factor", "env.net.core.rmem_max"],
    );
    sandbox.snapshot("compare-refused", &["compare", "r.json", "later.json"]);
    sandbox.snapshot("compare-forced", &["compare", "r.json", "later.json", "--force", "--metric", "p50"]);
    let markdown = ["compare", "r.json", "later.json", "--factor", "env.net.core.rmem_max", "--markdown"];
    let markdown = String::from_utf8_lossy(&sandbox.run(&markdown).stdout).into_owned();
    for words in ["**Agreement: ", "- 0 agree, 2 contradict ", "| dds | RTT p50 | 1 | 0 | 1 | 0 | 0 | n/a |"]
    {
        assert!(markdown.contains(words), "{words}: {markdown}");
    }
    sandbox.snapshot("compare-same", &["compare", "r.json", "r.json"]);
    sandbox.snapshot("compare-no-cell", &["compare", "r.json:plane/*", "r.json"]);
    sandbox
        .snapshot("compare-quiet", &["compare", "r.json", "later.json", "--force", "--metric", "p50", "-q"]);
    sandbox.snapshot("compare-no-factor", &["compare", "r.json", "later.json", "--factor", "rmem"]);
}

#[test]
fn results_of_a_directory_are_listed() {
    let sandbox = sandbox(&[
        ("old/result.json", result(12, 0.95, 0.01)),
        ("a b/c/result.json", {
            let mut new = result(10, 1.0, 0.01);
            new.hosts[0].properties.started_unix_ns += 3_600_000_000_000;
            new.state = State::Interrupted;
            new
        }),
    ]);
    sandbox.write("broken/result.json", "{}");
    sandbox.write("other/notes.json", "{}");
    sandbox.snapshot("results", &["results", "."]);
    sandbox.snapshot("results-none", &["results", "other"]);
    sandbox.snapshot("results-no-directory", &["results"]);
}

#[test]
fn criteria_decide_how_it_ends() {
    let slower = sandbox(&[("r.json", result(12, 1.1, 0.01))]);
    slower.snapshot("fail-if-broken", &with(&["--fail-if", "p99 > +5%", "--fail-if", "p50 < -5%"]));
    slower.snapshot("fail-if-kept", &with(&["--fail-if", "p99 > +20%"]));
    let unsure = sandbox(&[("r.json", result(12, 1.05, 0.1))]);
    unsure.snapshot("fail-if-cannot-tell", &with(&["--fail-if", "p99 > +5%"]));
    unsure.snapshot("fail-if-allowed", &with(&["--fail-if", "p99 > +5%", "--allow-inconclusive"]));
    let few = sandbox(&[("r.json", result(3, 2.0, 0.01))]);
    few.snapshot("fail-if-too-few", &with(&["--fail-if", "p99 > +5%"]));
    few.snapshot("fail-if-same", &["compare", "r.json", "r.json", "--fail-if", "p99 > +5%"]);
}

#[test]
fn meaningless_criteria_are_rejected() {
    let sandbox = sandbox(&[("r.json", result(3, 1.0, 0.01))]);
    sandbox.snapshot("fail-if-metric", &with(&["--fail-if", "p98 > +5%"]));
    sandbox.snapshot("fail-if-absolute", &with(&["--fail-if", "p99 > 2ms"]));
    sandbox.snapshot("fail-if-workload", &with(&["--fail-if", "goodput < -5%"]));
}

#[test]
fn a_comparison_as_json_is_what_its_schema_says() {
    let sandbox = sandbox(&[("r.json", result(12, 1.1, 0.01)), ("later.json", result(10, 0.9, 0.01))]);
    let schema = fs::read_to_string(crate::support::root().join("schemas/comparison.schema.json"));
    let schema: serde_json::Value = serde_json::from_str(&schema.expect("the schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let valid = |words: &[&str], status| {
        let output = sandbox.run(words);
        assert_eq!(output.status.code(), Some(status));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        json
    };
    let cells = valid(&with(&["--fail-if", "p99 > +5%", "--json"]), 1);
    assert_eq!((&cells["criteria"][0]["outcome"], &cells["agreement"]), (&"broken".into(), &().into()));
    let results = valid(&["compare", "r.json", "later.json", "--json"], 0);
    assert_eq!(results["agreement"]["all"]["contradict"], 2, "{results}");
    assert_eq!(results["agreement"]["claims"][0]["outcome"], "contradict");
}
