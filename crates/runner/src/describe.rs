//! Asking a driver what it is.

use std::{fs, path::PathBuf};

use experiment::{DriverDescription, Limits};

use crate::{
    DriverFile, Launcher, RunnerError, Stop,
    agent::Log,
    crew::{Crew, Member},
};

/// What a driver says of itself: an agent loads it, says hello, and ends.
///
/// # Errors
/// The file is not a driver, or one of another version of the contract, or fails.
pub fn describe(
    launcher: &dyn Launcher,
    driver: &DriverFile,
    limits: &Limits,
    stop: &Stop,
) -> Result<DriverDescription, RunnerError> {
    inspect(launcher, driver, limits, stop).map(|(description, _)| description)
}

/// The same, and the shared libraries that its agent has loaded then, sorted, the driver among them. What the middleware
/// loads later is not seen.
///
/// # Errors
/// As [`describe`].
pub fn inspect(
    launcher: &dyn Launcher,
    driver: &DriverFile,
    limits: &Limits,
    stop: &Stop,
) -> Result<(DriverDescription, Vec<PathBuf>), RunnerError> {
    let member = Member { role: None, driver: driver.path.clone(), padding_bytes: 0, log: Log::in_memory()? };
    let mut crew = Crew::muster(launcher, vec![member], limits, stop)?;
    let asked = crew.hellos().and_then(|mut hellos| {
        let hello = hellos.remove(0);
        let maps = fs::read_to_string(format!("/proc/{}/maps", hello.pid)).unwrap_or_default();
        crew.dismiss()?;
        Ok((hello.driver, loaded_libraries(&maps)))
    });
    asked.map_err(|trouble| match crew.fail(trouble) {
        Some(failure) => RunnerError::Driver { driver: driver.name.clone(), failure: Box::new(failure) },
        None => RunnerError::Stopped,
    })
}

/// The shared libraries in a process's list of mappings.
pub(crate) fn loaded_libraries(maps: &str) -> Vec<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries: Vec<PathBuf> = paths.filter(|path| path.contains(".so")).map(PathBuf::from).collect();
    libraries.sort();
    libraries.dedup();
    libraries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_among_the_mappings() {
        let maps = "7f00-7f01 r-xp 00000000 08:01 12   /usr/lib/libb.so.6\n\
                    7f01-7f02 r--p 00001000 08:01 12   /usr/lib/libb.so.6\n\
                    7f02-7f03 rw-p 00000000 00:00 0\n\
                    7f03-7f04 r-xp 00000000 08:01 13   /opt/a b/liba.so\n\
                    5500-5501 r-xp 00000000 08:01 14   /usr/bin/agent\n\
                    7fff-7fff rw-p 00000000 00:00 0    [stack]\n";
        assert_eq!(
            loaded_libraries(maps),
            [PathBuf::from("/opt/a b/liba.so"), PathBuf::from("/usr/lib/libb.so.6")]
        );
    }
}
