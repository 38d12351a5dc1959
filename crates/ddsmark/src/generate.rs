//! Generated files of the command line: completions, man pages and the reference.

use std::{fmt::Write as _, path::Path};

use clap::{Command, CommandFactory as _};
use clap_complete::{Shell, generate};

use crate::{
    arguments::{Arguments, Generate},
    output,
    problem::{Problem, Status},
};

pub fn execute(command: &Generate) -> Result<Status, Problem> {
    match command {
        Generate::Completions { shell } => output::print(&completions(*shell))?,
        Generate::Man { directory } => man(directory)?,
        Generate::Reference { width } => output::print(&reference(*width))?,
    }
    Ok(Status::Done)
}

fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    generate(shell, &mut Arguments::command(), "ddsmark", &mut text);
    String::from_utf8(text).expect("completions are text")
}

/// Writes one page for each visible command, with the name that `man` expects: `ddsmark-drivers-info.1`.
fn man(directory: &Path) -> Result<(), Problem> {
    let command = Arguments::command().disable_help_subcommand(true);
    std::fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(command, directory)).map_err(
        |error| {
            let error = format!("cannot write man pages to `{}`: {error}", directory.display());
            Problem::new(Status::Failed, error, "name a directory that can be written to")
        },
    )
}

/// Returns the help of every command as Markdown.
fn reference(width: usize) -> String {
    let mut text =
        "# The command line\n\nGenerated from the code by `make generate`. The same as `--help` says.\n"
            .to_owned();
    let mut command = Arguments::command().disable_help_subcommand(true).term_width(width);
    command.build();
    for (name, command) in shown(&command, "ddsmark".to_owned()) {
        let help = command.clone().term_width(width).render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        writeln!(text, "\n## `{name}`\n\n```text\n{}\n```", lines.join("\n").trim_end())
            .expect("a string grows");
    }
    text
}

/// Returns a command and all visible commands below it, each with its full name.
fn shown(command: &Command, name: String) -> Vec<(String, &Command)> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let below: Vec<_> =
        below.flat_map(|below| shown(below, format!("{name} {}", below.get_name()))).collect();
    std::iter::once((name, command)).chain(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_reference_has_every_option_that_is_shown() {
        let reference = reference(100);
        let command = Arguments::command();
        for (name, command) in shown(&command, "ddsmark".to_owned()) {
            assert!(reference.contains(&format!("## `{name}`")), "{name}");
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(reference.contains(&format!("--{option}")), "{option}");
            }
        }
        assert!(!reference.contains("generate completions"));
    }

    #[test]
    fn every_shell_has_completions() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            assert!(completions(shell).contains("characterize"), "{shell}");
        }
    }
}
