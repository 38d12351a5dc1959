//! Owner of the host-wide names of runs.

use std::process;

use serde::{Deserialize, Serialize};

use control::boot_id;

/// Prefixes of the names of a run and of a conformance case. The owner follows.
pub(crate) const OF_RUN: &str = "ddsmark-";
const OF_CASE: &str = "ddsmark-check-";

/// Maximum number of owners in a name. Each takes up to 25 characters.
const MAX_OWNERS: usize = 8;

/// Number of digits of the boot id in a name.
const BOOT_DIGITS: usize = 8;

/// Process that owns a site. Its process id and the boot of its host are part of the names of everything that a run
/// creates on that host, which therefore say whether their owner may still live.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process id on its host.
    pub pid: u32,
    /// First 8 digits of the boot id of its host; 0 if it cannot be read.
    pub boot: String,
}

impl Owner {
    /// Returns this process.
    pub(crate) fn this_process() -> Self {
        let id = boot_id().unwrap_or_default();
        let digits = id.chars().filter(char::is_ascii_hexdigit).chain(std::iter::repeat('0'));
        Self { pid: process::id(), boot: digits.take(BOOT_DIGITS).collect() }
    }

    /// Returns the name of a run: unique on the host of the owner, and part of the names of everything that the run
    /// creates.
    #[must_use]
    pub fn run_name(&self, number: u32) -> String {
        Self::run_name_of(std::slice::from_ref(self), number)
    }

    /// Returns the name of a run on several hosts: it has the owner of each boot, so that each host can tell whether its
    /// own one still lives. Of hosts with one boot, the first owner stands for all: they end with the same run. Topics
    /// have at most 255 characters, so only the first eight are named.
    #[must_use]
    pub fn run_name_of(owners: &[Self], number: u32) -> String {
        let mut named: Vec<&Self> = Vec::new();
        for owner in owners {
            if named.len() < MAX_OWNERS && named.iter().all(|known| known.boot != owner.boot) {
                named.push(owner);
            }
        }
        let names: Vec<String> =
            named.iter().map(|owner| format!("{OF_RUN}{}-{}", owner.pid, owner.boot)).collect();
        format!("{}-{number}", names.join("-"))
    }

    /// Returns the name of a conformance case in the same way.
    #[must_use]
    pub fn case_name(&self, case: &str) -> String {
        format!("{OF_CASE}{}-{}-{case}", self.pid, self.boot)
    }

    /// Returns the texts with which the names of all its runs and cases begin, without the `-` that follows.
    #[must_use]
    pub fn prefixes(&self) -> [String; 2] {
        [OF_RUN, OF_CASE].map(|begin| format!("{begin}{}-{}", self.pid, self.boot))
    }

    /// Returns whether a name belongs to this owner: it names a run or a case of it, or all of them.
    #[must_use]
    pub fn owns(&self, name: &str) -> bool {
        self.prefixes().iter().any(|all| all == name) || Self::all_in(name.as_bytes()).contains(self)
    }

    /// Returns the owners of the runs and cases in a file name.
    pub(crate) fn all_in(name: &[u8]) -> Vec<Self> {
        [OF_RUN, OF_CASE].into_iter().flat_map(|begin| Self::after(name, begin)).collect()
    }

    /// Returns the owners in a name that follow `begin` and are followed by `-` and more text.
    fn after(name: &[u8], begin: &str) -> impl Iterator<Item = Self> {
        let begins = name.windows(begin.len()).enumerate().filter(move |(_, part)| *part == begin.as_bytes());
        begins.filter_map(move |(at, _)| {
            let rest = &name[at + begin.len()..];
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let pid: i32 = str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
            let (boot, rest) = rest[digits..].strip_prefix(b"-")?.split_at_checked(BOOT_DIGITS)?;
            let is_boot = boot.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
            // 0 would be a process group.
            let named = pid > 0 && is_boot && rest.len() > 1 && rest[0] == b'-';
            named.then(|| Self { pid: pid.cast_unsigned(), boot: String::from_utf8_lossy(boot).into_owned() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(pid: u32, boot: &str) -> Owner {
        Owner { pid, boot: boot.to_owned() }
    }

    #[test]
    fn name_of_a_run_or_case_names_its_owner() {
        let this = Owner::this_process();
        assert_eq!((this.pid, this.boot.len()), (process::id(), BOOT_DIGITS));
        assert_ne!(this.boot, "00000000");
        for name in [this.run_name(1), format!("sem.{}-2-data", this.run_name(7)), this.case_name("delivery")]
        {
            assert_eq!(Owner::all_in(name.as_bytes()), std::slice::from_ref(&this), "{name}");
        }
        let [run, case] = this.prefixes();
        assert!(this.run_name(1).starts_with(&format!("{run}-")));
        assert!(this.case_name("delivery").starts_with(&format!("{case}-")));
        let both = "ddsmark-7-0123abcd-1-of-ddsmark-8-fedc9876-1";
        assert_eq!(Owner::all_in(both.as_bytes()), [owner(7, "0123abcd"), owner(8, "fedc9876")]);
    }

    #[test]
    fn name_of_a_run_on_several_hosts_names_one_owner_of_each_boot() {
        let owners = [owner(7, "0123abcd"), owner(8, "fedc9876"), owner(9, "0123abcd")];
        let name = Owner::run_name_of(&owners, 3);
        assert_eq!(name, "ddsmark-7-0123abcd-ddsmark-8-fedc9876-3");
        assert_eq!(Owner::all_in(format!("sem.{name}-1").as_bytes()), owners[..2]);
        let many: Vec<Owner> = (0..40).map(|pid| owner(4_000_000 + pid, &format!("{pid:08x}"))).collect();
        let name = Owner::run_name_of(&many, 99_999);
        assert_eq!(Owner::all_in(format!("{name}-1").as_bytes()), many[..MAX_OWNERS]);
        assert!(name.len() + "-99999_back_200".len() <= 255, "{}", name.len());
    }

    #[test]
    fn owner_owns_its_runs_and_cases_only() {
        let this = owner(7, "0123abcd");
        for own in ["ddsmark-7-0123abcd", "ddsmark-7-0123abcd-3-1", "ddsmark-9-fedc9876-ddsmark-7-0123abcd-3"]
        {
            assert!(this.owns(own), "{own}");
        }
        for other in [
            "",
            "ddsmark-",
            "ddsmark-7-",
            "ddsmark-70-0123abcd-1",
            "ddsmark-7-fedc9876-1",
            "ddsmark-8-0123abcd",
        ] {
            assert!(!this.owns(other), "{other}");
        }
    }

    #[test]
    fn name_without_a_complete_owner_names_none() {
        for name in [
            "ddsmark-7",
            "ddsmark-7-",
            "ddsmark-7-1",
            "ddsmark-7-0123abcd",
            "ddsmark-7-0123abcd-",
            "ddsmark-7-0123abc-1",
            "ddsmark-7-0123abcde-1",
            "ddsmark-7-0123ABCD-1",
            "ddsmark-7x-0123abcd-1",
            "ddsmark-x7-0123abcd-1",
            "ddsmark--1-0123abcd-1",
            "ddsmark-0-0123abcd-1",
            "ddsmark-99999999999999999999-0123abcd-1",
            "dds-7-0123abcd-1",
        ] {
            assert_eq!(Owner::all_in(name.as_bytes()), [], "{name}");
        }
    }
}
