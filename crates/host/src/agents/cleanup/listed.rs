//! Removal of the files named in lists.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Read as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use super::list::{ManifestMatch, ShmManifest};
use crate::values::owner::OF_RUN;

/// Maximum size of a list in bytes.
const LIST_BYTES: u64 = 64 << 10;
/// Maximum time that a process needs between creating and locking a file.
const IN_THE_MAKING: Duration = Duration::from_secs(1);
/// Time after which a file that is locked or new counts as belonging to another process: a killed process does not
/// end immediately.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// Removes the files that these lists name in a directory, and the lists. Skips lists whose writer is alive, with
/// their files.
pub(super) fn remove(directory: &Path, mut lists: Vec<PathBuf>, limit: Duration) {
    let begin = Instant::now();
    loop {
        let last = begin.elapsed() >= limit;
        lists.retain(|list| !is_done(directory, list, last));
        if lists.is_empty() || last {
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// Processes a list and returns whether it is done. At the last attempt, locked files count as belonging to another
/// process.
fn is_done(directory: &Path, path: &Path, last: bool) -> bool {
    let Some((mut list, listed)) = open(path) else {
        // Any user may write to the directory: only files of our own user are trusted.
        let _ = fs::remove_file(path);
        return true;
    };
    if is_locked(&list) {
        return false;
    }
    let mut text = String::new();
    let read = list.by_ref().take(LIST_BYTES).read_to_string(&mut text).is_ok();
    let there = names(directory);
    let mut done = true;
    for found in ShmManifest::parse(if read { &text } else { "" }).find(&there) {
        done &= remove_found(directory, &found, listed);
    }
    if done || last {
        let _ = fs::remove_file(path);
    }
    done
}

/// Removes the files of a line unless they do not belong to the list. Returns false if a file is locked, may still be
/// under construction, or cannot be opened.
fn remove_found(directory: &Path, found: &ManifestMatch<'_>, listed: SystemTime) -> bool {
    let paths: Vec<PathBuf> = found.names.iter().map(|name| directory.join(name)).collect();
    let mut opened = Vec::new();
    if found.any || found.together {
        let Some(files) = paths.iter().map(|path| open(path)).collect::<Option<Vec<_>>>() else {
            return false;
        };
        // A list is written before the files that it names are created.
        if found.any && files.first().is_some_and(|(_, made)| *made < listed) {
            return true;
        }
        opened = files;
    }
    // The locks are held while the files are open.
    if found.together
        && (opened.iter().any(|(_, made)| is_new(*made)) || opened.iter().any(|(file, _)| is_locked(file)))
    {
        return false;
    }
    for path in paths {
        // Files of another user, or removed by another process, are skipped.
        let _ = fs::remove_file(path);
    }
    true
}

/// Opens a regular file of our own user without blocking, and returns it with its modification time.
fn open(path: &Path) -> Option<(File, SystemTime)> {
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let data = file.metadata().ok()?;
    let ours = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == data.uid());
    let made = data.modified().ok()?;
    (data.is_file() && ours).then_some((file, made))
}

fn is_new(made: SystemTime) -> bool {
    // A file from the future was created before the clock was set back.
    SystemTime::now().duration_since(made).is_ok_and(|age| age < IN_THE_MAKING)
}

/// Returns whether another process has locked the file. If not, locks it.
fn is_locked(file: &File) -> bool {
    file.try_lock().is_err()
}

/// Returns the regular files of the directory, except those of runs, whose names contain their owner.
fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.contains(OF_RUN))
        .collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const LONG_AGO: Duration = Duration::from_secs(3600);

    /// Creates a directory with files of the given age.
    fn directory(names: &[&str], age: Duration) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            create(directory.path(), name, age);
        }
        directory
    }

    fn create(directory: &Path, name: &str, age: Duration) -> File {
        let file = File::create(directory.join(name)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        file
    }

    /// Creates a list that was written an hour ago.
    fn list(directory: &Path, text: &str) -> PathBuf {
        let path = directory.join("ddsmark-7-1.99.shared");
        fs::write(&path, text).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - LONG_AGO).unwrap();
        path
    }

    fn left(directory: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(directory.path()).unwrap();
        let mut left: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        left
    }

    const SEGMENT: [&str; 2] = ["seg_1", "seg_1_lock"];
    const LINE: &str = "seg_*_lock seg_*\n";
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn unused_files_are_removed_with_their_list() {
        let directory_of_test = directory(&SEGMENT, MINUTE);
        create(directory_of_test.path(), "seg_other", MINUTE);
        remove(directory_of_test.path(), vec![list(directory_of_test.path(), LINE)], MINUTE);
        assert_eq!(left(&directory_of_test), ["seg_other"]);
    }

    #[test]
    fn segment_without_lock_file_is_unused() {
        let directory_of_test = directory(&["seg_1", "seg_2_lock"], MINUTE);
        let lock = create(directory_of_test.path(), "seg_3_lock", MINUTE);
        lock.lock().unwrap();
        remove(
            directory_of_test.path(),
            vec![list(directory_of_test.path(), "seg_* seg_*_lock\n")],
            Duration::ZERO,
        );
        assert_eq!(left(&directory_of_test), ["seg_3_lock"]);
    }

    #[test]
    fn used_files_are_kept_after_a_limited_wait() {
        let directory_of_test = directory(&["seg_1", "seg_2", "seg_2_lock"], MINUTE);
        let lock = create(directory_of_test.path(), "seg_1_lock", MINUTE);
        lock.lock_shared().unwrap();
        remove(directory_of_test.path(), vec![list(directory_of_test.path(), LINE)], Duration::ZERO);
        assert_eq!(left(&directory_of_test), SEGMENT);
    }

    #[test]
    fn segment_released_soon_is_waited_for() {
        let directory_of_test = directory(&["seg_1"], MINUTE);
        let lock = create(directory_of_test.path(), "seg_1_lock", MINUTE);
        lock.lock().unwrap();
        let list = list(directory_of_test.path(), LINE);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(5 * PAUSE);
                drop(lock);
            });
            remove(directory_of_test.path(), vec![list], MINUTE);
        });
        assert_eq!(left(&directory_of_test), [""; 0]);
    }

    #[test]
    fn young_file_is_kept_until_it_is_older() {
        let directory_of_test = directory(&SEGMENT, Duration::ZERO);
        remove(directory_of_test.path(), vec![list(directory_of_test.path(), LINE)], Duration::ZERO);
        assert_eq!(left(&directory_of_test), SEGMENT);
        remove(directory_of_test.path(), vec![list(directory_of_test.path(), LINE)], MINUTE);
        assert_eq!(left(&directory_of_test), [""; 0]);
    }

    #[test]
    fn file_older_than_the_list_is_kept() {
        let directory_of_test = directory(&["seg_1", "seg_1_lock", "data_1", "exact"], 2 * LONG_AGO);
        create(directory_of_test.path(), "data_2", MINUTE);
        remove(
            directory_of_test.path(),
            vec![list(directory_of_test.path(), &format!("{LINE}data_*\nexact\n"))],
            MINUTE,
        );
        assert_eq!(left(&directory_of_test), ["data_1", "seg_1", "seg_1_lock"]);
    }

    #[test]
    fn list_of_a_living_process_is_kept() {
        let directory_of_test = directory(&["exact", "seg_1", "seg_1_lock"], MINUTE);
        let path = list(directory_of_test.path(), &format!("exact\n{LINE}"));
        let maker = File::open(&path).unwrap();
        maker.lock().unwrap();
        remove(directory_of_test.path(), vec![path.clone()], Duration::ZERO);
        assert_eq!(left(&directory_of_test), ["ddsmark-7-1.99.shared", "exact", "seg_1", "seg_1_lock"]);
        drop(maker);
        remove(directory_of_test.path(), vec![path], Duration::ZERO);
        assert_eq!(left(&directory_of_test), [""; 0]);
    }

    #[test]
    fn files_of_other_runs_and_directories_are_kept() {
        let directory_of_test = directory(&["ddsmark-8-1.98.shared", "ddsmark-8-1"], MINUTE);
        fs::create_dir(directory_of_test.path().join("folder")).unwrap();
        let fifo = directory_of_test.path().join("seg_1_lock");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let text = format!("ddsmark-*\nddsmark-8-1\nfolder\nfold*\n{LINE}");
        remove(directory_of_test.path(), vec![list(directory_of_test.path(), &text)], Duration::ZERO);
        assert_eq!(
            left(&directory_of_test),
            ["ddsmark-8-1", "ddsmark-8-1.98.shared", "folder", "seg_1_lock"]
        );
    }
}
