//! CSV, JSON Lines and Markdown on the command line.

use std::path::{Path, PathBuf};

use experiment::Workload;
use results::{Assembler, Histograms, State};

use crate::{
    sample::{self, Characterize},
    support::Sandbox,
};

/// Creates a place with `r.json`, a result of two drivers.
fn sandbox() -> Sandbox {
    let mut header = sample::header_of(&Characterize {
        sizes: vec![64],
        workloads: vec![Workload::Latency],
        batch_bytes: 0,
        seed: 5,
        ..sample::characterize()
    });
    header.experiment.design.blocks = 12;
    header.experiment.design.baseline = vec!["plain/udp4/latency/64".to_owned()];
    let (schedule, cells) = (header.experiment.schedule(), header.experiment.cells.clone());
    let mut assembler = Assembler::new(header);
    for scheduled in schedule {
        let (run, _) = sample::run(scheduled, &cells[scheduled.cell]);
        assembler.add(run, &Histograms::new());
    }
    let mut document = assembler.document(State::Complete);
    document.blocks = sample::blocks(&document.experiment);
    let sandbox = Sandbox::new();
    sandbox.write("r.json", &report::json(&document));
    sandbox
}

const COMPARE: [&str; 5] = ["compare", "r.json:plain/*", "r.json:dds/*", "--factor", "driver,qos"];

fn stdout(sandbox: &Sandbox, words: &[&str]) -> String {
    let output = sandbox.run(words);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn each_format_is_printed_alone() {
    let sandbox = sandbox();
    let csv = stdout(&sandbox, &["report", "r.json", "--csv"]);
    let jsonl = stdout(&sandbox, &["report", "r.json", "--jsonl"]);
    assert!(csv.starts_with("experiment,cell,run,"), "{csv}");
    assert_eq!(csv.lines().count(), jsonl.lines().count() + 1);
    assert!(jsonl.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    let markdown = stdout(&sandbox, &["report", "r.json", "--markdown"]);
    assert!(markdown.starts_with("### ") && markdown.contains("\n| Driver | Size (B) |"), "{markdown}");
}

#[test]
fn page_and_its_charts_are_files() {
    let sandbox = sandbox();
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).expect("a file");
    assert_eq!(stdout(&sandbox, &["report", "r.json", "--html"]), "report: report.html\n");
    let html = read("report.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    let said = stdout(&sandbox, &["report", "r.json", "--html", "again.html", "--svg", "charts"]);
    assert_eq!(read("again.html"), html, "the same result is the same page");
    assert_eq!(stdout(&sandbox, &["report", "r.json", "--html=-"]), html);
    let charts: Vec<_> = std::fs::read_dir(sandbox.path("charts")).expect("a folder").flatten().collect();
    assert_eq!(said, format!("report: again.html\ncharts: {} in charts\n", charts.len()));
    for id in ["verdicts", "runs", "percentiles"] {
        let svg = read(&format!("charts/{id}.svg"));
        roxmltree::Document::parse(&svg).expect("well-formed");
        assert!(html.contains(&format!("id=\"{id}\"")));
    }
    let said = stdout(&sandbox, &["report", "r.json", "--png", "pictures"]);
    assert_eq!(said, format!("charts: {} in pictures\n", charts.len()));
    for chart in &charts {
        let svg = std::fs::read_to_string(chart.path()).expect("a drawing");
        let drawing = roxmltree::Document::parse(&svg).expect("well-formed");
        let name = chart.path().with_extension("png");
        let picture = std::fs::read(sandbox.path("pictures").join(name.file_name().expect("a name")));
        let picture = picture.expect("a picture of each drawing");
        let (signature, rest) = picture.split_at(16);
        assert!(signature.starts_with(b"\x89PNG\r\n\x1a\n") && signature.ends_with(b"IHDR"));
        let pixels = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("4 bytes"));
        let wanted = ["width", "height"].map(|side| {
            let px: u32 =
                drawing.root_element().attribute(side).and_then(|px| px.parse().ok()).expect("a size");
            2 * px
        });
        assert_eq!([pixels(&rest[..4]), pixels(&rest[4..8])], wanted, "{}", name.display());
    }
    // A folder has the name of the file, and the other way round.
    for words in [
        &["report", "r.json", "--html", "charts"][..],
        &["report", "r.json", "--svg", "r.json"],
        &["report", "r.json", "--png", "r.json"],
    ] {
        let output = sandbox.run(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(error.contains("cannot write `") && error.contains("hint: name a file or folder"), "{error}");
    }
}

#[test]
fn comparison_as_markdown_has_the_criteria_and_a_row_per_verdict() {
    let sandbox = sandbox();
    let words = [&COMPARE[..], &["--markdown", "--fail-if", "rtt-p99 > +50%"]].concat();
    let markdown = String::from_utf8(sandbox.run(&words).stdout).expect("UTF-8");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&sandbox, &[&COMPARE[..], &["--json"]].concat())).expect("JSON");
    for verdict in json["verdicts"].as_array().expect("verdicts") {
        let text = verdict["text"].as_str().expect("a text").replace('<', "&lt;");
        let cell = verdict["treatment"]["cell"].as_str().expect("a cell");
        let row = markdown.lines().find(|line| line.contains(cell) && line.contains(&text));
        assert!(row.is_some_and(|row| row.starts_with("| ")), "{text}: {markdown}");
    }
    assert!(markdown.contains("\n- `rtt-p99 > +50%` for ") && markdown.contains(" met, "), "{markdown}");
}

#[test]
fn two_formats_and_a_plan_as_csv_are_rejected() {
    let sandbox = sandbox();
    for (words, fault) in [
        (&["report", "r.json", "--csv", "--json"][..], "cannot be used with"),
        (&["report", "r.json", "--full", "--markdown"][..], "cannot be used with"),
        (&["report", "r.json", "--html", "--json"][..], "cannot be used with"),
        (&["report", "r.json", "--svg", "charts", "--full"][..], "cannot be used with"),
        (&["report", "r.json", "--png", "charts", "--csv"][..], "cannot be used with"),
        (&["report", "empty", "--html"][..], "cannot read `empty`"),
        (&["latency", "--dry-run", "--jsonl"][..], "cannot be used with"),
        (&["compare", "r.json", "r.json", "--csv"][..], "unexpected argument '--csv'"),
    ] {
        let output = sandbox.run(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(error.contains(fault), "{words:?}: {error}");
    }
}

#[test]
fn overlay_is_beside_the_measured_values_in_every_format() {
    let sandbox = sandbox();
    let overlaid = ["report", "r.json", "--overlay", "seed-000,seed-003"];
    sandbox.snapshot("report-overlay", &overlaid);
    let printed = |format: &str| stdout(&sandbox, &[&overlaid[..], &[format]].concat());
    // two cells, with four figures of the first source, and of the other one a figure of four setups and of the second executions of two
    let rows = printed("--csv").lines().filter(|row| row.contains(",published,")).count();
    assert_eq!(rows, 2 * (4 + 4 + 2));
    let full = printed("--full");
    assert!(full.contains("beside published figures of ") && full.contains("Differences of "), "{full}");
    let json: serde_json::Value = serde_json::from_str(&printed("--json")).expect("JSON");
    assert_eq!(json["cells"][0]["published"].as_array().expect("figures").len(), 10);
    assert!(!stdout(&sandbox, &["report", "r.json", "--full"]).contains("ublished"));
}

#[test]
fn overlay_that_is_unknown_or_of_other_cells_is_rejected() {
    let sandbox = sandbox();
    sandbox.snapshot("report-overlay-unknown", &["report", "r.json", "--overlay", "seed-9"]);
    sandbox.snapshot("report-overlay-of-other-cells", &["report", "r.json", "--overlay", "seed-001"]);
}

/// Writes the result of `r.json` into a directory, some days later.
fn later(sandbox: &Sandbox, name: &str, days: u64) {
    let text = std::fs::read_to_string(sandbox.path("r.json")).expect("a result");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let delay = days * 86_400_000_000_000;
    let add = |value: &mut serde_json::Value| {
        *value = (value.as_u64().expect("a time") + delay).into();
    };
    add(&mut document["hosts"][0]["properties"]["started_unix_ns"]);
    for cell in document["cells"].as_array_mut().expect("cells") {
        for run in cell["runs"].as_array_mut().expect("runs") {
            add(&mut run["started_unix_ns"]);
        }
    }
    std::fs::create_dir_all(sandbox.path(name)).expect("a folder");
    sandbox.write(&format!("{name}/result.json"), &document.to_string());
}

#[test]
fn many_results_are_an_index() {
    let sandbox = sandbox();
    for (days, name) in ["night/1", "night/2", "night/3"].into_iter().enumerate() {
        later(&sandbox, name, days as u64);
    }
    stdout(&sandbox, &["report", "night/2", "--html"]);
    std::fs::create_dir_all(sandbox.path("night/broken")).expect("a folder");
    sandbox.write("night/broken/result.json", "{");
    let text = stdout(&sandbox, &["report", "night"]);
    let words = [
        "night/3",
        "cannot be loaded: the record `night/broken/result.json` is damaged",
        "3 results on bench",
    ];
    assert!(words.iter().all(|words| text.contains(words)), "{text}");
    // Named twice, and in another way.
    let said = stdout(&sandbox, &["report", "night", "--html"]);
    assert!(said.ends_with("\nreport: night/index.html\n"), "{said}");
    let twice =
        ["report", "night/1", "night", "night/2/result.json", "./night/3", "--html", "night/twice.html"];
    stdout(&sandbox, &twice);
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).expect("a file");
    let html = read("night/index.html");
    assert_eq!(
        html.matches("<a href=\"./2/report.html?index=./../index.html\">night/2</a>").count(),
        1,
        "only this one has a page, which links back to the index"
    );
    assert_eq!(html.matches("/report.html?").count(), 1);
    assert!(html.contains("id=\"history-1\""));
    assert_eq!(read("night/twice.html").replace("/twice.html", "/index.html"), html);
    for (words, status, fault) in [
        (&["report", "night", "--json"][..], 2, "are for one result"),
        (&["report", "night", "absent"][..], 2, "not found: `absent`"),
        (&["report", "night/broken", "empty"][..], 3, "none of 2 results can be loaded"),
    ] {
        std::fs::create_dir_all(sandbox.path("empty")).expect("a folder");
        let output = sandbox.run(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {error}");
        assert!(error.contains(fault), "{words:?}: {error}");
    }
}

#[test]
fn results_that_pages_quote_can_be_opened() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain/data");
    let files = std::fs::read_dir(folder).expect("the data").map(|entry| entry.expect("a file").path());
    let kept: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(".json.gz")).collect();
    assert!(kept.len() >= 5, "{kept:?}");
    let sandbox = sandbox();
    for path in kept {
        let shown = stdout(&sandbox, &["report", &path.to_string_lossy()]);
        assert!(shown.contains(" valid, 2026-"), "{}: {shown}", path.display());
    }
}
