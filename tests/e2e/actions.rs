//! The script of the GitHub action, as a job starts it.

use std::{ffi::OsStr, fs};

use crate::support::{Outcome, Scene, root};

/// Experiment that decides the median round trip on a busy host, too.
const EXPERIMENT: &str = "question = \"?\"\nworkload = \"latency\"\n[factors]\nsize = 64\n\
                          [design]\nblocks = 8\nwarm_up = \"20ms\"\nmeasure = \"100ms\"\n";

/// Runs the script with the inputs of a job.
fn job(scene: &Scene, inputs: &[(&str, &str)]) -> Outcome {
    fs::write(scene.path("gate.toml"), EXPERIMENT).expect("a file");
    let script = root().join(".github/actions/compare/compare.sh");
    let files = ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"].map(|name| (name, scene.path(name)));
    let mut variables: Vec<(&str, &OsStr)> = vec![
        ("EXPERIMENT", OsStr::new("gate.toml --set factors.driver=udp")),
        ("BASE", OsStr::new("--set factors.receive=waitset")),
        ("HEAD", OsStr::new("--set factors.receive=polling")),
        ("OUT", OsStr::new("result")),
    ];
    variables.extend(files.iter().map(|(name, path)| (*name, path.as_os_str())));
    variables.extend(inputs.iter().map(|(name, value)| (*name, OsStr::new(*value))));
    scene.start_with(&variables, "bash", &[script.to_str().expect("a path")]).end()
}

fn summary(scene: &Scene) -> String {
    fs::read_to_string(scene.path("GITHUB_STEP_SUMMARY")).expect("a summary")
}

#[test]
fn job_writes_a_summary_and_passes_if_no_criterion_fails() {
    let scene = Scene::new();
    let outcome = job(&scene, &[("FAIL_IF", "\n  rtt-p50 > +10000%\n\n"), ("ARGUMENTS", "--blocks 8\n")]);
    outcome.assert_status(0);
    assert!(
        outcome.stdout.contains("::notice title=ddsmark::No criterion was shown to fail"),
        "{}",
        outcome.stdout
    );
    let summary = summary(&scene);
    assert!(summary.starts_with("## ddsmark: `gate.toml --set factors.driver=udp`"), "{summary}");
    assert!(summary.contains("| change (B) | `--set factors.receive=polling` |"), "{summary}");
    // the criterion, and a table of verdicts with its heading
    assert!(summary.contains("rtt-p50 > +10000%"), "{summary}");
    assert!(summary.matches("\n|---|").count() + summary.matches("\n| ---").count() >= 2, "{summary}");
    assert_eq!(fs::read_to_string(scene.path("GITHUB_OUTPUT")).expect("an output"), "status=0\n");
    assert!(scene.path("result/result.json").is_file());
    let page = fs::read_to_string(scene.path("result.html")).expect("the page beside the result");
    assert!(page.starts_with("<!DOCTYPE html>"));
}

#[test]
fn job_fails_with_a_summary_if_a_criterion_fails() {
    let scene = Scene::new();
    // Two criteria, one of which fails: no reader is a hundred times as fast as another.
    let outcome = job(&scene, &[("FAIL_IF", "rtt-p50 > +10000%\nrtt-p50 > -99%")]);
    outcome.assert_status(1);
    assert!(outcome.stdout.contains("::error title=ddsmark::A criterion failed"), "{}", outcome.stdout);
    assert!(summary(&scene).contains("rtt-p50 > -99%"), "{}", summary(&scene));
    assert_eq!(fs::read_to_string(scene.path("GITHUB_OUTPUT")).expect("an output"), "status=1\n");
}

#[test]
fn job_with_wrong_inputs_measures_nothing_and_says_why() {
    let wrong: [(&str, &str, &str); 4] = [
        ("EXPERIMENT", "", "The input `experiment` is empty"),
        ("HEAD", "--set factors.receive=waitset", "The inputs `base` and `head` are the same"),
        ("DDSMARK", "no-such-ddsmark", "`no-such-ddsmark` not found"),
        ("HEAD", "--set factors.receive=none", "The measurement failed"),
    ];
    for (name, value, text) in wrong {
        let scene = Scene::new();
        let outcome = job(&scene, &[(name, value)]);
        outcome.assert_status(2);
        assert!(summary(&scene).contains(text), "{}", summary(&scene));
        assert!(outcome.stdout.contains(&format!("::error title=ddsmark::{text}")), "{}", outcome.stdout);
        assert!(!scene.path("result/result.json").exists());
    }
}

#[test]
fn summary_links_the_artifacts_that_were_uploaded() {
    let linked = |urls: &[(&str, &str)]| {
        let scene = Scene::new();
        let file = scene.path("GITHUB_STEP_SUMMARY");
        let mut variables: Vec<(&str, &OsStr)> = vec![("GITHUB_STEP_SUMMARY", file.as_os_str())];
        variables.extend(urls.iter().map(|(name, url)| (*name, OsStr::new(*url))));
        let script = root().join(".github/actions/compare/link.sh");
        scene.start_with(&variables, "bash", &[script.to_str().expect("a path")]).end().assert_status(0);
        fs::read_to_string(file).unwrap_or_default()
    };
    let (report, result) = (("REPORT_URL", "https://example.org/1"), ("RESULT_URL", "https://example.org/2"));
    let both = "\n[Report with charts](https://example.org/1), [result](https://example.org/2)\n";
    assert_eq!(linked(&[report, result]), both);
    assert_eq!(linked(&[report, ("RESULT_URL", "")]), "\n[Report with charts](https://example.org/1)\n");
    assert_eq!(linked(&[]), "", "a job that measured nothing");
}
