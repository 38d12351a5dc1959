//! Errors of a site.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Error of a site. Causes are texts: the error may come from another host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteError {
    /// Missing agent program.
    #[error("agent program `{}` not found", .file.display())]
    NoAgent {
        /// Expected path.
        file: PathBuf,
    },
    /// Agent program that cannot be started.
    #[error("cannot start the agent `{}`: {error}", .agent.display())]
    Launch {
        /// Path of the program.
        agent: PathBuf,
        /// Cause.
        error: String,
        /// Suggested action.
        hint: String,
    },
    /// Control channel that cannot be created.
    #[error("cannot open a control channel: {error}")]
    Channel {
        /// Cause.
        error: String,
    },
    /// Agent log that cannot be created.
    #[error("cannot open the log of an agent{}: {error}", .file.as_ref().map(|file| format!(" `{}`", file.display())).unwrap_or_default())]
    Log {
        /// Path of the log, if it is a file.
        file: Option<PathBuf>,
        /// Cause.
        error: String,
    },
    /// Core that agents cannot be pinned to.
    #[error("core {core} not found, or not available to this process")]
    NoCore {
        /// Core number.
        core: u32,
        /// Available cores.
        allowed: Vec<u32>,
    },
    /// Unknown network interface.
    #[error("network interface `{interface}` not found")]
    NoInterface {
        /// Name of the interface.
        interface: String,
        /// Available interfaces.
        known: Vec<String>,
    },
    /// Spinning threads that cannot be started.
    #[error("cannot keep the cores awake: {error}")]
    KeepAwake {
        /// Cause.
        error: String,
    },
    /// Clock that cannot be compared with that of the reference host.
    #[error("cannot compare the clocks of the hosts: {error}")]
    Clock {
        /// Cause.
        error: String,
    },
    /// Host whose connection is lost: nothing on it can be used any longer.
    #[error("host `{host}` is lost: {error}")]
    Lost {
        /// Name of the host.
        host: String,
        /// Cause.
        error: String,
        /// Suggested action.
        hint: Option<String>,
    },
    /// Call that a host did not answer in time.
    #[error("host `{host}` did not answer `{call}` within {limit_ms} ms")]
    NoAnswer {
        /// Name of the host.
        host: String,
        /// Name of the call.
        call: String,
        /// Time limit in ms.
        limit_ms: u64,
    },
    /// Request or answer that the other process does not understand.
    #[error("host `{host}` and this process do not understand each other: {error}")]
    Protocol {
        /// Name of the host.
        host: String,
        /// Cause.
        error: String,
    },
    /// Request that the host does not accept from a leader that it does not trust.
    #[error("{error}")]
    Rejected {
        /// Cause.
        error: String,
        /// Suggested action.
        hint: String,
    },
    /// Unknown path of the program of the site.
    #[error("cannot determine the path of this program: {error}")]
    Itself {
        /// Cause.
        error: String,
    },
}

impl SiteError {
    /// Returns a suggested action.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoAgent { .. } => Some(
                "install `ddsmark-agent` in the directory of `ddsmark`, or set DDSMARK_AGENT to its path"
                    .to_owned(),
            ),
            Self::NoCore { allowed, .. } => Some(format!("available: {}", list(allowed))),
            Self::NoInterface { known, .. } => Some(format!("available: {}", known.join(", "))),
            Self::Clock { .. } => Some("allow UDP between the hosts on the interfaces of the run".to_owned()),
            Self::KeepAwake { .. } => Some("remove `--keep-awake`".to_owned()),
            Self::Lost { hint, .. } => hint.clone(),
            Self::Launch { hint, .. } | Self::Rejected { hint, .. } => Some(hint.clone()),
            Self::NoAnswer { .. } => Some("check whether the host is overloaded".to_owned()),
            Self::Protocol { .. } => Some("use the same build of ddsmark on both hosts".to_owned()),
            Self::Channel { .. } | Self::Log { .. } | Self::Itself { .. } => None,
        }
    }
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
