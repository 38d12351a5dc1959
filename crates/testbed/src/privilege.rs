//! Tests that need root.

use std::{env, fs, os::unix::fs::MetadataExt as _};

/// Tests that `make test` leaves out without root: in each line a binary, and the first characters of names.
const LISTED: &str = include_str!("../../../.config/needs-root.txt");

/// Checks that this test runs as root, and that it is listed as one that needs it. Each test that creates hosts, or sets
/// priorities, calls this first.
///
/// # Panics
/// Panics without root, or if the test is not listed. Only nextest names the test.
#[track_caller]
pub fn needs_root() {
    let uid = fs::metadata("/proc/self").map(|process| process.uid()).expect("/proc");
    assert_eq!(
        uid, 0,
        "this test needs root\nhint: `sudo make test`; without root, `make test` leaves it out"
    );
    let [binary, test] = ["NEXTEST_BINARY_ID", "NEXTEST_TEST_NAME"].map(|name| env::var(name).ok());
    if let (Some(binary), Some(test)) = (binary, test) {
        assert!(
            is_listed(LISTED, &binary, &test),
            "`{binary} {test}` needs root, but `make test` would run it without\nhint: add it to .config/needs-root.txt"
        );
    }
}

fn is_listed(list: &str, binary: &str, test: &str) -> bool {
    let entries = list.lines().filter(|line| !line.starts_with('#'));
    let mut entries = entries.map(|line| line.split_once(' ').unwrap_or((line, "")));
    entries.any(|(of, begin)| of == binary && test.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_is_listed_by_its_binary_and_the_begin_of_its_name() {
        let list = "# a comment\nddsmark::e2e lab::\nddsmark::e2e kills::killed_hosts\nlab::lab\n";
        for (binary, test, expected) in [
            ("ddsmark::e2e", "lab::lab_is_created", true),
            ("ddsmark::e2e", "kills::killed_hosts_lose_nothing", true),
            ("ddsmark::e2e", "kills::killed_agent", false),
            ("ddsmark::e2e", "lab_runs::any", false),
            ("lab::lab", "links::any", true),
            ("host::values", "links::any", false),
            ("#", "a comment", false),
        ] {
            assert_eq!(is_listed(list, binary, test), expected, "{binary} {test}");
        }
    }
}
