//! Inspection of drivers.

use std::path::PathBuf;

use experiment::{DriverDescription, Limits, is_driver_path};
use host::{AgentLog, DriverFile, Site};

use super::search_path::DriverSearchPath;
use crate::{
    agents::{agent::AgentSpec, agent_set::AgentSet},
    error::RunnerError,
    stop_token::StopToken,
    version::{Version, split},
};

/// Description of a driver, and the sorted shared libraries that its agent has loaded at that time, including the
/// driver. Libraries that the middleware loads later are not included.
pub type DriverInspection = (DriverDescription, Vec<PathBuf>);

/// Returns the description of a driver: an agent loads it, reports it, and exits.
///
/// # Errors
/// Returns an error if the file is not a driver, implements another version of the contract, or fails; or if it has
/// loaded another version of its middleware than its name contains.
pub fn describe(
    site: &dyn Site,
    driver: &DriverFile,
    limits: &Limits,
    stop: &StopToken,
) -> Result<DriverDescription, RunnerError> {
    inspect(site, driver, limits, stop).map(|(description, _)| description)
}

/// Returns the driver that a name selects, with its description and its loaded libraries. If the middleware of the
/// first match is not installed, the highest version with an installed middleware is selected; without one, the first
/// match.
///
/// # Errors
/// Returns an error in the same cases as [`DriverSearchPath::find`], and as [`describe`] for the first match.
pub fn inspect_named(
    site: &dyn Site,
    path: &DriverSearchPath,
    driver: &str,
    limits: &Limits,
    stop: &StopToken,
) -> Result<(DriverFile, DriverInspection), RunnerError> {
    let mut candidates = path.candidates(driver)?.into_iter();
    let inspect = |file: DriverFile| inspect(site, &file, limits, stop).map(|found| (file, found));
    let first = candidates.next().map(&inspect).expect("there is at least one")?;
    if first.1.0.is_installed() {
        return Ok(first);
    }
    for candidate in candidates {
        match inspect(candidate) {
            Ok(found) if found.1.0.is_installed() => return Ok(found),
            Err(RunnerError::Stopped) => return Err(RunnerError::Stopped),
            // Another match that cannot be used is skipped: its version was not requested explicitly.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(first)
}

/// Returns the description of a driver and the shared libraries that its agent has loaded at that time.
///
/// # Errors
/// Returns an error in the same cases as [`describe`].
pub fn inspect(
    site: &dyn Site,
    driver: &DriverFile,
    limits: &Limits,
    stop: &StopToken,
) -> Result<DriverInspection, RunnerError> {
    let member = AgentSpec::alone(site, driver.clone(), AgentLog::in_memory()?);
    let mut agent_set = AgentSet::spawn(vec![member], limits, stop)?;
    let outcome = agent_set.hellos().and_then(|mut hellos| {
        let hello = hellos.remove(0);
        agent_set.dismiss()?;
        Ok((hello.driver, hello.libraries.into_iter().map(PathBuf::from).collect()))
    });
    let (description, libraries) = outcome.map_err(|phase_error| match agent_set.fail(phase_error) {
        Some(failure) => RunnerError::Driver { driver: driver.name.clone(), failure: Box::new(failure) },
        None => RunnerError::Stopped,
    })?;
    if is_of_version(&driver.name, &description.middleware_version) {
        Ok((description, libraries))
    } else {
        Err(RunnerError::OtherVersion { driver: driver.name.clone(), found: description.middleware_version })
    }
}

/// Returns whether the version text of a library matches the version in the driver's name, if it contains one.
fn is_of_version(driver: &str, reported: &str) -> bool {
    let named = (!is_driver_path(driver)).then(|| split(driver).1).flatten();
    let named: Option<Version> = named.and_then(|version| version.parse().ok());
    match (named, Version::leading(reported)) {
        (Some(named), Some(found)) => found.is_of(&named),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_in_name_is_compared_with_library_version() {
        for (driver, reported) in [
            ("a@0.10", "0.10.2"),
            ("a@0.10.2", "0.10.2"),
            ("a@0.10.2", "0.10.2-debian"),
            ("a@0.10", "unknown"),
            ("a", "7"),
            ("./liba@1.so", "2"),
        ] {
            assert!(is_of_version(driver, reported), "{driver} {reported}");
        }
        for (driver, reported) in [("a@0.10", "11.0.1"), ("a@0.10.2", "0.10.20"), ("a@11", "1.1")] {
            assert!(!is_of_version(driver, reported), "{driver} {reported}");
        }
    }
}
