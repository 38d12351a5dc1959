//! Processes of peers, and whether they live.
#![allow(unsafe_code)]
use std::{
    fs,
    os::fd::{AsFd, FromRawFd, OwnedFd, RawFd},
};

use driver_kit::{Error, Result};
use nix::{
    errno::Errno,
    libc,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

/// Process of a peer. Its descriptor remains that of this process when the number is used again.
#[derive(Debug)]
pub(crate) struct Process(OwnedFd);

impl Process {
    /// Opens the process of a peer, which must be on the same host as this one. `what` describes the peer.
    pub(crate) fn of_peer(pid: u32, what: &str) -> Result<Self> {
        let failed = |call: &str, error: std::io::Error| {
            Error::os(&format!("cannot find the process of {what}: {call} failed"), error).hint(
                "open both ends, in processes of one host, PID namespace and user, before they are connected",
            )
        };
        let process = Self::open(pid).map_err(|errno| failed("pidfd_open()", errno.into()))?;
        let network = |of: &str| {
            fs::read_link(format!("/proc/{of}/ns/net")).map_err(|error| failed("readlink()", error))
        };
        // Virtual hosts have network namespaces of their own: memory would bypass their links.
        if network(&pid.to_string())? != network("self")? {
            return Err(Error::failed(format!("{what} is in another network namespace, as on another host"))
                .hint("use a driver with a network transport between hosts"));
        }
        Ok(process)
    }

    /// Opens a process by its number.
    pub(crate) fn open(pid: u32) -> Result<Self, Errno> {
        // SAFETY: the call takes two integers and accesses no memory of this process.
        let descriptor = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
        // SAFETY: the call succeeded, so this is a new descriptor that nothing else owns.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }))
    }

    /// Returns whether the process has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        // the descriptor is readable from the end of the process on
        let mut descriptors = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        !matches!(poll(&mut descriptors, PollTimeout::ZERO), Ok(1..))
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};

    use super::*;

    #[test]
    fn process_is_alive_until_it_is_killed() {
        let mut child = Command::new("sleep").arg("100").spawn().expect("a process");
        let process = Process::open(child.id()).expect("it lives");
        assert!(process.is_alive());
        child.kill().expect("killed");
        child.wait().expect("waited");
        assert!(!process.is_alive());
        assert_eq!(Process::open(child.id()).err(), Some(Errno::ESRCH));
        assert!(Process::open(id()).expect("this process").is_alive());
        for invalid in [0, u32::MAX] {
            assert!(Process::open(invalid).is_err());
        }
    }
}
