//! `ddsmark perftest`: the command line of RTI Perftest.

use std::{env, io, path::Path};

use perftest::{
    COMPAT_VARIABLE, CommandLine, Defaults, IniFile, Role, Settings, driver_of_program, help, usage,
};

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        output::{self, note},
    },
    work::{
        drivers::{self, RAW_DRIVERS},
        files,
        local::Local,
        perftest::{Process, guest, in_options, leader, rejected},
    },
};

/// Driver that is measured by default.
const DEFAULT_DRIVER: &str = include_str!("../../recipes/perftest-driver.txt");
/// Prefix of the names of the program under which it is this command.
const PROGRAM_PREFIX: &str = "perftest_";

/// Returns the name of the program if it is one of RTI Perftest, such as `perftest_cpp`: a symbolic link to `ddsmark`.
pub fn program() -> Option<String> {
    let program = env::args_os().next()?.to_string_lossy().into_owned();
    let name = program.rsplit('/').next()?;
    name.starts_with(PROGRAM_PREFIX).then(|| name.to_owned())
}

/// Executes the command under this name, with these options.
pub fn execute(program: &str, options: &[String]) -> Result<ExitStatus> {
    let compat = env::var(COMPAT_VARIABLE).ok();
    let line = CommandLine::parse(options, compat.as_deref()).map_err(|error| rejected(&error))?;
    let default = driver_of_program(program).unwrap_or(DEFAULT_DRIVER.trim());
    if line.wants_help() {
        output::print(&help(line.generation(), line.given_role(), program, default))?;
        return Ok(ExitStatus::Done);
    }
    if options.is_empty() {
        note(&usage(program));
    }
    let (settings, warnings) = settings(&line, default)?;
    for warning in &warnings {
        note(&format!("warning: {warning}"));
    }
    let local = Local::find()?;
    let drivers = drivers::choose(std::slice::from_ref(&settings.driver), &local)?;
    let typed = settings.clone();
    let executed = Process::new(settings, drivers, local).and_then(|process| {
        match (process.settings.role, process.settings.local.id) {
            (Role::Publisher, 0) => leader::execute(process),
            _ => guest::execute(process),
        }
    });
    executed.map_err(|error| in_options(&typed, error))
}

/// Reads the file with further options, and returns the settings.
fn settings(line: &CommandLine, driver: &str) -> Result<(Settings, Vec<perftest::Warning>)> {
    let file = line.config_file();
    let text = match &file {
        None => None,
        Some(file) => match files::read_text(Path::new(&file.path)) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !file.required => None,
            Err(error) => {
                let error = format!("cannot read `{}`: {error}", file.path);
                return Err(CliError::usage(error, "name a file of options, or none"));
            }
        },
    };
    let ini = file.as_ref().zip(text.as_ref());
    let ini = ini.map(|(file, text)| IniFile { path: &file.path, text });
    line.settings(ini, &Defaults { driver, raw_drivers: RAW_DRIVERS }).map_err(|error| rejected(&error))
}
