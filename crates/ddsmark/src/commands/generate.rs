//! Generated files of the command line: man pages, completions and the reference.

use std::{fmt::Write as _, fs, io, path::Path};

use clap::Command;
use clap_complete::Shell;

use crate::cli::{
    arguments::Generate,
    cli_error::{CliError, ExitStatus, Result},
    help, output,
};

pub fn execute(command: &Generate) -> Result<ExitStatus> {
    match command {
        Generate::Share { directory } => share(directory).map_err(|error| {
            let error = format!("cannot write to `{}`: {error}", directory.display());
            CliError::failed(error, "choose a writable directory")
        })?,
        Generate::Reference { width } => output::print(&reference(*width))?,
    }
    Ok(ExitStatus::Done)
}

/// Directory and file name of the completions of each shell, below the output directory.
const COMPLETIONS: [(Shell, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions", "ddsmark"),
    (Shell::Zsh, "zsh/site-functions", "_ddsmark"),
    (Shell::Fish, "fish/vendor_completions.d", "ddsmark.fish"),
];

/// Writes one man page for each visible command, such as `man/man1/ddsmark-drivers-info.1`, and the completions.
fn share(directory: &Path) -> io::Result<()> {
    let pages = directory.join("man/man1");
    fs::create_dir_all(&pages)?;
    let command = for_man_pages(help::command().disable_help_subcommand(true));
    clap_mangen::generate_to(command, pages)?;
    for (shell, folder, name) in COMPLETIONS {
        let folder = directory.join(folder);
        fs::create_dir_all(&folder)?;
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut help::command(), "ddsmark", &mut text);
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Returns a command, and those below it, for man pages: with the words of all flags, and with the examples behind them.
fn for_man_pages(command: Command) -> Command {
    let command = command.mut_args(|argument| argument.hide_short_help(false));
    let parts = [command.get_before_help(), command.get_after_long_help()];
    let parts: Vec<String> = parts.into_iter().flatten().map(ToString::to_string).collect();
    let command = command.mut_subcommands(for_man_pages);
    if parts.is_empty() { command } else { command.after_long_help(parts.join("\n\n")) }
}

/// Returns the help of every command as Markdown.
fn reference(width: usize) -> String {
    let mut text =
        "# The command line\n\nGenerated from the code by `make generate`. The same as `--help` says.\n"
            .to_owned();
    let mut command = help::command().disable_help_subcommand(true).term_width(width);
    command.build();
    for (name, command) in visible_commands(&command, "ddsmark".to_owned()) {
        let help = command.clone().term_width(width).render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        writeln!(text, "\n## `{name}`\n\n```text\n{}\n```", lines.join("\n").trim_end())
            .expect("a string grows");
    }
    text
}

/// Returns a command and all visible commands below it, each with its full name.
fn visible_commands(command: &Command, name: String) -> Vec<(String, &Command)> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let below: Vec<_> =
        below.flat_map(|below| visible_commands(below, format!("{name} {}", below.get_name()))).collect();
    std::iter::once((name, command)).chain(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_definition_is_valid() {
        help::command().debug_assert();
    }

    #[test]
    fn the_reference_has_every_option_that_is_shown() {
        let reference = reference(100);
        let command = help::command();
        for (name, command) in visible_commands(&command, "ddsmark".to_owned()) {
            assert!(reference.contains(&format!("## `{name}`")), "{name}");
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(reference.contains(&format!("--{option}")), "{option}");
            }
        }
        assert!(!reference.contains("generate completions"));
    }
}
