//! Asking a driver what it is.

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
    let member = Member { role: None, driver: driver.path.clone(), log: Log::in_memory()? };
    let mut crew = Crew::muster(launcher, vec![member], limits, stop)?;
    let asked = crew.hellos().and_then(|hellos| {
        crew.dismiss()?;
        Ok(hellos)
    });
    match asked {
        Ok(mut hellos) => Ok(hellos.remove(0).driver),
        Err(trouble) => match crew.fail(trouble) {
            Some(failure) => {
                Err(RunnerError::Driver { driver: driver.name.clone(), failure: Box::new(failure) })
            }
            None => Err(RunnerError::Stopped),
        },
    }
}
