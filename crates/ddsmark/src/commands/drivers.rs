//! `ddsmark drivers`, and the drivers of an experiment with their descriptions.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

use experiment::{DriverDescription, Limits, Policy, Support, check_installed, drivers_of_ends, is_pair};
use report::{Finding, FoundDriver, TriedCase};
use runner::{
    CaseInfo, DriverFile, DriverPath, Inspected, Launcher, LocalLauncher, RunnerError, Sources, Stop,
    Verdict, Way, describe, inspect_named,
};

use crate::{
    arguments::Drivers as Command,
    install, output,
    problem::{Problem, Status},
};

/// The bare-socket driver: the baseline, first in every table.
pub const BASELINE: &str = "udp";

/// Drivers that can be measured.
#[derive(Default)]
pub struct Drivers {
    /// Names in the order of the tables.
    pub names: Vec<String>,
    /// Description of each driver and pair.
    pub descriptions: BTreeMap<String, DriverDescription>,
    /// Path of each driver.
    pub files: BTreeMap<String, PathBuf>,
    /// Libraries that each driver has loaded.
    pub libraries: BTreeMap<String, Vec<PathBuf>>,
}

impl Drivers {
    /// Adds other drivers.
    pub fn extend(&mut self, more: Self) {
        self.names.extend(more.names);
        self.descriptions.extend(more.descriptions);
        self.files.extend(more.files);
        self.libraries.extend(more.libraries);
    }

    fn add(&mut self, file: DriverFile, (description, libraries): Inspected) {
        self.descriptions.insert(file.name.clone(), description);
        self.libraries.insert(file.name.clone(), libraries);
        self.files.insert(file.name, file.path);
    }
}

/// Returns the drivers with these names, including both drivers of a pair. Without names: one usable driver of each
/// name, without simulations, the baseline first.
pub fn choose(names: &[String], launcher: &dyn Launcher, stop: &Stop) -> Result<Drivers, Problem> {
    let path = DriverPath::from_environment();
    let mut drivers = Drivers::default();
    let inspect = |name: &str| inspect_named(launcher, &path, name, &Limits::default(), stop);
    let ends: Vec<&str> = names.iter().flat_map(|name| drivers_of_ends(name)).collect();
    // All drivers must exist before the first one is loaded.
    ends.iter().try_for_each(|end| path.find(end).map(drop))?;
    for end in ends {
        if !drivers.files.contains_key(end) {
            let (file, inspected) = inspect(end)?;
            drivers.add(file, inspected);
        }
    }
    for name in names {
        let [writer, reader] = drivers_of_ends(name).map(|end| &drivers.descriptions[end]);
        if is_pair(name) {
            let pair = DriverDescription::pair(writer, reader);
            drivers.descriptions.insert(name.clone(), pair);
        }
        // The planner rejects a driver that is given twice.
        drivers.names.push(name.clone());
    }
    if names.is_empty() {
        let mut each = path.one_of_each();
        each.sort_by_key(|driver| driver.name != BASELINE);
        for file in each {
            match inspect(&file.name) {
                // Simulations are measured only if they are named.
                Ok((_, (description, _))) if description.is_simulated() => {}
                Ok((_, (description, _))) if !description.is_installed() => {
                    output::say(&format!("note: driver `{}`: not installed; it is left out", file.name));
                }
                Ok((file, inspected)) => {
                    drivers.names.push(file.name.clone());
                    drivers.add(file, inspected);
                }
                Err(RunnerError::Stopped) => return Err(RunnerError::Stopped.into()),
                // A driver that is not named may fail.
                Err(error) => output::say(&format!("note: {error}; it is left out")),
            }
        }
        if drivers.names.is_empty() {
            let hint = "`ddsmark drivers install NAME` builds one; or set DDSMARK_DRIVER_PATH to the directory that holds \
                        them, or name one with `--driver`";
            return Err(Problem::new(Status::WrongUse, "no driver was found that can be used", hint));
        }
    }
    Ok(drivers)
}

/// Cases to execute, and how.
struct Chosen<'a> {
    /// Ids of the cases; all if empty.
    names: &'a [String],
    way: &'a Way,
    limit: Duration,
    /// Number of cases at the same time.
    jobs: u32,
}

/// Checks a driver against the contract.
fn check(
    launcher: &dyn Launcher,
    driver: (&DriverFile, &DriverDescription),
    chosen: &Chosen<'_>,
    stop: &Stop,
) -> Result<Status, Problem> {
    let (driver, description) = driver;
    let cases = runner::cases(launcher, driver, &Limits::default(), stop)?;
    let names = chosen.names;
    if let Some(unknown) = names.iter().find(|name| cases.iter().all(|case| case.id != **name)) {
        let known: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let hint = format!("cases are {}", known.join(", "));
        return Err(Problem::new(Status::WrongUse, format!("there is no case `{unknown}`"), hint));
    }
    let try_case = |case: &CaseInfo| {
        if !names.is_empty() && !names.contains(&case.id) {
            return Ok::<_, RunnerError>(Finding::NotTried);
        }
        Ok(match runner::check(launcher, driver, &case.id, chosen.way, chosen.limit, stop)? {
            Verdict::Passed => Finding::Passed,
            Verdict::Failed { reason } => Finding::Failed(reason),
            Verdict::NotApplicable { reason } => Finding::NotApplicable(reason),
        })
    };
    let mut tried = Vec::new();
    for (case, finding) in cases.iter().zip(in_parallel(&cases, chosen.jobs, try_case)) {
        let CaseInfo { id, section, promise, processes, observes } = case.clone();
        tried.push(TriedCase { id, section, promise, processes, observes, finding: finding? });
    }
    let enforced = |policy: &Policy| description.support(*policy) == Support::Enforced;
    let declared: Vec<Policy> = Policy::ALL.iter().copied().filter(enforced).collect();
    output::print(&report::driver_check(&driver.name, &declared, &tried))?;
    let failed = tried.iter().any(|case| matches!(case.finding, Finding::Failed(_)));
    Ok(if failed { Status::Broken } else { Status::Done })
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

/// Returns the drivers on the driver path with their descriptions.
pub fn found(launcher: &dyn Launcher, stop: &Stop) -> Result<Vec<FoundDriver>, Problem> {
    let mut found = Vec::new();
    for file in DriverPath::from_environment().known() {
        let description = match describe(launcher, &file, &Limits::default(), stop) {
            Err(RunnerError::Stopped) => return Err(RunnerError::Stopped.into()),
            Err(RunnerError::Driver { failure, .. }) => Err(failure.error),
            other => other.map_err(|error| error.to_string()),
        };
        found.push(FoundDriver { name: file.name, path: file.path, description });
    }
    Ok(found)
}

/// Returns the settings to open the driver with. The driver must have the transport and the options.
fn way(
    driver: &DriverFile,
    description: &DriverDescription,
    transport: Option<String>,
    options: &[(String, String)],
) -> Result<Way, Problem> {
    check_installed(&driver.name, &BTreeMap::from([(driver.name.clone(), description.clone())]))?;
    let unknown = |what: &str, name: &str, known: Vec<&str>| {
        let hint = format!("it has {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") });
        Problem::new(Status::WrongUse, format!("{} has no {what} `{name}`", driver.name), hint)
    };
    if let Some(name) = transport.as_ref().filter(|&name| description.transport(Some(name)).is_none()) {
        let known = description.transports.iter().map(|transport| transport.name.as_str()).collect();
        return Err(unknown("transport", name, known));
    }
    let known: Vec<&str> = description.options.iter().map(|option| option.name.as_str()).collect();
    if let Some((name, _)) = options.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(unknown("option", name, known));
    }
    Ok(Way { transport, options: options.iter().cloned().collect() })
}

/// Executes `ddsmark drivers`.
pub fn execute(command: &Command) -> Result<Status, Problem> {
    let launcher = LocalLauncher::find()?;
    let stop = Stop::on_signals()?;
    match command {
        Command::List => {
            let found = found(&launcher, &stop)?;
            // Without sources, no driver can be installed.
            let sources = Sources::find(None).map_or_else(|_| Vec::new(), |sources| sources.all());
            let installable = install::installable(&sources, &found, &stop)?;
            output::print(&report::driver_list(&found, &installable))?;
        }
        Command::Versions { driver, sources } => {
            install::versions(driver.as_deref(), sources.as_deref(), &launcher, &stop)?;
        }
        Command::Install(flags) => install::execute(flags, &launcher, &stop)?,
        Command::Info { driver } => {
            let drivers = choose(std::slice::from_ref(driver), &launcher, &stop)?;
            output::print(&report::driver_info(&drivers.descriptions[driver]))?;
        }
        Command::Check { driver, transport, option, case, limit, jobs } => {
            let path = DriverPath::from_environment();
            let (file, (description, _)) =
                inspect_named(&launcher, &path, driver, &Limits::default(), &stop)?;
            let way = way(&file, &description, transport.clone(), option)?;
            let chosen = Chosen { names: case, way: &way, limit: *limit, jobs: *jobs };
            return check(&launcher, (&file, &description), &chosen, &stop);
        }
    }
    Ok(Status::Done)
}
