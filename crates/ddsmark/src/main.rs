//! The command `ddsmark`: parses arguments, runs the subcommand, and sets the exit status.
// One module, `work::hypot`, defines functions of the C library.
#![deny(unsafe_code)]

mod cli;
mod commands;
mod work;

use std::process::ExitCode;

use clap::FromArgMatches as _;
use cli::{
    arguments::{Cli, Command},
    cli_error::{ExitStatus, Result},
    help, output, value_errors,
};
use commands::{
    built_in::BuiltIn, compare, drivers, generate, hosts, import, lab, perftest, recipes, report_again,
    results, run, selftest, steward,
};

fn main() -> ExitCode {
    if let Some(program) = perftest::program() {
        let options: Vec<String> =
            std::env::args_os().skip(1).map(|option| option.to_string_lossy().into_owned()).collect();
        return finish(perftest::execute(&program, &options));
    }
    let parsed = help::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            if let Some(problem) = value_errors::in_words(&error) {
                return finish(Err(problem));
            }
            output::to_stderr(error.render().to_string().trim_end_matches('\n'));
            return ExitStatus::WrongUse.into();
        }
        // Help and version, which clap prints itself.
        Err(error) => error.exit(),
    };
    finish(execute(&arguments.command))
}

/// Prints an error, and returns the exit status.
fn finish(executed: Result<ExitStatus>) -> ExitCode {
    let status = executed.unwrap_or_else(|problem| {
        output::to_stderr(&problem.to_string());
        problem.status
    });
    status.into()
}

fn execute(command: &Command) -> Result<ExitStatus> {
    match command {
        Command::BuiltIn(command) => BuiltIn::of(command).execute(),
        Command::Run(flags) => run::execute(flags),
        Command::Selftest(flags) => selftest::execute(flags),
        Command::Recipes(command) => recipes::execute(command),
        Command::Import(command) => import::execute(command),
        Command::Report(flags) => report_again::execute(flags),
        Command::Results(flags) => results::execute(flags),
        Command::Compare(flags) => compare::execute(flags),
        Command::Drivers(command) => drivers::execute(command),
        Command::Hosts(command) => hosts::execute(command),
        Command::Perftest(flags) => perftest::execute("ddsmark perftest", &flags.options),
        Command::Steward => steward::execute(),
        Command::Lab(command) => lab::execute(command),
        Command::Generate(command) => generate::execute(command),
    }
}
