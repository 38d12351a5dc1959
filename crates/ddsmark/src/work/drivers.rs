//! Drivers of an experiment or of this host, with their descriptions.

use std::{collections::BTreeMap, path::PathBuf};

use experiment::{DriverDescription, Limits, describe_pair, drivers_of_ends, is_pair};
use host::DriverFile;
use report::FoundDriver;
use runner::{DriverInspection, DriverSearchPath, RunnerError, describe, inspect_named};

use super::local::Local;
use crate::cli::{
    cli_error::{CliError, Result},
    output,
};

/// The bare-socket driver: the baseline, first in every table.
pub const BASELINE: &str = "udp";
/// Drivers without a middleware: sockets of UDP and of TCP, and shared memory.
pub const RAW_DRIVERS: [&str; 3] = [BASELINE, "tcp", "shm"];

/// Drivers that can be measured.
#[derive(Clone, Default)]
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

    /// Adds a driver.
    pub fn add(&mut self, file: DriverFile, (description, libraries): DriverInspection) {
        self.descriptions.insert(file.name.clone(), description);
        self.libraries.insert(file.name.clone(), libraries);
        self.files.insert(file.name, file.path);
    }
}

/// Returns the drivers with these names, including both drivers of a pair. Without names: one usable driver of each
/// name, without simulations, the baseline first.
pub fn choose(names: &[String], local: &Local) -> Result<Drivers> {
    let path = DriverSearchPath::from_environment();
    let mut drivers = Drivers::default();
    let inspect = |name: &str| inspect_named(&local.site, &path, name, &Limits::default(), &local.stop);
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
            let pair = describe_pair(writer, reader);
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
                    output::note(&format!(
                        "note: driver `{}` excluded: its middleware is not installed",
                        file.name
                    ));
                }
                Ok((file, inspected)) => {
                    drivers.names.push(file.name.clone());
                    drivers.add(file, inspected);
                }
                Err(RunnerError::Stopped) => return Err(RunnerError::Stopped.into()),
                // A driver that is not named may fail.
                Err(error) => output::note(&format!("note: excluded: {error}")),
            }
        }
        if drivers.names.is_empty() {
            let hint = "install one with `ddsmark drivers install NAME`, set DDSMARK_DRIVER_PATH, or name a file with `--driver`";
            return Err(CliError::usage("no usable driver found", hint));
        }
    }
    Ok(drivers)
}

/// Returns the drivers on the driver path with their descriptions.
pub fn find_all(local: &Local) -> Result<Vec<FoundDriver>> {
    let mut found = Vec::new();
    for file in DriverSearchPath::from_environment().find_all() {
        let description = match describe(&local.site, &file, &Limits::default(), &local.stop) {
            Err(RunnerError::Stopped) => return Err(RunnerError::Stopped.into()),
            Err(RunnerError::Driver { failure, .. }) => Err(failure.error),
            other => other.map_err(|error| error.to_string()),
        };
        found.push(FoundDriver { name: file.name, path: file.path, description });
    }
    Ok(found)
}
