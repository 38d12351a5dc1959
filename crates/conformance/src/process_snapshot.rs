//! Resources of this process: threads, descriptors, and shared memory files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Time limit for closed resources to disappear: a joined thread is listed for a moment.
const TIME_LIMIT: Duration = Duration::from_secs(3);

/// Snapshot of this process.
#[derive(Debug)]
pub struct ProcessSnapshot {
    /// Names of the threads, by thread id.
    threads: BTreeMap<String, String>,
    descriptors: BTreeSet<String>,
}

impl ProcessSnapshot {
    /// Takes a snapshot.
    pub fn take() -> Self {
        Self { threads: threads(), descriptors: descriptors() }
    }

    /// Returns the names of the threads started since the snapshot, sorted.
    pub fn started(&self) -> Vec<String> {
        let now = threads().into_iter();
        let mut names: Vec<String> =
            now.filter(|(id, _)| !self.threads.contains_key(id)).map(|(_, name)| name).collect();
        names.sort();
        names
    }

    /// Describes threads and descriptors that are new since the snapshot, and shared memory files named after the
    /// run. Waits until they are gone, except for one thread of each name in `kept`, and then returns `None`.
    pub fn left(&self, run_name: &str, kept: &[String]) -> Option<String> {
        let begin = Instant::now();
        loop {
            let mut left = Vec::new();
            let started = self.started();
            let is_alone = |name: &String| started.iter().filter(|other| *other == name).count() == 1;
            let threads: Vec<&str> = started
                .iter()
                .filter(|name| !(kept.contains(name) && is_alone(name)))
                .map(String::as_str)
                .collect();
            if !threads.is_empty() {
                left.push(format!("{} thread(s): {}", threads.len(), threads.join(", ")));
            }
            left.extend(descriptors().difference(&self.descriptors).map(|what| format!("descriptor {what}")));
            let files = names("/dev/shm").into_iter().filter(|name| name.contains(run_name));
            left.extend(files.map(|name| format!("/dev/shm/{name}")));
            if left.is_empty() {
                return None;
            }
            if begin.elapsed() > TIME_LIMIT {
                return Some(left.join("; "));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn names(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns the names of all threads by thread id, without threads that end meanwhile.
fn threads() -> BTreeMap<String, String> {
    let ids = names("/proc/self/task").into_iter();
    ids.filter_map(|id| {
        let name = fs::read(Path::new("/proc/self/task").join(&id).join("comm")).ok()?;
        let name = String::from_utf8_lossy(name.strip_suffix(b"\n").unwrap_or(&name)).into_owned();
        Some((id, name))
    })
    .collect()
}

/// Returns the open descriptors with their targets, without the one that lists them.
fn descriptors() -> BTreeSet<String> {
    let numbers = names("/proc/self/fd").into_iter();
    numbers
        .filter_map(|number| {
            let target = fs::read_link(Path::new("/proc/self/fd").join(&number)).ok()?;
            Some(format!("{number} ({})", target.display()))
        })
        .collect()
}
