//! `ddsmark drivers support`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IsTerminal as _},
};

use experiment::{DriverDescription, Limits, Support, check_installed};
use host::DriverFile;
use indicatif::{ProgressBar, ProgressStyle};
use report::{DriverProbes, Outcomes};
use runner::{CaseOutcome, Cases, CheckOptions, OpenOptions};

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        driver_args::SupportArgs,
        output,
    },
    work::{drivers::choose, in_parallel::in_parallel, local::Local},
};

/// Returns the ids of the cases that observe policies of this driver, and whether each also runs if the driver does not declare
/// its policies as enforced.
fn selected(cases: &Cases, description: &DriverDescription) -> BTreeMap<String, bool> {
    let mut selected = BTreeMap::new();
    for probe in &cases.probes {
        let declared = description.support_of_ends(probe.policy);
        if declared == [Support::Unsupported; 2] {
            selected.insert(cases.rejection.clone(), false);
            continue;
        }
        let is_enforced = declared.contains(&Support::Enforced) && probe.kinds.is_empty();
        for id in probe.effect.iter().chain(&probe.matching) {
            *selected.entry(id.clone()).or_insert(false) |= !is_enforced;
        }
    }
    selected
}

/// Progress of the probes of one driver: a bar on a terminal, else a line at the beginning.
fn progress(name: &str, all: usize) -> ProgressBar {
    if !io::stderr().is_terminal() || output::is_quiet() {
        let cases = if all == 1 { "case" } else { "cases" };
        output::note(&format!("probing {name}: {all} {cases}"));
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("probing {msg} {bar:30} {pos} of {len}  {elapsed}");
    let bar = ProgressBar::new(all as u64).with_message(name.to_owned());
    style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
}

/// Executes the probes of one driver.
fn probe(
    local: &Local,
    driver: &DriverFile,
    description: &DriverDescription,
    flags: &SupportArgs,
) -> Result<DriverProbes> {
    let cases = runner::cases(&local.site, driver, &Limits::default(), &local.stop)?;
    let selected: Vec<(String, bool)> = selected(&cases, description).into_iter().collect();
    let bar = progress(&driver.name, selected.len());
    let way = OpenOptions::default();
    let run = |(id, probes): &(String, bool)| {
        let options = CheckOptions { way: &way, limit: flags.limit, probes: *probes };
        runner::check(&local.site, driver, id, options, &local.stop)
    };
    let first = in_parallel(&selected, flags.jobs, |case| {
        let found = run(case);
        bar.inc(1);
        found
    });
    let mut outcomes = Outcomes::new();
    for (case, result) in selected.iter().zip(first) {
        // beside others a probe may have been disturbed
        let result = match result? {
            CaseOutcome::Failed { .. } if flags.jobs > 1 => run(case)?,
            result => result,
        };
        outcomes.insert(case.0.clone(), result);
    }
    bar.finish_and_clear();
    Ok(DriverProbes {
        name: driver.name.clone(),
        description: description.clone(),
        probes: cases.probes,
        rejection: cases.rejection,
        outcomes,
    })
}

/// Executes `ddsmark drivers support`.
pub(super) fn execute(flags: &SupportArgs, local: &Local) -> Result<ExitStatus> {
    let drivers = choose(&flags.driver, local)?;
    let unique: BTreeSet<&String> = drivers.names.iter().collect();
    if unique.len() < drivers.names.len() {
        return Err(CliError::usage("a driver is named twice", "name each driver once"));
    }
    for name in &drivers.names {
        if !drivers.files.contains_key(name) {
            let error = format!("`{name}` is a pair of drivers");
            return Err(CliError::usage(error, "name each driver separately"));
        }
        check_installed(name, &drivers.descriptions)?;
    }
    let probe_one = |name: &String| {
        let file = DriverFile { name: name.clone(), path: drivers.files[name].clone() };
        probe(local, &file, &drivers.descriptions[name], flags)
    };
    let found: Vec<DriverProbes> = drivers.names.iter().map(probe_one).collect::<Result<_>>()?;
    output::print(&if flags.json {
        report::support_json(&found)
    } else if flags.csv {
        report::support_csv(&found)
    } else {
        report::support_matrix(&found)
    })?;
    Ok(if found.iter().any(DriverProbes::contradicts) { ExitStatus::Broken } else { ExitStatus::Done })
}
