//! Help of the commands: examples before flags, and in `-h` only the flags that most people need.

use clap::{Arg, ArgAction, Command, CommandFactory as _};

use super::arguments::Cli;

/// Order of the parts of a help text.
const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}{all-args}{after-help}";

/// Commands with more flags than fit on one screen, and those that `-h` shows, by id and separated by spaces.
const SHORT: &[(&str, &str)] = &[
    ("latency", "driver transport size qos readers host baseline runs quick dry_run out json help"),
    (
        "throughput",
        "driver transport size batch_bytes qos readers host baseline runs quick dry_run out json help",
    ),
    ("load", "driver transport size rate qos readers host baseline runs quick dry_run out json help"),
    (
        "search",
        "experiment driver transport size goal deadline host baseline runs quick dry_run out json help",
    ),
    ("discovery", "driver participants endpoints join host baseline runs quick dry_run out json help"),
    ("characterize", "driver transport size workload qos host baseline runs quick dry_run out json help"),
    ("run", "experiment resume driver host set baseline runs quick dry_run out json help"),
    ("compare", "baseline treatment interleave blocks factor fail_if json markdown help"),
    ("selftest", "driver pairs quick out json help"),
];

/// Creates the definition of the command line.
pub fn command() -> Command {
    let mut command = with_template(Cli::command());
    for (name, shown) in SHORT {
        command = command.mut_subcommand(name, |command| shortened(command, name, shown));
    }
    command
}

/// Returns a command and those below it with the order of [`TEMPLATE`].
fn with_template(command: Command) -> Command {
    command.help_template(TEMPLATE).mut_subcommands(with_template)
}

/// Returns a command whose `-h` shows these flags only.
fn shortened(command: Command, name: &str, shown: &str) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).help_heading("Output");
    let help = help
        .help("Print this; `--help` prints all flags")
        .long_help("Print this; `-h` prints the most used flags");
    let command = command.disable_help_flag(true).arg(help);
    let number = command.get_arguments().filter(|argument| !argument.is_positional()).count();
    command
        .after_help(format!(
            "`ddsmark {name} --help` shows all {number} flags, their values, and the exit statuses."
        ))
        .mut_args(|argument| {
            let is_shown = shown.split(' ').any(|id| argument.get_id() == id);
            argument.hide_short_help(!is_shown)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of lines of a terminal, with room for the prompt.
    const LINES: usize = 42;

    fn short_help(name: &str) -> String {
        let mut all = command().term_width(80);
        all.build();
        all.find_subcommand_mut(name).expect("a command").render_help().to_string()
    }

    #[test]
    fn short_help_fits_on_a_screen_and_starts_with_examples() {
        for (name, shown) in SHORT {
            let text = short_help(name);
            assert!(text.lines().count() <= LINES, "{} lines:\n{text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            let flags = text.find("  -").expect("flags");
            assert!(text.find("Examples:").is_some_and(|examples| examples < flags), "{text}");
            let command = command();
            let command = command.find_subcommand(name).expect("a command");
            for id in shown.split(' ') {
                let argument = command.get_arguments().find(|argument| argument.get_id() == id);
                let argument = argument.unwrap_or_else(|| panic!("`{name}` has no argument `{id}`"));
                let long = argument.get_long().map(|long| format!("--{long}"));
                assert!(long.is_none_or(|long| text.contains(&long)), "{id}\n{text}");
            }
        }
    }

    #[test]
    fn command_with_many_flags_has_a_short_help() {
        for command in command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let shown = command.get_arguments().filter(|argument| !argument.is_hide_short_help_set()).count();
            assert!(
                shown <= 14,
                "`ddsmark {} -h` shows {shown} arguments: list them in `SHORT`",
                command.get_name()
            );
        }
    }
}
