//! Text from outside that would control a terminal is escaped wherever ddsmark prints it; letters are not.

use results::{Assembler, Failure, Run, RunState, State};

use crate::{sample, support::Sandbox};

/// Sets a colour, clears the screen by a C1 code, returns to the start of the line, and reverses the direction;
/// with a letter that is not escaped.
const POISON: &str = "\u{1b}[31mé\u{9b}2J\r\u{202e}";
const ESCAPED: &str = "\\u001b[31mé\\u009b2J\\u000d\\u202e";

/// Runs ddsmark, and checks that its output has no raw control character; if `named`, it has the escaped text.
fn check(sandbox: &Sandbox, words: &[&str], named: bool) {
    let output = sandbox.run(words);
    let printed = [&output.stdout[..], &output.stderr[..]].concat();
    let printed = String::from_utf8(printed).expect("UTF-8");
    let raw = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    assert!(!printed.contains(raw), "{words:?}: {printed:?}");
    assert!(!named || printed.contains(ESCAPED), "{words:?}: {printed}");
}

#[test]
fn words_of_the_command_line_are_escaped() {
    let sandbox = Sandbox::new();
    check(&sandbox, &["characterize", "--driver", POISON], true);
    check(
        &sandbox,
        &["characterize", "--driver", "udp", "--option", &format!("udp.{POISON}=1"), "--dry-run"],
        false,
    );
    check(&sandbox, &["run", "latency-vs-size", "--set", &format!("factors.{POISON}=1"), "--dry-run"], true);
    check(
        &sandbox,
        &["run", "latency-vs-size", "--set", &format!("factors.driver=\"{POISON}\""), "--dry-run"],
        false,
    );
    check(&sandbox, &["report", POISON], true);
    check(&sandbox, &["compare", POISON, "r.json"], true);
    sandbox.write(POISON, "in the way of the result");
    check(&sandbox, &["run", "latency-vs-size", "--out", POISON], true);
    // rejected by clap, which itself removes colours only
    check(&sandbox, &[POISON], false);
    check(&sandbox, &["report", &format!("--{POISON}")], false);
}

#[test]
fn words_of_files_are_escaped() {
    let sandbox = Sandbox::new();
    let file = |line: &str| {
        format!("question = \"?\"\nworkload = \"latency\"\n{line}\n[factors]\ndriver = \"udp\"\nsize = 64\n")
    };
    sandbox.write("raw.toml", &file(&format!("# {POISON}\nnonsense{POISON} = 1")));
    check(&sandbox, &["run", "raw.toml", "--dry-run"], false);
    let escapes = r"\u001b[31mé\u009b2J\r\u202e";
    sandbox.write("name.toml", &file("").replace("question = \"?\"", &format!("question = \"{escapes}\"")));
    check(&sandbox, &["run", "name.toml", "--dry-run"], true);
    sandbox.write("driver.toml", &file("").replace("\"udp\"", &format!("\"{escapes}\"")));
    check(&sandbox, &["run", "driver.toml", "--dry-run"], true);
}

#[test]
fn words_of_results_and_logs_are_escaped() {
    let fail = |run: &mut Run| {
        run.state = RunState::Failed;
        run.failure = Some(Failure {
            phase: POISON.to_owned(),
            endpoint: Some(POISON.to_owned()),
            error: POISON.to_owned(),
            hint: Some(POISON.to_owned()),
            last_log_lines: vec![format!("{POISON} of the log")],
        });
    };
    let header = sample::header();
    let mut assembler = Assembler::new(header);
    for (mut run, log) in sample::runs() {
        if run.block == 1 {
            fail(&mut run);
        }
        assembler.add(run, &log.merged());
    }
    let mut document = assembler.document(State::Complete);
    document.hosts[0].properties.name = POISON.to_owned();
    document.experiment.name = POISON.to_owned();
    document.experiment.notes.push(POISON.to_owned());
    for cell in &mut document.cells {
        cell.id = format!("{}{POISON}", cell.id);
        cell.factors.options.insert(POISON.to_owned(), POISON.to_owned());
    }
    let sandbox = Sandbox::new();
    sandbox.write("r.json", &report::json(&document));
    check(&sandbox, &["report", "r.json"], true);
    check(&sandbox, &["report", "r.json", "--full"], true);
    check(&sandbox, &["report", "r.json", "--json"], false);
    let output = sandbox.run(&["report", "r.json", "--full"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("| {ESCAPED} of the log")), "{text}");
    check(&sandbox, &["compare", "r.json", "r.json"], true);
}
