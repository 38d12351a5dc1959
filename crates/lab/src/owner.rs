//! Processes that own labs.

use std::{fs, process};

use serde::{Deserialize, Serialize};

/// Process that owns a lab. Process ids are reused, so its start time and the boot belong to its identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Start time of the process after the boot, in ticks of the kernel.
    pub start_ticks: u64,
    /// First 8 digits of the boot id.
    pub boot: String,
}

impl Owner {
    /// Returns this process.
    pub(crate) fn this_process() -> Self {
        let pid = process::id();
        Self { pid, start_ticks: start_ticks(pid).unwrap_or(0), boot: boot() }
    }

    /// Returns whether the process still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.boot == boot() && start_ticks(self.pid) == Some(self.start_ticks)
    }
}

fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// Returns the start time of a process; `None` if it has ended.
fn start_ticks(pid: u32) -> Option<u64> {
    ticks_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the start time in a line of `/proc/PID/stat`; `None` for a zombie.
fn ticks_in(stat: &str) -> Option<u64> {
    // The name of the program is in parentheses, and may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_is_alive_only_with_its_start_and_boot() {
        let this = Owner::this_process();
        assert!(this.is_alive() && this.boot.len() == 8 && this.start_ticks > 0, "{this:?}");
        assert!(!Owner { start_ticks: this.start_ticks - 1, ..this.clone() }.is_alive());
        assert!(!Owner { boot: "00000000".to_owned(), ..this.clone() }.is_alive());
        let mut child = process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = Owner { pid: child.id(), start_ticks: start_ticks(child.id()).unwrap(), ..this };
        assert!(owner.is_alive());
        child.kill().unwrap();
        // The zombie does not count, whether or not its status was read.
        while owner.is_alive() {}
        child.wait().unwrap();
        assert!(!owner.is_alive());
    }

    #[test]
    fn name_of_a_program_may_contain_anything() {
        let tail = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(ticks_in(&format!("12 (a) Z b) {tail}")), Some(4711));
        assert_eq!(ticks_in(&format!("12 (a) {}", tail.replacen('S', "Z", 1))), None);
        assert_eq!((ticks_in(""), ticks_in("1 (a) S 1")), (None, None));
    }
}
