//! Removal of files that killed processes of a run left behind.

mod list;
mod listed;

use std::{fs, os::unix::ffi::OsStrExt as _, path::Path, process};

use nix::{errno::Errno, sys::signal::kill, unistd::Pid};

pub use self::list::{ManifestMatch, ShmManifest};

const SHARED_MEMORY: &str = "/dev/shm";

/// Prefixes of the names of a run and of a conformance case; the process id of the runner follows.
const OF_RUN: &str = "ddsmark-";
const OF_CASE: &str = "ddsmark-check-";

/// Suffix of a file of a run that lists other files to remove with it: see [`ShmManifest`].
const LIST: &str = ".shared";

/// Returns the name of a run of this process: unique on this host, and part of the names of everything that the run
/// creates.
pub(crate) fn run_name(number: u32) -> String {
    format!("{OF_RUN}{}-{number}", process::id())
}

/// Returns the name of a conformance case in the same way.
pub(crate) fn case_name(case: &str) -> String {
    format!("{OF_CASE}{}-{case}", process::id())
}

/// Removes the shared-memory files whose name contains `run_name`.
pub(crate) fn remove(run_name: &str) {
    remove_where(Path::new(SHARED_MEMORY), |name| belongs_to(name, run_name.as_bytes()));
}

/// Removes the shared-memory files of runners that no longer exist, for example after SIGKILL.
pub(crate) fn sweep() {
    remove_where(Path::new(SHARED_MEMORY), is_left);
}

fn remove_where(directory: &Path, wanted: impl Fn(&[u8]) -> bool) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut lists = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) || !wanted(name.as_bytes()) {
            continue;
        }
        if name.as_bytes().ends_with(LIST.as_bytes()) {
            lists.push(entry.path());
        } else {
            // Files of another user, or removed by another process, are skipped.
            let _ = fs::remove_file(entry.path());
        }
    }
    listed::remove(directory, lists, listed::PATIENCE);
}

/// Returns whether a name contains the prefix of a run or a case, and all runners named in it have ended.
fn is_left(name: &[u8]) -> bool {
    let runners: Vec<Pid> =
        [OF_RUN, OF_CASE].into_iter().flat_map(|begin| runners_named(name, begin)).collect();
    !runners.is_empty() && runners.into_iter().all(|runner| kill(runner, None) == Err(Errno::ESRCH))
}

/// Returns the process ids in a name that follow `begin` and are followed by `-` and more text.
fn runners_named(name: &[u8], begin: &str) -> impl Iterator<Item = Pid> {
    let begins = name.windows(begin.len()).enumerate().filter(move |(_, part)| *part == begin.as_bytes());
    begins.filter_map(move |(at, _)| {
        let rest = &name[at + begin.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let pid: i32 = str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        // 0 would be a process group.
        (pid > 0 && rest.get(digits) == Some(&b'-') && rest.len() > digits + 1).then(|| Pid::from_raw(pid))
    })
}

/// Returns whether a file name contains the run's name, but not as the start of a longer one: run 1 is not run 10.
fn belongs_to(name: &[u8], run_name: &[u8]) -> bool {
    name.windows(run_name.len())
        .enumerate()
        .any(|(at, part)| part == run_name && !name.get(at + run_name.len()).is_some_and(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_run_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let ours = ["ddsmark-7-1", "sem.ddsmark-7-1-data", "x_ddsmark-7-1"];
        let others = ["ddsmark-7-10", "ddsmark-7-2", "ddsmark-17-1x", "dds"];
        for name in ours.iter().chain(&others) {
            fs::write(directory.path().join(name), "").unwrap();
        }
        fs::create_dir(directory.path().join("ddsmark-7-1-dir")).unwrap();
        remove_where(directory.path(), |name| belongs_to(name, b"ddsmark-7-1"));
        for name in ours {
            assert!(!directory.path().join(name).exists(), "{name} is left");
        }
        for name in others.iter().chain(&["ddsmark-7-1-dir"]) {
            assert!(directory.path().join(name).exists(), "{name} is gone");
        }
    }

    #[test]
    fn files_on_the_list_of_a_run_are_removed_with_it() {
        let outer = tempfile::tempdir().unwrap();
        let directory = outer.path().join("shm");
        fs::create_dir(&directory).unwrap();
        for name in ["ab12", "ab12_lock", "of-another", "of-run-2", "kept"] {
            fs::write(directory.join(name), "").unwrap();
        }
        fs::write(outer.path().join("outside"), "").unwrap();
        fs::create_dir(directory.join("folder")).unwrap();
        let list = "ab12\nab12_lock\n\n../outside\n.\nfolder\nnot-there\n";
        fs::write(directory.join("ddsmark-7-1.99.shared"), list).unwrap();
        fs::write(directory.join("ddsmark-7-2.99.shared"), "of-run-2\n").unwrap();
        fs::write(directory.join("ddsmark-7-1.99.sharedx"), "of-another\n").unwrap();
        fs::write(directory.join("ddsmark-7-1.98.shared"), b"kept\n\xff\n").unwrap();
        remove_where(&directory, |name| belongs_to(name, b"ddsmark-7-1"));
        let mut left: Vec<_> =
            fs::read_dir(&directory).unwrap().map(|file| file.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["ddsmark-7-2.99.shared", "folder", "kept", "of-another", "of-run-2"]);
        assert!(outer.path().join("outside").exists());
    }

    /// Returns the id of a process that has ended.
    fn dead() -> u32 {
        let mut child = process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn only_files_of_dead_runners_are_swept() {
        let (directory, dead, alive) = (tempfile::tempdir().unwrap(), dead(), process::id());
        let left = [
            format!("ddsmark-{dead}-1"),
            format!("sem.ddsmark-{dead}-12-data"),
            format!("ddsmark-check-{dead}-delivery"),
        ];
        let others = [
            run_name(1),
            case_name("delivery"),
            format!("ddsmark-{dead}-1-of-ddsmark-{alive}-1"),
            format!("ddsmark-{dead}"),
            format!("ddsmark-{dead}-"),
            format!("ddsmark-{dead}x-1"),
            format!("ddsmark-x{dead}-1"),
            format!("dds-{dead}-1"),
            "ddsmark-0-1".to_owned(),
            "ddsmark-99999999999999999999-1".to_owned(),
            "ddsmark--1-1".to_owned(),
        ];
        for name in left.iter().chain(&others) {
            fs::write(directory.path().join(name), "").unwrap();
        }
        remove_where(directory.path(), is_left);
        for name in left {
            assert!(!directory.path().join(&name).exists(), "{name} is left");
        }
        for name in others {
            assert!(directory.path().join(&name).exists(), "{name} is gone");
        }
    }
}
