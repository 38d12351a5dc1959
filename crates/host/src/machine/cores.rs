//! Cores that this process may use, and those that a thread is pinned to.

use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

/// Returns the cores that this process and its agents may use.
#[must_use]
pub fn allowed_cores() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).map(|core| core as u32).collect()
}

/// Pins the calling thread to the cores; without cores the scheduler chooses.
pub(super) fn pin_to(cores: &[u32]) -> nix::Result<()> {
    if cores.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core as usize)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
}
