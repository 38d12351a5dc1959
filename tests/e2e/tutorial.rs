//! The commands of the tutorial do what it says.

use std::fs;

use crate::support::{Scene, root};

/// The lines after `$ ` in the `console` blocks of a Markdown text.
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

#[test]
fn the_commands_of_the_tutorial_work_in_their_order() {
    let text =
        fs::read_to_string(root().join("docs/tutorial/first-characterization.md")).expect("the tutorial");
    let commands = commands(&text);
    assert!(commands.len() >= 4, "{commands:?}");
    let scene = Scene::new();
    for command in commands {
        let outcome = scene.start("sh", &["-c", &command]).end();
        assert!(outcome.status.success(), "$ {command}\n{}\n--\n{}", outcome.stdout, outcome.stderr);
        assert!(!outcome.stdout.is_empty(), "`{command}` prints nothing");
    }
}

#[test]
fn only_prompts_in_console_blocks_are_commands() {
    let text = "$ no\n```sh\n$ no\n```\n```console\n$ yes\noutput $ no\n```\n$ no\n";
    assert_eq!(commands(text), ["yes"]);
}
