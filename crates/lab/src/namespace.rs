//! Network namespaces.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sched::{CloneFlags, setns},
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{error::LabError, layout::NAMESPACES};

/// Maximum time for the processes in a namespace to end after they are killed.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// Named network namespace, as `ip netns` manages it.
#[derive(Clone, Debug)]
pub(crate) struct Namespace {
    name: String,
}

/// Open namespace that a process can enter.
#[derive(Debug)]
pub(crate) struct NamespaceEntry(OwnedFd);

impl NamespaceEntry {
    /// Moves the calling thread into the namespace.
    pub(crate) fn enter(&self) -> io::Result<()> {
        Ok(setns(self.0.as_fd(), CloneFlags::CLONE_NEWNET)?)
    }
}

impl Namespace {
    pub(crate) const fn new(name: String) -> Self {
        Self { name }
    }

    fn path(&self) -> PathBuf {
        Path::new(NAMESPACES).join(&self.name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn exists(&self) -> bool {
        self.path().exists()
    }

    /// Opens the namespace.
    pub(crate) fn entry(&self) -> Result<NamespaceEntry, LabError> {
        let file = File::open(self.path())
            .map_err(|error| LabError::system(format!("open network namespace `{}`", self.name), error))?;
        Ok(NamespaceEntry(file.into()))
    }

    /// Returns the identity of the namespace; `None` if it does not exist.
    fn identity(&self) -> Option<Identity> {
        identity(self.path())
    }
}

/// Device and inode of a namespace, which identify it.
type Identity = (u64, u64);

fn identity(path: impl AsRef<Path>) -> Option<Identity> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Returns the namespace of a process; `None` if it has ended.
fn namespace_of(pid: &str) -> Option<Identity> {
    identity(format!("/proc/{pid}/ns/net"))
}

/// Returns whether this process is in one of the namespaces.
pub(crate) fn contain_this_process(namespaces: &[Namespace]) -> bool {
    let own = namespace_of("self");
    own.is_some() && namespaces.iter().any(|namespace| namespace.identity() == own)
}

/// Kills the processes in the namespaces, and waits until they have ended.
pub(crate) fn kill_processes(namespaces: &[Namespace]) -> Result<(), LabError> {
    let deadline = Instant::now() + KILL_LIMIT;
    // New processes may start while others are killed.
    loop {
        let inside = processes_in(namespaces);
        if inside.is_empty() {
            return Ok(());
        }
        for pid in inside {
            let _ = kill(pid, Signal::SIGKILL);
        }
        if Instant::now() > deadline {
            let seconds = KILL_LIMIT.as_secs();
            return Err(LabError::TimedOut {
                what: "the end of the processes in the hosts".to_owned(),
                seconds,
            });
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the processes in namespaces, without this one. A zombie is in none.
pub(crate) fn processes_in(namespaces: &[Namespace]) -> Vec<Pid> {
    let identities: Vec<Identity> = namespaces.iter().filter_map(Namespace::identity).collect();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_inside =
        |name: &String| namespace_of(name).is_some_and(|namespace| identities.contains(&namespace));
    let pids = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(is_inside);
    pids.filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).filter(|pid| *pid != Pid::this()).collect()
}
