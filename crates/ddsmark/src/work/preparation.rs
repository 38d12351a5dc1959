//! Preparation of a plan: experiment file, drivers, files and cores.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use experiment::{
    Cell, Diagnostic, ExperimentFile, HostFlag, InputFile, OWN_INTERFACE, Override, Pin, PinChoice, Plan,
    PlanInputs, PlannedHost, Source, SpannedError, drivers_of_ends,
};
use host::{Facts, Site};
use results::least_blocks;
use runner::{DriverSearchPath, RunnerError};

use super::{
    drivers::{self, Drivers},
    files,
    hosts::{Hosts, pin},
    local::Local,
};
use crate::cli::cli_error::{CliError, Result};

/// Experiment file with the inputs of its plan.
pub struct Prepared {
    pub name: String,
    pub source: Source,
    pub file: ExperimentFile,
    pub drivers: Drivers,
    /// Drivers that are measured if the file names none.
    pub installed: Vec<String>,
    /// Files that the experiment names, by their names in it.
    pub files: BTreeMap<String, InputFile>,
    pub pin: Pin,
    /// Hosts, all connected.
    pub hosts: Hosts,
    /// Hosts of the plan; none if the experiment does not name any.
    pub planned_hosts: Vec<PlannedHost>,
}

impl Prepared {
    /// Returns the inputs of the plan.
    pub fn plan_inputs(&self, seed: u64) -> PlanInputs<'_> {
        PlanInputs {
            name: &self.name,
            descriptions: &self.drivers.descriptions,
            installed: &self.installed,
            files: &self.files,
            pin: self.pin.clone(),
            hosts: &self.planned_hosts,
            seed,
            least_blocks: &least_blocks,
        }
    }

    pub fn plan(&self, seed: u64) -> Result<Plan> {
        let plan = self.file.plan(&self.plan_inputs(seed)).map_err(|error| self.rejected(&error))?;
        self.file.check_placements(&plan).map_err(|error| self.rejected(&error))?;
        Ok(plan)
    }

    /// Plans without the profiles of these cells, which their drivers reject.
    ///
    /// # Errors
    /// Returns the error of a cell if nothing else of its driver is left.
    pub fn plan_without(&self, rejected: Vec<(Cell, RunnerError)>, seed: u64) -> Result<Plan> {
        let reasons = rejected.iter().map(|(cell, error)| match error {
            RunnerError::Rejected { failure, .. } => (cell, failure.error.clone()),
            other => (cell, other.to_string()),
        });
        let file = self.file.without_rejected(&reasons.collect::<Vec<_>>());
        let plan = file.plan(&self.plan_inputs(seed));
        let is_measured = |driver: &str| {
            plan.as_ref().is_ok_and(|plan| plan.cells.iter().any(|cell| cell.factors.driver == driver))
        };
        let lost = rejected.iter().position(|(cell, _)| !is_measured(&cell.factors.driver));
        if let Some((_, error)) = lost.and_then(|lost| rejected.into_iter().nth(lost)) {
            return Err(error.into());
        }
        let plan = plan.map_err(|error| self.rejected(&error))?;
        file.check_placements(&plan).map_err(|error| self.rejected(&error))?;
        Ok(plan)
    }

    /// Adds the position in the text to a rejection.
    pub fn rejected(&self, error: &SpannedError) -> CliError {
        self.source.rejected(error).into()
    }
}

/// Reads the text of an experiment with the changes of the command line, and finds the drivers that it names. `path`
/// is the place of the text in messages.
pub fn prepare(
    name: String,
    path: String,
    text: String,
    sets: Vec<Override>,
    local: &Local,
) -> Result<Prepared> {
    let source = Source { path, text, sets };
    let file = source.read()?;
    file.check_hosts().map_err(|error| source.rejected(&error))?;
    if file.lab().is_some() {
        lab::check(&file.any_link())?;
    }
    if file.hosts.is_empty() {
        // What can be rejected without a driver is rejected first.
        check_host(&file, &source, &local.site, &local.site.facts()?)?;
    }
    let files = files::read(&file, &source)?;
    let (drivers, installed) = find_drivers(&file, &source, local)?;
    let entries = file.hosts.iter().map(|host| {
        let host = host.get();
        let interface = host.interface.as_ref().map(|interface| interface.get().clone());
        let name = host.name.as_ref().map(|name| name.get().clone());
        HostFlag { name, at: host.at.get().clone(), interface }
    });
    let hosts = Hosts::connect(entries.collect(), local, &drivers)?;
    if !file.hosts.is_empty() {
        for host in &hosts.list {
            check_host(&file, &source, &*host.site, &host.facts)
                .map_err(|error| error.on_host(&host.name))?;
        }
    }
    let interfaces: Vec<_> = file.values_of::<String>("interface").collect();
    let needed = interfaces.is_empty() || interfaces.iter().any(|value| value.get() == OWN_INTERFACE);
    let choice = file.design.pin.as_ref().map_or(&PinChoice::Auto, |pin| pin.get());
    let (pin, planned_hosts) = hosts.planned(choice, needed)?;
    Ok(Prepared { name, source, file, drivers, installed, files, pin, hosts, planned_hosts })
}

/// Rejects what a host does not have: interfaces, files of variables, and cores.
fn check_host(file: &ExperimentFile, source: &Source, site: &dyn Site, facts: &Facts) -> Result<()> {
    check_interfaces(file, source, facts)?;
    check_variables(file, source, site)?;
    if let Some(choice) = &file.design.pin {
        pin(choice.get(), facts).map_err(|error| placed(source, choice.span(), &error.into()))?;
    }
    Ok(())
}

/// Returns the drivers of the experiment, and the names of those that are measured if it names none.
fn find_drivers(file: &ExperimentFile, source: &Source, local: &Local) -> Result<(Drivers, Vec<String>)> {
    let path = DriverSearchPath::from_environment();
    let mut named: Vec<String> = Vec::new();
    for driver in file.values_of::<String>("driver") {
        let name = driver.get();
        for end in drivers_of_ends(name) {
            path.find(end).map_err(|error| placed(source, driver.span(), &error))?;
        }
        if !named.contains(name) {
            named.push(name.clone());
        }
    }
    let mut drivers = Drivers::default();
    let mut installed = Vec::new();
    if file.factors.values.get("driver").is_none() {
        drivers = drivers::choose(&[], local)?;
        installed.clone_from(&drivers.names);
    }
    named.retain(|name| !drivers.names.contains(name));
    if !named.is_empty() {
        drivers.extend(drivers::choose(&named, local)?);
    }
    Ok((drivers, installed))
}

fn check_interfaces(file: &ExperimentFile, source: &Source, facts: &Facts) -> Result<()> {
    let named = file.values_of::<String>("interface").filter(|interface| interface.get() != OWN_INTERFACE);
    for interface in named {
        let checked = facts.check_interface(interface.get());
        checked.map_err(|error| placed(source, interface.span(), &error.into()))?;
    }
    Ok(())
}

/// Rejects a value of a variable that names a missing file.
fn check_variables(file: &ExperimentFile, source: &Source, site: &dyn Site) -> Result<()> {
    for (name, values) in file.all_values().flat_map(|values| &values.env) {
        for value in &values.0 {
            let text = value.get().0.as_deref();
            if let Some(file) = text.map(|text| site.missing_file(text)).transpose()?.flatten() {
                let error = format!("file `{}` of variable `{}` not found", file.display(), name.get());
                return Err(source.fault(value.span(), &error, "name a file that exists").into());
            }
        }
    }
    Ok(())
}

/// Adds the position in the text to an error of the runner.
fn placed(source: &Source, at: experiment::Span, error: &RunnerError) -> Diagnostic {
    source.fault(
        at,
        &error.to_string(),
        error.hint().unwrap_or_else(|| "see `ddsmark run --help`".to_owned()),
    )
}

/// Returns a short seed from the clock.
pub fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Microseconds modulo 1000 s: short enough to type.
    u64::try_from(now.as_micros() % 1_000_000_000).unwrap_or_default()
}
