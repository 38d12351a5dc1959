//! Announcement of a process.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::identity::PeerAddress;

/// Maximum number of characters of a text of another process in a message: a reason names two processes.
const MAX_TEXT: usize = 600;

/// Announcement of a process to all others of its domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// Name of its host.
    pub host: String,
    /// Process id on its host.
    pub pid: u32,
    /// Driver.
    pub driver: DriverIdentity,
    /// Version of ddsmark.
    pub ddsmark: String,
    /// Generation of the command line, such as `4.3`.
    pub generation: String,
    /// Options that were set, with their values as text, in the order of the command line.
    pub options: Vec<(String, String)>,
    /// Number of publishers that it expects, itself included; `None`: as the others do.
    pub publishers: Option<u32>,
    /// Number of subscribers that it expects, itself included; `None`: as the others do.
    pub subscribers: Option<u32>,
    /// Anything else that the leader needs from the process. The lobby does not read it.
    pub offer: Value,
}

/// Driver of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverIdentity {
    /// Name.
    pub name: String,
    /// Version of its middleware.
    pub version: String,
}

impl fmt::Display for DriverIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", clean(&self.name), clean(&self.version))
    }
}

/// Process that has announced itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// Address.
    pub address: PeerAddress,
    /// Announcement.
    pub announcement: Announcement,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Announcement { host, pid, .. } = &self.announcement;
        write!(f, "{} on host `{}` (process {pid})", self.address, clean(host))
    }
}

/// Returns a text of another process, without control characters, and not longer than a few lines.
#[must_use]
pub fn clean(text: &str) -> String {
    let printable = |character: char| if character.is_control() { '\u{fffd}' } else { character };
    text.chars().take(MAX_TEXT).map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_another_process_has_no_control_characters() {
        assert_eq!(clean("a\u{1b}[31m\nb"), "a\u{fffd}[31m\u{fffd}b");
        assert_eq!(clean(&"x".repeat(1000)).len(), MAX_TEXT);
    }
}
