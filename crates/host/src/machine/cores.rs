//! Cores that this process may use.

use nix::{
    sched::{CpuSet, sched_getaffinity},
    unistd::Pid,
};

/// Returns the cores that this process and its agents may use.
#[must_use]
pub fn allowed_cores() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).map(|core| core as u32).collect()
}
