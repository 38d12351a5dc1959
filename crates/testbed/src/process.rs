//! Processes of this host, those on its virtual hosts included.

use std::{
    ffi::CStr,
    fs, io, thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// Maximum time for a process to stop.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// Returns the ids of all processes.
///
/// # Errors
/// Returns an error if `/proc` cannot be read.
pub fn all() -> io::Result<Vec<i32>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir("/proc")? {
        ids.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(ids)
}

/// Returns the processes with an entry in their environment, `NAME=VALUE`.
///
/// # Errors
/// Returns an error if `/proc` cannot be read.
pub fn with_variable(entry: &str) -> io::Result<Vec<i32>> {
    let has_entry = |pid: &i32| {
        let mut environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.push(0);
        has_text(&environment, entry)
    };
    Ok(all()?.into_iter().filter(has_entry).collect())
}

/// Returns whether this is one of the texts, each of which ends with a zero byte. Tests that wait look at all processes again and
/// again: the search for the end of a text is one call, which is quick without optimization, too.
fn has_text(mut texts: &[u8], wanted: &str) -> bool {
    while let Ok(text) = CStr::from_bytes_until_nul(texts) {
        if text.to_bytes() == wanted.as_bytes() {
            return true;
        }
        texts = &texts[text.count_bytes() + 1..];
    }
    false
}

/// Returns the name of a process; empty if it has ended.
#[must_use]
pub fn name(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// Returns the last argument of a process; empty if it has ended.
#[must_use]
pub fn last_argument(pid: i32) -> String {
    let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.trim_end_matches('\0').rsplit('\0').next().unwrap_or_default().to_owned()
}

/// Returns the parent of a process; `None` if it has ended.
#[must_use]
pub fn parent(pid: i32) -> Option<i32> {
    fields(pid)?.get(1)?.parse().ok()
}

/// Returns the descendants of a process through children of this name.
#[must_use]
pub fn descendants_named(pid: i32, wanted: &str) -> Vec<i32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let children = children(*pid).into_iter().filter(|pid| name(*pid) == wanted);
        found.extend(children.collect::<Vec<i32>>());
        next += 1;
    }
    found.split_off(1)
}

/// Returns the children of a process, of all of its threads.
fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// Kills a process, unless it is already ending. Stops it first, so that it cannot end by itself meanwhile. Returns
/// whether it was killed.
#[must_use]
pub fn kill_alive(pid: i32) -> bool {
    let send = |signal| kill(Pid::from_raw(pid), signal).is_ok();
    send(Signal::SIGSTOP) && is_stopped(pid) && send(Signal::SIGKILL)
}

/// Waits until a process has stopped. Returns false if it has ended.
fn is_stopped(pid: i32) -> bool {
    let began = Instant::now();
    while began.elapsed() < STOP_LIMIT {
        match fields(pid).and_then(|fields| fields.first()?.chars().next()) {
            Some('T') => return true,
            None | Some('X' | 'Z') => return false,
            Some(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
    false
}

/// Returns the fields of the state of a process after its name, which may contain any character: state, parent, and so on.
fn fields(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split(' ').map(ToOwned::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// Starts a process with a variable, and waits until it has its own environment.
    fn started(entry: &str) -> (Child, i32) {
        let (name, value) = entry.split_once('=').expect("a variable");
        let child = Command::new("sleep").arg("60").env(name, value).spawn().expect("sleep");
        let pid = child.id().cast_signed();
        let began = Instant::now();
        while with_variable(entry).expect("/proc") != [pid] && began.elapsed() < STOP_LIMIT {}
        (child, pid)
    }

    #[test]
    fn process_is_found_by_its_variable_until_it_ends() {
        let entry = format!("DDSMARK_TESTBED=of-{}", std::process::id());
        assert_eq!(with_variable(&entry).expect("/proc"), [0; 0]);
        let (mut child, pid) = started(&entry);
        assert_eq!(with_variable(&entry).expect("/proc"), [pid]);
        let own = std::process::id().cast_signed();
        assert_eq!((name(pid).as_str(), parent(pid)), ("sleep", Some(own)));
        assert_eq!(last_argument(pid), "60");
        assert_eq!((descendants_named(own, "sleep"), descendants_named(own, "cat")), (vec![pid], vec![]));
        assert!(kill_alive(pid));
        child.wait().expect("it ends");
        assert_eq!(with_variable(&entry).expect("/proc"), [0; 0]);
        assert_eq!((name(pid).as_str(), parent(pid)), ("", None));
    }

    #[test]
    fn process_that_has_ended_is_not_killed() {
        let mut child = Command::new("true").spawn().expect("true");
        let pid = child.id().cast_signed();
        // Its parent has not waited for it yet.
        let began = Instant::now();
        while fields(pid).is_some_and(|fields| fields[0] != "Z") && began.elapsed() < STOP_LIMIT {}
        assert!(!kill_alive(pid), "a zombie");
        child.wait().expect("it ends");
        assert!(!kill_alive(pid), "no process");
    }
}
