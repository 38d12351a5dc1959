//! Files of this host that other hosts need.

use std::{collections::BTreeMap, env, path::PathBuf};

use host::LocalSite;
use remote_hosts::remote::bundle::Bundle;

use super::drivers::Drivers;
use crate::cli::cli_error::{CliError, Result};

/// Files that hosts need.
pub struct Bundles {
    /// This program and its agent.
    pub programs: Bundle,
    /// Each driver with its libraries.
    pub drivers: BTreeMap<String, Bundle>,
}

impl Bundles {
    /// Collects the files.
    pub fn of(local: &LocalSite, drivers: &Drivers) -> Result<Self> {
        let programs = Bundle::of_programs(&this_program()?, &local.agent)?;
        let bundles = drivers
            .files
            .iter()
            .map(|(name, file)| Ok((name.clone(), Bundle::of_driver(file, &drivers.libraries[name])?)));
        Ok(Self { programs, drivers: bundles.collect::<Result<_>>()? })
    }
}

/// Returns the path of this program.
pub fn this_program() -> Result<PathBuf> {
    env::current_exe().map_err(|error| {
        let error = format!("cannot determine the path of this program: {error}");
        CliError::failed(error, "start it by its full path")
    })
}
