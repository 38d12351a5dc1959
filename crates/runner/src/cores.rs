//! Which cores this process may use.

use nix::{
    sched::{CpuSet, sched_getaffinity},
    unistd::Pid,
};

use crate::RunnerError;

/// The cores that this process, and so its agents, may use.
#[must_use]
pub fn allowed_cores() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).map(|core| core as u32).collect()
}

/// Whether agents can be pinned there.
///
/// # Errors
/// A core that does not exist, or that this process may not use.
pub fn check_cores(cores: &[u32]) -> Result<(), RunnerError> {
    let allowed = allowed_cores();
    match cores.iter().find(|core| !allowed.contains(core)) {
        Some(&core) => Err(RunnerError::NoCore { core, allowed }),
        None => Ok(()),
    }
}
