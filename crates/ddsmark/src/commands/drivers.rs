//! `ddsmark drivers`.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Limits, check_installed};
use host::DriverFile;
use report::{CaseResult, DriverCheck, ProbedPolicy, TriedCase};
use runner::{CaseInfo, CheckOptions, DriverSearchPath, OpenOptions, RunnerError, Sources, inspect_named};

use super::{install, support};
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        driver_args::Drivers as Command,
        output,
    },
    work::{
        cases::{in_parallel, probed, try_case},
        drivers::{choose, find_all},
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
    let try_case = |case: &CaseInfo| {
        if names.is_empty() || names.contains(&case.id) {
            return try_case(local, driver, &case.id, options);
        }
        Ok(CaseResult::NotTried)
    };
    let findings: Vec<CaseResult> =
        in_parallel(&cases.all, jobs, try_case).into_iter().collect::<Result<_, RunnerError>>()?;
    let found = |id: &str| {
        let at = cases.all.iter().position(|case| case.id == id);
        at.map_or(CaseResult::NotTried, |at| findings[at].clone())
    };
    let policies: Vec<ProbedPolicy> = cases.probes.iter().map(|probe| probed(probe, &found)).collect();
    let tried = cases.all.iter().zip(&findings).map(|(case, finding)| {
        let CaseInfo { id, section, promise, processes } = case.clone();
        TriedCase { id, section, promise, processes, finding: finding.clone() }
    });
    let tried: Vec<TriedCase> = tried.collect();
    output::print(&report::driver_check(&DriverCheck {
        name: &driver.name,
        description,
        transport: description.transport(options.way.transport.as_deref()),
        cases: &tried,
        policies: &policies,
    }))?;
    let failed =
        findings.iter().any(|found| matches!(found, CaseResult::Failed(_) | CaseResult::NoEffect(_)));
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
