//! What this process holds: threads, descriptors, and files of shared memory.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How long what was closed may take to go: a thread that was joined is listed for a moment.
const PATIENCE: Duration = Duration::from_secs(3);

/// A look at this process.
#[derive(Debug, PartialEq, Eq)]
pub struct Census {
    threads: BTreeSet<String>,
    descriptors: BTreeSet<String>,
}

impl Census {
    /// Now.
    pub fn take() -> Self {
        Self { threads: names("/proc/self/task"), descriptors: descriptors() }
    }

    /// What is here now and was not then, or what shared memory is named after the run; nothing, once all has gone.
    pub fn left(&self, run_name: &str) -> Option<String> {
        let begin = Instant::now();
        loop {
            let now = Self::take();
            let mut left = Vec::new();
            let threads = now.threads.difference(&self.threads).count();
            if threads > 0 {
                left.push(format!("{threads} thread(s)"));
            }
            left.extend(
                now.descriptors.difference(&self.descriptors).map(|what| format!("descriptor {what}")),
            );
            let files = names("/dev/shm").into_iter().filter(|name| name.contains(run_name));
            left.extend(files.map(|name| format!("/dev/shm/{name}")));
            if left.is_empty() {
                return None;
            }
            if begin.elapsed() > PATIENCE {
                return Some(left.join(", "));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn names(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
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
