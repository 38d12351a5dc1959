//! README.md: its commands work, and print what it shows, apart from the numbers.

use std::fs;

use crate::support::{Scene, root};

/// Command of a `console` block, with the lines that the page shows of its output.
struct Example {
    command: String,
    shown: Vec<String>,
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            examples.push(Example { command: command.to_owned(), shown: Vec::new() });
        } else if let Some(example) = examples.last_mut().filter(|_| inside) {
            example.shown.push(line.to_owned());
        }
    }
    examples
}

/// Returns the names in a row of a table: its words that are neither numbers, nor their spread, nor units.
fn names(line: &str) -> Vec<&str> {
    let is_value = |word: &str| {
        word.chars().all(|c| c.is_ascii_digit() || ".±%+-*".contains(c))
            || word.starts_with('(')
            || word == "n/a"
    };
    line.split_whitespace().filter(|word| !is_value(word)).collect()
}

/// Returns the beginning of a sentence, up to its first number or colon.
fn beginning(line: &str) -> &str {
    line.trim_start().split(|c: char| c.is_ascii_digit() || c == ':').next().unwrap_or_default()
}

/// Returns whether a line is a row of a table or begins a sentence. Where a sentence is wrapped depends on its numbers.
fn is_compared(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty() && text != "..." && (is_row(line) || !line.starts_with("    "))
}

fn is_row(line: &str) -> bool {
    line.trim().contains("  ")
}

/// Returns whether a program printed this line: a row of a table with other values, or a sentence that begins alike.
fn is_printed(line: &str, output: &str) -> bool {
    let alike = |printed: &str| match is_row(line) {
        true => names(printed) == names(line),
        false => beginning(printed) == beginning(line),
    };
    output.lines().any(alike)
}

#[test]
fn commands_of_the_readme_print_what_it_shows() {
    let text = fs::read_to_string(root().join("README.md")).expect("the README");
    let scene = Scene::new();
    let examples = examples(&text);
    assert!(examples.len() >= 3, "{} commands", examples.len());
    for Example { command, shown } in examples {
        let outcome = scene.start("sh", &["-c", &command]).end();
        outcome.assert_status(0);
        for line in shown.iter().filter(|line| is_compared(line)) {
            assert!(
                is_printed(line, &outcome.stdout),
                "`{line}` is not printed by `{command}`:\n{}",
                outcome.stdout
            );
        }
    }
}

#[test]
fn line_with_other_names_is_not_taken_for_a_printed_one() {
    let output = "  Driver  Size (B)  RTT p50 (µs)\n  udp           64  46.3 ± 1.9 %\nVerdicts on 2 comparisons: 1 different\n";
    for shown in ["  udp       128  7.1", "Verdicts on 1 comparison: 1 equivalent", "  Driver  Size  RTT p50"]
    {
        assert!(is_printed(shown, output), "{shown}");
    }
    for other in ["  tcp       64  46.3 ± 1.9 %", "Findings of these runs", "  Driver  Size  RTT p99"] {
        assert!(!is_printed(other, output), "{other}");
    }
}
