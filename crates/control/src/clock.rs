//! Identity of the clock that timestamps samples.

use std::fs;

use serde::{Deserialize, Serialize};

/// Boot id of the kernel, and the time namespaces of this process and of those that it starts.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const OF_THIS_PROCESS: &str = "/proc/self/ns/time";
const OF_CHILDREN: &str = "/proc/self/ns/time_for_children";

/// Identity of a monotonic clock (`CLOCK_MONOTONIC`). It starts with the boot of a kernel; a time namespace adds an
/// offset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonotonicClock {
    /// Boot id of the kernel. Absent if it cannot be read.
    pub boot_id: Option<String>,
    /// Time namespace. Absent if the kernel does not have time namespaces.
    pub time_namespace: Option<String>,
}

impl MonotonicClock {
    /// Returns the clock of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::in_namespace(OF_THIS_PROCESS)
    }

    /// Returns the clock of the processes that this process starts.
    #[must_use]
    pub fn of_children() -> Self {
        Self::in_namespace(OF_CHILDREN)
    }

    fn in_namespace(file: &str) -> Self {
        let namespace = fs::read_link(file).ok();
        Self { boot_id: boot_id(), time_namespace: namespace.map(|link| link.to_string_lossy().into_owned()) }
    }

    /// Returns whether both are known to be the same clock.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.boot_id.is_some() && self == other
    }
}

/// Returns the boot id of this host's kernel; `None` if it cannot be read.
#[must_use]
pub fn boot_id() -> Option<String> {
    let text = fs::read_to_string(BOOT_ID).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}
