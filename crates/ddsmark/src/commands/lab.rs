//! `ddsmark lab`.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use lab::{LabError, LabRecord};
use report::LabRow;

use crate::cli::{
    cli_error::{CliError, ExitStatus, Result},
    lab_args::{LabCommand, LabUpArgs},
    output,
};

impl From<LabError> for CliError {
    fn from(error: LabError) -> Self {
        let status = if error.is_rejection() { ExitStatus::WrongUse } else { ExitStatus::Failed };
        Self::new(status, &error, error.hint())
    }
}

pub fn execute(command: &LabCommand) -> Result<ExitStatus> {
    match command {
        LabCommand::Up(flags) => return up(flags),
        LabCommand::Down { name } => {
            let record = lab::down(name)?;
            output::print(&format!("removed lab `{name}` with {} hosts\n", record.hosts.len()))?;
        }
        LabCommand::List { json: true } => output::print(&as_json(&lab::list()?))?,
        LabCommand::List { json: false } => {
            let labs = lab::list()?;
            let rows: Vec<LabRow> = labs.iter().map(row).collect();
            output::print(&report::lab_list(&rows))?;
        }
        LabCommand::Keep { name, spec } => lab::keep(name, spec, |lab| {
            let mut stdout = io::stdout().lock();
            serde_json::to_writer(&mut stdout, lab.record())?;
            writeln!(stdout)?;
            stdout.flush()
        })?,
    }
    Ok(ExitStatus::Done)
}

/// Starts a process that keeps a lab, and waits until the lab is up.
fn up(flags: &LabUpArgs) -> Result<ExitStatus> {
    let spec = flags.spec();
    lab::check(&spec.link)?;
    let failed = |error: io::Error| {
        let hint = "check that the program still exists, and the limits of processes";
        CliError::failed(format!("cannot start the keeper of the lab: {error}"), hint)
    };
    let program = std::env::current_exe().map_err(failed)?;
    let mut keeper = Command::new(program)
        .args(["lab", "keep", "--", &flags.name, &spec.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut line = String::new();
    // Ends when the lab is up, or with the keeper, which has printed the error.
    BufReader::new(keeper.stdout.take().expect("stdout is a pipe")).read_line(&mut line).map_err(failed)?;
    let Ok(record) = serde_json::from_str::<LabRecord>(&line) else {
        let status = keeper.wait().map_err(failed)?;
        let is_rejected = status.code() == Some(ExitStatus::WrongUse as i32);
        return Ok(if is_rejected { ExitStatus::WrongUse } else { ExitStatus::Failed });
    };
    output::print(&if flags.json {
        as_json(&record)
    } else {
        let hosts = record.hosts.iter();
        let hosts: Vec<_> = hosts.map(|host| [&host.name, &host.namespace].map(String::as_str)).collect();
        let addresses: Vec<_> = record.hosts.iter().map(|host| host.address).collect();
        report::lab_up(&row(&record), &hosts, &addresses)
    })?;
    Ok(ExitStatus::Done)
}

fn as_json(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a record is JSON");
    text.push('\n');
    text
}

/// Returns the row of a lab in a list.
fn row(record: &LabRecord) -> LabRow {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let address = |index: usize| record.hosts[index].address;
    LabRow {
        name: record.name.clone(),
        spec: record.spec,
        addresses: (address(0), address(record.hosts.len() - 1)),
        owner: record.owner.pid,
        is_alive: record.owner.is_alive(),
        age: now.saturating_sub(Duration::from_nanos(record.created_unix_ns)),
    }
}
