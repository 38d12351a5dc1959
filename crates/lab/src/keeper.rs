//! Labs that outlive the command that creates them: a process keeps each until it is ended.

use std::{
    fs::File,
    io, thread,
    time::{Duration, Instant},
};

use experiment::LabSpec;
use nix::{
    sys::signal::{SigSet, Signal, kill},
    unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, setsid},
};

use crate::{
    error::LabError,
    lab::{Lab, LabOptions},
    namespace,
    registry::{LabRecord, list, sweep},
};

/// Maximum time for a keeper to remove its lab before it is killed.
const LIMIT: Duration = Duration::from_secs(30);

/// Creates a lab and keeps it until [`down`], or a signal to end. Calls `ready` when the lab is up; then closes the standard
/// streams. This process leaves its session and its directory, so it must have no other task.
///
/// # Errors
/// Returns an error if the lab cannot be created or removed.
pub fn keep(name: &str, spec: &LabSpec, ready: impl FnOnce(&Lab) -> io::Result<()>) -> Result<(), LabError> {
    // Before the first thread: all threads inherit it, and the signals wait until they are read here.
    let mut ends = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        ends.add(signal);
    }
    ends.thread_block().map_err(|error| LabError::system("block signals", error))?;
    // Fails only for the leader of a process group, which has a session of its own already or keeps its terminal.
    let _ = setsid();
    let _ = std::env::set_current_dir("/");
    let options = LabOptions { name: Some(name.to_owned()), is_kept: true };
    let lab = Lab::up_with(&options, spec)?;
    // A command that was interrupted does not leave a lab behind.
    ready(&lab).map_err(|error| LabError::system("report that the lab is up", error))?;
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = dup2_stdin(&null).and_then(|()| dup2_stdout(&null)).and_then(|()| dup2_stderr(&null));
    }
    while ends.wait().is_err() {}
    lab.down()
}

/// Removes a lab that a keeper owns, or whose owner was killed. Processes in its hosts are killed.
///
/// # Errors
/// Returns an error if there is no such lab, if it belongs to another running process, or if it cannot be removed.
pub fn down(name: &str) -> Result<LabRecord, LabError> {
    let labs = list()?;
    let Some(record) = labs.iter().find(|record| record.name == name).cloned() else {
        let available = labs.into_iter().map(|record| record.name).collect();
        return Err(LabError::NotFound { name: name.to_owned(), available });
    };
    if namespace::contain_this_process(&record.namespaces()) {
        return Err(LabError::Inside(name.to_owned()));
    }
    if record.owner.is_alive() {
        if !record.is_kept {
            return Err(LabError::InUse { name: name.to_owned(), pid: record.owner.pid });
        }
        end(&record)?;
    }
    // Removes what is left if the owner was killed.
    sweep()?;
    Ok(record)
}

/// Ends the keeper of a lab.
fn end(record: &LabRecord) -> Result<(), LabError> {
    let pid = Pid::from_raw(record.owner.pid.cast_signed());
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        match kill(pid, signal) {
            Err(error) if record.owner.is_alive() => {
                return Err(LabError::system(format!("end process {pid}"), error));
            }
            _ => {}
        }
        let deadline = Instant::now() + LIMIT;
        while Instant::now() < deadline {
            if !record.owner.is_alive() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
    Err(LabError::TimedOut { what: format!("the end of process {pid}"), seconds: 2 * LIMIT.as_secs() })
}
