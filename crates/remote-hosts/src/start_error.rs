//! Errors of the start of a steward, and of whatever has to be done before.

use std::path::PathBuf;

use host::SiteError;

/// Error that keeps a host from being used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Command that cannot be started.
    #[error("host `{host}`: cannot start `{program}`: {error}")]
    Command {
        /// Name of the host.
        host: String,
        /// Program of the command.
        program: String,
        /// Cause.
        error: String,
    },
    /// Command that ended, or went on without the greeting of a steward.
    #[error("host `{host}`: {error}{}", quoted(.lines))]
    NoSteward {
        /// Name of the host.
        host: String,
        /// Cause.
        error: String,
        /// Last lines that the command printed.
        lines: Vec<String>,
        /// Suggested action.
        hint: Option<String>,
    },
    /// Steward of another version.
    #[error(
        "host `{host}` has ddsmark {theirs} (protocol {their_protocol}), and this is {ours} (protocol {our_protocol})"
    )]
    Version {
        /// Name of the host.
        host: String,
        /// Version on the host.
        theirs: String,
        /// Version of the protocol there.
        their_protocol: u32,
        /// Version of this program.
        ours: String,
        /// Version of the protocol of this program.
        our_protocol: u32,
    },
    /// Host that lacks something that agents need.
    #[error("host `{host}`: {error}")]
    Unfit {
        /// Name of the host.
        host: String,
        /// Missing property.
        error: String,
        /// Suggested action.
        hint: String,
    },
    /// Host of an allocation that this process does not have.
    #[error("host `{host}`: {error}")]
    NotAllocated {
        /// Name of the host.
        host: String,
        /// Missing allocation or node.
        error: String,
        /// Suggested action.
        hint: String,
    },
    /// File on this host that cannot be read.
    #[error("cannot read `{}`: {error}", .file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// Cause.
        error: String,
    },
    /// Error of the site of the host.
    #[error("host `{host}`: {error}")]
    Site {
        /// Name of the host.
        host: String,
        /// Cause.
        error: SiteError,
    },
}

impl StartError {
    /// Returns a suggested action.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Command { program, .. } => Some(format!("install `{program}`")),
            Self::NoSteward { hint, .. } => hint.clone(),
            Self::Version { .. } => Some("install the same version of ddsmark on both hosts".to_owned()),
            Self::Unfit { hint, .. } | Self::NotAllocated { hint, .. } => Some(hint.clone()),
            Self::File { .. } => None,
            Self::Site { error, .. } => error.hint(),
        }
    }
}

fn quoted(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join(" / ")) }
}
