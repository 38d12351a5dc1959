//! `ddsmark drivers`.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Limits, check_installed};
use host::DriverFile;
use report::{DriverCheck, Outcomes};
use runner::{
    CaseInfo, CaseOutcome, CheckOptions, DriverSearchPath, OpenOptions, RunnerError, Sources, inspect_named,
};

use super::{install, support};
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        driver_args::Drivers as Command,
        output,
    },
    work::{
        drivers::{choose, find_all},
        in_parallel::in_parallel,
        local::Local,
    },
};

/// Checks a driver against the contract. `names` are the ids of the cases; all if empty.
fn check(
    local: &Local,
    driver: (&DriverFile, &DriverDescription),
    names: &[String],
    options: CheckOptions<'_>,
    jobs: u32,
) -> Result<ExitStatus> {
    let (driver, description) = driver;
    let cases = runner::cases(&local.site, driver, &Limits::default(), &local.stop)?;
    if let Some(unknown) = names.iter().find(|name| cases.all.iter().all(|case| case.id != **name)) {
        let known: Vec<&str> = cases.all.iter().map(|case| case.id.as_str()).collect();
        let hint = format!("available: {}", known.join(", "));
        return Err(CliError::usage(format!("case `{unknown}` not found"), hint));
    }
    let is_selected = |case: &&CaseInfo| names.is_empty() || names.contains(&case.id);
    let selected: Vec<&CaseInfo> = cases.all.iter().filter(is_selected).collect();
    let outcomes = in_parallel(&selected, jobs, |case| {
        Ok((case.id.clone(), runner::check(&local.site, driver, &case.id, options, &local.stop)?))
    });
    let outcomes: Outcomes = outcomes.into_iter().collect::<Result<_, RunnerError>>()?;
    output::print(&report::driver_check(&DriverCheck {
        name: &driver.name,
        description,
        transport: description.transport(options.way.transport.as_deref()),
        cases: &cases.all,
        probes: &cases.probes,
        outcomes: &outcomes,
    }))?;
    let is_failed =
        |found: &CaseOutcome| matches!(found, CaseOutcome::Failed { .. } | CaseOutcome::NoEffect { .. });
    let failed = outcomes.values().any(is_failed);
    Ok(if failed { ExitStatus::Broken } else { ExitStatus::Done })
}

/// Returns the settings to open the driver with. The driver must have the transport and the options.
fn open_options(
    driver: &DriverFile,
    description: &DriverDescription,
    transport: Option<String>,
    options: &[(String, String)],
) -> Result<OpenOptions> {
    check_installed(&driver.name, &BTreeMap::from([(driver.name.clone(), description.clone())]))?;
    let unknown = |what: &str, name: &str, known: Vec<&str>| {
        let hint =
            format!("available: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") });
        CliError::usage(format!("{} has no {what} `{name}`", driver.name), hint)
    };
    if let Some(name) = transport.as_ref().filter(|&name| description.transport(Some(name)).is_none()) {
        let known = description.transports.iter().map(|transport| transport.name.as_str()).collect();
        return Err(unknown("transport", name, known));
    }
    let known: Vec<&str> = description.options.iter().map(|option| option.name.as_str()).collect();
    if let Some((name, _)) = options.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(unknown("option", name, known));
    }
    Ok(OpenOptions { transport, options: options.iter().cloned().collect() })
}

/// Executes `ddsmark drivers`.
pub fn execute(command: &Command) -> Result<ExitStatus> {
    let local = Local::find()?;
    match command {
        Command::List => {
            let found = find_all(&local)?;
            // Without sources, no driver can be installed.
            let sources = Sources::find(None).map_or_else(|_| Vec::new(), |sources| sources.all());
            let installable = install::installable(&sources, &found, &local)?;
            output::print(&report::driver_list(&found, &installable))?;
        }
        Command::Versions { driver, sources } => {
            install::versions(driver.as_deref(), sources.as_deref(), &local)?;
        }
        Command::Install(flags) => install::execute(flags, &local)?,
        Command::Info { driver } => {
            let drivers = choose(std::slice::from_ref(driver), &local)?;
            output::print(&report::driver_info(&drivers.descriptions[driver]))?;
        }
        Command::Check { driver, transport, option, case, limit, jobs } => {
            let path = DriverSearchPath::from_environment();
            let (file, (description, _)) =
                inspect_named(&local.site, &path, driver, &Limits::default(), &local.stop)?;
            let open_options = open_options(&file, &description, transport.clone(), option)?;
            let options = CheckOptions { way: &open_options, limit: *limit, probes: false };
            return check(&local, (&file, &description), case, options, *jobs);
        }
        Command::Support(flags) => return support::execute(flags, &local),
    }
    Ok(ExitStatus::Done)
}
