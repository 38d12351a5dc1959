//! `ddsmark drivers`.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

use experiment::{DriverDescription, Limits, Policy, Support, check_installed};
use host::{DriverFile, LocalSite, Site};
use report::{CaseResult, TriedCase};
use runner::{
    CaseInfo, CaseOutcome, DriverSearchPath, OpenOptions, RunnerError, Sources, StopToken, inspect_named,
};

use super::install;
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus},
        driver_args::Drivers as Command,
        output,
    },
    work::drivers::{choose, find_all},
};

/// Cases to execute, and how.
struct Chosen<'a> {
    /// Ids of the cases; all if empty.
    names: &'a [String],
    open_options: &'a OpenOptions,
    limit: Duration,
    /// Number of cases at the same time.
    jobs: u32,
}

/// Checks a driver against the contract.
fn check(
    site: &dyn Site,
    driver: (&DriverFile, &DriverDescription),
    chosen: &Chosen<'_>,
    stop: &StopToken,
) -> Result<ExitStatus, CliError> {
    let (driver, description) = driver;
    let cases = runner::cases(site, driver, &Limits::default(), stop)?;
    let names = chosen.names;
    if let Some(unknown) = names.iter().find(|name| cases.iter().all(|case| case.id != **name)) {
        let known: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let hint = format!("available: {}", known.join(", "));
        return Err(CliError::new(ExitStatus::WrongUse, format!("case `{unknown}` not found"), hint));
    }
    let try_case = |case: &CaseInfo| {
        if !names.is_empty() && !names.contains(&case.id) {
            return Ok::<_, RunnerError>(CaseResult::NotTried);
        }
        Ok(match runner::check(site, driver, &case.id, chosen.open_options, chosen.limit, stop)? {
            CaseOutcome::Passed => CaseResult::Passed,
            CaseOutcome::Failed { reason } => CaseResult::Failed(reason),
            CaseOutcome::NotApplicable { reason } => CaseResult::NotApplicable(reason),
        })
    };
    let mut tried = Vec::new();
    for (case, finding) in cases.iter().zip(in_parallel(&cases, chosen.jobs, try_case)) {
        let CaseInfo { id, section, promise, processes, observes } = case.clone();
        tried.push(TriedCase { id, section, promise, processes, observes, finding: finding? });
    }
    let enforced = |policy: &Policy| description.support_of_ends(*policy).contains(&Support::Enforced);
    let declared: Vec<Policy> = Policy::ALL.iter().copied().filter(enforced).collect();
    let transport = description.transport(chosen.open_options.transport.as_deref());
    output::print(&report::driver_check(&driver.name, transport, &declared, &tried))?;
    let failed = tried.iter().any(|case| matches!(case.finding, CaseResult::Failed(_)));
    Ok(if failed { ExitStatus::Broken } else { ExitStatus::Done })
}

/// Applies `work` to all items, `jobs` at a time. Returns the results in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: u32, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((i, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            done.push((i, work(item)));
        }
        done
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker does not panic")).collect()
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Returns the settings to open the driver with. The driver must have the transport and the options.
fn open_options(
    driver: &DriverFile,
    description: &DriverDescription,
    transport: Option<String>,
    options: &[(String, String)],
) -> Result<OpenOptions, CliError> {
    check_installed(&driver.name, &BTreeMap::from([(driver.name.clone(), description.clone())]))?;
    let unknown = |what: &str, name: &str, known: Vec<&str>| {
        let hint =
            format!("available: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") });
        CliError::new(ExitStatus::WrongUse, format!("{} has no {what} `{name}`", driver.name), hint)
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
pub fn execute(command: &Command) -> Result<ExitStatus, CliError> {
    let site = LocalSite::find()?;
    let stop = StopToken::on_signals()?;
    match command {
        Command::List => {
            let found = find_all(&site, &stop)?;
            // Without sources, no driver can be installed.
            let sources = Sources::find(None).map_or_else(|_| Vec::new(), |sources| sources.all());
            let installable = install::installable(&sources, &found, &stop)?;
            output::print(&report::driver_list(&found, &installable))?;
        }
        Command::Versions { driver, sources } => {
            install::versions(driver.as_deref(), sources.as_deref(), &site, &stop)?;
        }
        Command::Install(flags) => install::execute(flags, &site, &stop)?,
        Command::Info { driver } => {
            let drivers = choose(std::slice::from_ref(driver), &site, &stop)?;
            output::print(&report::driver_info(&drivers.descriptions[driver]))?;
        }
        Command::Check { driver, transport, option, case, limit, jobs } => {
            let path = DriverSearchPath::from_environment();
            let (file, (description, _)) = inspect_named(&site, &path, driver, &Limits::default(), &stop)?;
            let open_options = open_options(&file, &description, transport.clone(), option)?;
            let chosen = Chosen { names: case, open_options: &open_options, limit: *limit, jobs: *jobs };
            return check(&site, (&file, &description), &chosen, &stop);
        }
    }
    Ok(ExitStatus::Done)
}
