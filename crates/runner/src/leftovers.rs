//! Files that the processes of a run left behind when they were killed.

use std::{fs, os::unix::ffi::OsStrExt as _, path::Path};

/// Removes the shared-memory files whose name contains `run_name`.
pub(crate) fn remove(run_name: &str) {
    remove_in(Path::new("/dev/shm"), run_name);
}

fn remove_in(directory: &Path, run_name: &str) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && belongs_to(entry.file_name().as_bytes(), run_name.as_bytes()) {
            // what another user owns, or somebody else has removed, stays as it is
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether the run's name stands in it, and is not the beginning of a longer one: run 1 is not run 10.
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
        remove_in(directory.path(), "ddsmark-7-1");
        for name in ours {
            assert!(!directory.path().join(name).exists(), "{name} is left");
        }
        for name in others.iter().chain(&["ddsmark-7-1-dir"]) {
            assert!(directory.path().join(name).exists(), "{name} is gone");
        }
    }
}
