//! What this process holds: threads, descriptors, and files of shared memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How long what was closed may take to go: a thread that was joined is listed for a moment.
const PATIENCE: Duration = Duration::from_secs(3);

/// A look at this process.
#[derive(Debug)]
pub struct Census {
    /// By id, the name of each.
    threads: BTreeMap<String, String>,
    descriptors: BTreeSet<String>,
}

impl Census {
    /// Now.
    pub fn take() -> Self {
        Self { threads: threads(), descriptors: descriptors() }
    }

    /// Names of the threads that are here now and were not then, sorted.
    pub fn started(&self) -> Vec<String> {
        let now = threads().into_iter();
        let mut names: Vec<String> =
            now.filter(|(id, _)| !self.threads.contains_key(id)).map(|(_, name)| name).collect();
        names.sort();
        names
    }

    /// What is here now and was not then, or what shared memory is named after the run; nothing, once all has gone but one
    /// thread of each name in `kept`.
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
            if begin.elapsed() > PATIENCE {
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

/// Threads by id, each with its name; without those that end meanwhile.
fn threads() -> BTreeMap<String, String> {
    let ids = names("/proc/self/task").into_iter();
    ids.filter_map(|id| {
        let name = fs::read(Path::new("/proc/self/task").join(&id).join("comm")).ok()?;
        let name = String::from_utf8_lossy(name.strip_suffix(b"\n").unwrap_or(&name)).into_owned();
        Some((id, name))
    })
    .collect()
}

/// Open descriptors, each with what it refers to; without the one that lists them.
fn descriptors() -> BTreeSet<String> {
    let numbers = names("/proc/self/fd").into_iter();
    numbers
        .filter_map(|number| {
            let target = fs::read_link(Path::new("/proc/self/fd").join(&number)).ok()?;
            Some(format!("{number} ({})", target.display()))
        })
        .collect()
}
