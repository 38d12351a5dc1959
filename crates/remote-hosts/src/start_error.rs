//! Errors of starting a steward.

use std::{fmt::Display, path::Path};

use crate::protocol::Versions;

/// Next step if hosts have different versions.
pub(crate) const SAME_VERSION: &str = "install the same version of ddsmark on both hosts";

/// Reason why a steward did not start, or cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct StartError {
    text: String,
    hint: Option<String>,
    /// Whether the host is not one of an allocation of Slurm.
    pub is_not_allocated: bool,
}

impl StartError {
    /// Creates the error of a host that cannot be used.
    pub(crate) fn of_host(host: &str, error: impl Display, hint: Option<String>) -> Self {
        Self { text: format!("host `{host}`: {error}"), hint, is_not_allocated: false }
    }

    /// Creates the error of a host that is not one of an allocation of Slurm.
    pub(crate) fn not_allocated(host: &str, error: impl Display, hint: impl Into<String>) -> Self {
        Self { is_not_allocated: true, ..Self::of_host(host, error, Some(hint.into())) }
    }

    /// Creates the error of a host with another version.
    pub(crate) fn other_version(host: &str, theirs: &Versions, ours: &Versions) -> Self {
        let Versions { protocol, ddsmark } = theirs;
        let ours = format!("{} (protocol {})", ours.ddsmark, ours.protocol);
        let text = format!("host `{host}` has ddsmark {ddsmark} (protocol {protocol}), and this is {ours}");
        Self { text, hint: Some(SAME_VERSION.to_owned()), is_not_allocated: false }
    }

    /// Creates the error of a file of this host that cannot be read.
    pub(crate) fn of_file(path: &Path, error: impl Display) -> Self {
        let text = format!("cannot read `{}`: {error}", path.display());
        Self { text, hint: None, is_not_allocated: false }
    }

    /// Returns a suggested next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

/// Returns the last lines that a program printed, behind its error.
pub(crate) fn quoted(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join(" / ")) }
}
