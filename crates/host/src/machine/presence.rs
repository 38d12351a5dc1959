//! Experiments that run on a host at the same time. They disturb each other.

use std::{
    fs,
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    },
    path::Path,
    time::SystemTime,
};

use results::RunningExperiment;

use crate::{site::Guard, values::owner::Owner};

/// Text before the process id in the name of the socket of an experiment.
const EXPERIMENT: &str = "ddsmark-experiment-";
/// Maximum length of an abstract name in bytes.
const MAX_NAME_BYTES: usize = 107;
/// Sockets of this network namespace, one per line; their names come last.
const SOCKETS: &str = "/proc/net/unix";

/// Returns the experiment of a site, as others see it: its results directory, from now on.
pub(crate) fn running(owner: &Owner, directory: &Path) -> RunningExperiment {
    let since = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut running = RunningExperiment { pid: owner.pid, directory: String::new(), since };
    let room = MAX_NAME_BYTES - name(owner, &running).len();
    let text: Vec<char> = directory
        .to_string_lossy()
        .chars()
        .map(|character| if character.is_ascii_graphic() { character } else { '_' })
        .collect();
    // The end of a path says more.
    running.directory = text[text.len().saturating_sub(room)..].iter().collect();
    running
}

/// Announces an experiment until the hold is dropped; `None` if that is not possible on this host.
///
/// An abstract socket announces it, as one reserves a domain: the name is common to all users, leaves no file, and the
/// kernel frees it even if the process crashes. It belongs to the network namespace.
pub(crate) fn announce(owner: &Owner, running: &RunningExperiment) -> Option<Guard> {
    let address = SocketAddr::from_abstract_name(name(owner, running)).ok()?;
    UnixDatagram::bind_addr(&address).ok().map(|socket| Box::new(socket) as Guard)
}

/// Returns all experiments that are announced now.
pub(crate) fn announced() -> Vec<RunningExperiment> {
    let table = fs::read(SOCKETS).unwrap_or_default();
    let mut found: Vec<RunningExperiment> =
        String::from_utf8_lossy(&table).lines().filter_map(announced_by).collect();
    found.sort();
    found.dedup();
    found
}

fn name(owner: &Owner, RunningExperiment { pid, directory, since }: &RunningExperiment) -> String {
    format!("{EXPERIMENT}{pid}-{}-{since}-{directory}", owner.boot)
}

/// Returns the experiment of a socket; `None` for another socket.
fn announced_by(line: &str) -> Option<RunningExperiment> {
    let name = line.split_whitespace().last()?.strip_prefix('@')?.strip_prefix(EXPERIMENT)?;
    let (pid, rest) = name.split_once('-')?;
    let (_boot, rest) = rest.split_once('-')?;
    let (since, directory) = rest.split_once("Z-")?;
    Some(RunningExperiment {
        pid: pid.parse().ok()?,
        directory: directory.to_owned(),
        since: format!("{since}Z"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiment_is_seen_as_long_as_it_is_announced() {
        let owner = Owner::this_process();
        for (directory, seen) in [
            ("/tmp/results/of a test", "/tmp/results/of_a_test"),
            (&*format!("/{}/result", "long".repeat(50)), "longlong/result"),
            ("", ""),
            ("/a-b@c-Z-d", "/a-b@c-Z-d"),
        ] {
            let running = running(&owner, Path::new(directory));
            assert!(running.directory.ends_with(seen), "{running:?}");
            assert!(name(&owner, &running).len() <= MAX_NAME_BYTES);
            assert!(!announced().contains(&running));
            let hold = announce(&owner, &running).expect("a socket");
            assert!(announced().contains(&running), "{running:?} in {:?}", announced());
            drop(hold);
            assert!(!announced().contains(&running));
        }
    }

    #[test]
    fn other_sockets_are_no_experiments() {
        for line in [
            "",
            "Num       RefCount Protocol Flags    Type St Inode Path",
            "0000000000000000: 00000002 00000000 00000000 0002 01 24817 @ddsmark-domain-3",
            "0000000000000000: 00000002 00000000 00000000 0002 01 24817 /run/ddsmark-experiment-7",
            "0000000000000000: 00000002 00000000 00000000 0002 01 24817 @ddsmark-experiment-x-0123abcd-2026-01-01T00:00:00Z-/d",
            "0000000000000000: 00000002 00000000 00000000 0002 01 24817 @ddsmark-experiment-7-0123abcd",
        ] {
            assert_eq!(announced_by(line), None, "{line}");
        }
        let line = "0: 2 0 0 0002 01 24817 @ddsmark-experiment-7-0123abcd-2026-01-01T00:00:00Z-/d";
        let expected = RunningExperiment {
            pid: 7,
            directory: "/d".to_owned(),
            since: "2026-01-01T00:00:00Z".to_owned(),
        };
        assert_eq!(announced_by(line), Some(expected));
    }
}
