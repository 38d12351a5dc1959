//! Removal of files that killed processes of a run left behind.

mod list;
mod listed;

use std::{fs, os::unix::ffi::OsStrExt as _, path::Path};

use nix::{errno::Errno, sys::signal::kill, unistd::Pid};

pub use self::list::{ManifestMatch, ShmManifest};
use crate::values::owner::Owner;

const SHARED_MEMORY: &str = "/dev/shm";

/// Suffix of a file of a run that lists other files to remove with it: see [`ShmManifest`].
const LIST: &str = ".shared";

/// Removes the shared-memory files whose name contains `run_name`.
pub(crate) fn remove(run_name: &str) {
    remove_where(Path::new(SHARED_MEMORY), |name| belongs_to(name, run_name.as_bytes()));
}

/// Removes the shared-memory files of owners of this boot that no longer exist, for example after SIGKILL.
pub(crate) fn sweep(boot: &str) {
    remove_where(Path::new(SHARED_MEMORY), |name| is_left(name, boot));
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
    listed::remove(directory, lists, listed::TIME_LIMIT);
}

/// Returns whether a name contains the name of a run or a case, and all owners of this boot in it have ended. The owners
/// of other boots say nothing: each host of a run has an owner of its own, which manages the agents there.
fn is_left(name: &[u8], boot: &str) -> bool {
    let mut owners = Owner::all_in(name);
    owners.retain(|owner| owner.boot == boot);
    !owners.is_empty() && owners.iter().all(|owner| !lives(owner.pid))
}

/// Returns whether a process of this host exists.
fn lives(pid: u32) -> bool {
    kill(Pid::from_raw(pid.cast_signed()), None) != Err(Errno::ESRCH)
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

    /// Returns an owner that has ended.
    fn dead() -> Owner {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        Owner { pid: child.id(), ..Owner::this_process() }
    }

    /// Returns the owner with the same process id on another host.
    fn elsewhere(owner: &Owner) -> Owner {
        Owner { boot: "0badb007".to_owned(), ..owner.clone() }
    }

    /// Returns the files that remain of these after a sweep.
    fn swept(names: &[String], boot: &str) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(directory.path().join(name), "").unwrap();
        }
        remove_where(directory.path(), |name| is_left(name, boot));
        names.iter().filter(|name| directory.path().join(name).exists()).cloned().collect()
    }

    #[test]
    fn files_of_dead_owners_are_swept() {
        let dead = dead();
        let left = [
            dead.run_name(1),
            format!("sem.{}-data", dead.run_name(12)),
            dead.case_name("delivery"),
            format!("{}-of-{}", dead.run_name(1), dead.case_name("delivery")),
            // The owner on another host may live; the agents here do not.
            Owner::run_name_of(&[elsewhere(&dead), dead.clone()], 1),
            Owner::run_name_of(&[dead.clone(), elsewhere(&dead)], 12),
        ];
        assert_eq!(swept(&left, &dead.boot), [""; 0]);
    }

    #[test]
    fn files_of_live_owners_and_of_other_boots_are_kept() {
        let (dead, alive) = (dead(), Owner::this_process());
        let elsewhere = elsewhere(&dead);
        assert_ne!(elsewhere.boot, dead.boot);
        let kept = [
            alive.run_name(1),
            alive.case_name("delivery"),
            format!("{}-of-{}", dead.run_name(1), alive.run_name(1)),
            elsewhere.run_name(1),
            format!("sem.{}-data", elsewhere.run_name(1)),
            elsewhere.case_name("delivery"),
            Owner::run_name_of(&[elsewhere, alive], 1),
        ];
        assert_eq!(swept(&kept, &dead.boot), kept);
    }

    #[test]
    fn files_without_an_owner_are_kept() {
        let Owner { pid, boot } = dead();
        let kept = [
            format!("ddsmark-{pid}-1"),
            format!("ddsmark-{pid}-{boot}"),
            format!("ddsmark-{pid}-{boot}-"),
            format!("ddsmark-{pid}x-{boot}-1"),
            format!("dds-{pid}-{boot}-1"),
        ];
        assert_eq!(swept(&kept, &boot), kept);
    }
}
