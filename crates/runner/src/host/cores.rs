//! Cores that this process may use.

use nix::{
    sched::{CpuSet, sched_getaffinity},
    unistd::Pid,
};

use crate::RunnerError;

/// Returns the cores that this process and its agents may use.
#[must_use]
pub fn allowed_cores() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).map(|core| core as u32).collect()
}

/// Checks that agents can be pinned to the given cores.
///
/// # Errors
/// Returns an error if a core does not exist or this process may not use it.
pub fn check_cores(cores: &[u32]) -> Result<(), RunnerError> {
    let allowed = allowed_cores();
    match cores.iter().find(|core| !allowed.contains(core)) {
        Some(&core) => Err(RunnerError::NoCore { core, allowed }),
        None => Ok(()),
    }
}
