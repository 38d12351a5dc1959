//! The commands of the tutorial, and of the other pages, work.

use std::fs;

use host::allowed_cores;

use crate::support::{Scene, drivers, root};

/// Returns the lines after `$ ` in the `console` blocks of a Markdown text.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
        }
    }
    commands
}

/// Returns the text of each block of this language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let begin = format!("```{language}\n");
    text.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// Runs the commands of a page in order.
#[track_caller]
pub fn follow(scene: &Scene, text: &str) {
    let commands = commands(text);
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let outcome = scene.start("sh", &["-c", &command]).end();
        assert!(outcome.status.success(), "$ {command}\n{}\n--\n{}", outcome.stdout, outcome.stderr);
        assert!(!outcome.stdout.is_empty(), "`{command}` prints nothing");
    }
}

#[test]
fn commands_of_the_tutorial_succeed_in_order() {
    let page = root().join("docs/tutorial/first-characterization.md");
    follow(&Scene::new(), &fs::read_to_string(page).expect("the tutorial"));
}

#[test]
fn commands_of_the_page_on_experiments_succeed_in_order() {
    let page = root().join("docs/how-to/write-an-experiment.md");
    let text = fs::read_to_string(page).expect("the page");
    let scene = Scene::new();
    let [file, parts @ ..] = &blocks(&text, "toml")[..] else { panic!("the page shows a file") };
    fs::write(scene.path("mine.toml"), file).expect("a file");
    follow(&scene, &text);
    // the other blocks extend the same question
    assert!(parts.len() >= 2, "{parts:?}");
    let question = file.split("\n\n").next().expect("a question");
    for part in parts {
        // a block with a workload of its own needs only some question
        let head = if part.starts_with("workload") { "question = \"?\"" } else { question };
        fs::write(scene.path("part.toml"), format!("{head}\n\n{part}")).expect("a file");
        let outcome = scene.ddsmark(&["run", "part.toml", "--dry-run"]);
        // duets need four cores, and are rejected with fewer
        let rejected = part.contains("duet = true") && allowed_cores().len() < 4;
        outcome.assert_status(if rejected { 2 } else { 0 });
        assert!(!rejected || outcome.stderr.contains("core"), "{}", outcome.stderr);
    }
}

#[test]
fn commands_of_the_page_on_tuning_succeed_in_order() {
    let text = fs::read_to_string(root().join("docs/how-to/tune-a-host.md")).expect("the page");
    let scene = Scene::new();
    follow(&scene, &text);
    // a command that changes the host is in a block that is not run
    let changes = [">/sys", ">/proc", ">/dev", "sysctl -w", "swapoff", "tee /sys"];
    let run = commands(&text);
    assert!(changes.iter().all(|change| run.iter().all(|command| !command.contains(change))), "{run:?}");
    let host = fs::read_to_string(scene.path("host/result.json")).expect("a result");
    assert!(host.contains("\"clock_source\"") && host.contains("\"net.core.rmem_max\""), "{host}");
}

#[test]
fn commands_of_the_page_on_the_questions_of_a_guide_succeed_in_order() {
    let text = fs::read_to_string(root().join("docs/how-to/perftest-questions.md")).expect("the page");
    // Each section has a command.
    for section in text.split("\n## ").skip(1) {
        assert!(!commands(section).is_empty(), "{section}");
    }
    follow(&Scene::new(), &text);
}

#[test]
fn commands_of_the_page_on_ci_succeed_in_order() {
    let text = fs::read_to_string(root().join("docs/how-to/compare-in-ci.md")).expect("the page");
    let scene = Scene::new();
    let [file] = &blocks(&text, "toml")[..] else { panic!("the page shows one file") };
    fs::write(scene.path("gate.toml"), file).expect("a file");
    let [script] = &blocks(&text, "sh")[..] else { panic!("the page shows one script") };
    fs::write(scene.path("gate.sh"), script).expect("a file");
    for build in ["old.so", "new.so"] {
        fs::copy(drivers().join("libddsmark_udp.so"), scene.path(build)).expect("a driver");
    }
    follow(&scene, &text);
    // the job runs that script and keeps its result
    let [job] = &blocks(&text, "yaml")[..] else { panic!("the page shows one job") };
    assert!(job.contains("run: sh gate.sh") && job.contains("path: gate }"), "{job}");
    assert!(scene.path("gate/result.json").is_file());
    // A failed criterion fails the script. On a busy host there may be too few samples for p99.
    fs::write(scene.path("gate.sh"), script.replace("p99", "p50")).expect("a file");
    let broken = scene.start("sh", &["-c", "rm -r gate; LIMIT=-99% sh gate.sh"]).end();
    broken.assert_status(1);
    assert!(broken.stdout.contains("slower by more than the limit"), "{}", broken.stdout);
}

#[test]
fn commands_of_the_page_on_configurations_succeed_in_order() {
    let text =
        fs::read_to_string(root().join("docs/how-to/measure-your-configuration.md")).expect("the page");
    let scene = Scene::new();
    let [file, _] = &blocks(&text, "toml")[..] else { panic!("the page shows a file, and a part of one") };
    fs::write(scene.path("mine.toml"), file).expect("a file");
    let files = blocks(&text, "xml");
    assert_eq!(files.len(), 3, "the page shows three files");
    for (name, file) in ["cyclonedds.xml", "fastdds.xml", "robot.xml"].into_iter().zip(files) {
        fs::write(scene.path(name), file).expect("a file");
    }
    follow(&scene, &text);
    // what the page says of the file of profiles
    let result = fs::read_to_string(scene.path("rti/result.json")).expect("a result");
    let note = "not applied: datawriter_qos/protocol/rtps_reliable_writer";
    assert!(result.contains(note), "the plan has no note `{note}`");
    // the second block of the page is valid in an experiment
    fs::write(scene.path("part.toml"), blocks(&text, "toml").concat()).expect("a file");
    scene.ddsmark(&["run", "part.toml", "--dry-run", "--set", "factors.driver=fastdds"]).assert_status(0);
}

#[test]
fn only_prompts_in_console_blocks_are_commands() {
    let text = "$ no\n```sh\n$ no\n```\n```console\n$ yes\noutput $ no\n```\n$ no\n";
    assert_eq!(commands(text), ["yes"]);
}
