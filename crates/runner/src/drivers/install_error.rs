//! Errors that stop an installation.

use crate::error::RunnerError;

/// Error that prevents the installation of a driver.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Request that cannot be met.
    #[error("{error}")]
    Rejected {
        /// Cause.
        error: String,
        /// Next step.
        hint: String,
    },
    /// Failure of this host, or of the sources.
    #[error("{error}")]
    Failed {
        /// Cause.
        error: String,
        /// Next step.
        hint: String,
    },
    /// Failed script.
    #[error("cannot install driver `{driver}`: {step} {how}")]
    Step {
        /// Driver to build.
        driver: String,
        /// Name of the script.
        step: String,
        /// Failure.
        how: String,
    },
    /// New library that is not a usable driver.
    #[error("the new driver was not installed: {0}")]
    Unusable(RunnerError),
    /// Installation that was interrupted.
    #[error("interrupted: nothing was installed")]
    Stopped,
}

impl InstallError {
    /// Creates the error of a request that cannot be met.
    pub(super) fn rejected(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Rejected { error: error.into(), hint: hint.into() }
    }

    /// Creates the error of a failure.
    pub(super) fn failed(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed { error: error.into(), hint: hint.into() }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Rejected { hint, .. } | Self::Failed { hint, .. } => Some(hint.clone()),
            Self::Step { .. } => Some("see its output above".to_owned()),
            Self::Unusable(error) => error.hint(),
            Self::Stopped => None,
        }
    }
}
