//! Errors of a site.

use std::{fmt::Display, path::Path};

use serde::{Deserialize, Serialize};

/// Error of a site. Causes are texts: the error may come from another host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteError {
    /// Failure of the host, or request that it does not accept.
    #[error("{error}")]
    Failed {
        /// Cause.
        error: String,
        /// Suggested action.
        hint: Option<String>,
    },
    /// Core or network interface that the host does not have, or that agents may not use.
    #[error("{error}")]
    NotFound {
        /// Cause.
        error: String,
        /// Suggested action.
        hint: String,
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
}

impl SiteError {
    /// Creates the error of a failure, with a suggested action.
    pub fn failed(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed { error: error.into(), hint: Some(hint.into()) }
    }

    /// Creates the error of a control channel that cannot be created.
    pub fn no_channel(error: impl Display) -> Self {
        Self::Failed { error: format!("cannot open a control channel: {error}"), hint: None }
    }

    /// Creates the error of an agent log that cannot be created; with its path if it is a file.
    pub fn no_log(path: Option<&Path>, error: impl Display) -> Self {
        let path = path.map(|path| format!(" `{}`", path.display())).unwrap_or_default();
        Self::Failed { error: format!("cannot open the log of an agent{path}: {error}"), hint: None }
    }

    /// Creates the error of a request or answer that the other process does not understand.
    pub fn no_understanding(host: &str, error: impl Display) -> Self {
        let error = format!("host `{host}` and this process do not understand each other: {error}");
        Self::failed(error, "use the same build of ddsmark on both hosts")
    }

    /// Returns a suggested action.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Failed { hint, .. } | Self::Lost { hint, .. } => hint.clone(),
            Self::NotFound { hint, .. } => Some(hint.clone()),
            Self::Clock { .. } => Some("allow UDP between the hosts on the interfaces of the run".to_owned()),
            Self::NoAnswer { .. } => Some("check whether the host is overloaded".to_owned()),
        }
    }
}
