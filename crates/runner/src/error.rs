//! Errors that stop an experiment.

use host::SiteError;
use results::{DirectoryError, Failure};

/// Error that prevents or ends an experiment.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// Request that cannot be met: a driver that does not exist, a domain in use, a library that is not loaded.
    #[error("{error}")]
    WrongUse {
        /// Cause.
        error: String,
        /// Next step.
        hint: String,
    },
    /// Loaded library whose version differs from the one in the driver's name.
    #[error("driver `{driver}` loaded version {found} of its middleware")]
    OtherVersion {
        /// Driver, as requested.
        driver: String,
        /// Version that the library reports.
        found: String,
    },
    /// Driver that cannot describe itself.
    #[error("cannot use driver `{driver}`: {}", .failure.error)]
    Driver {
        /// Driver, as requested.
        driver: String,
        /// Cause.
        failure: Box<Failure>,
    },
    /// Driver that permanently rejects the configuration of a cell.
    #[error("driver `{driver}` rejects {}: {}", of_cells(cell, *others), failure.error)]
    Rejected {
        /// Driver, as requested; of a pair, the one at fault.
        driver: String,
        /// Id of the cell.
        cell: String,
        /// Number of other cells that are rejected in the same way.
        others: usize,
        /// Cause.
        failure: Box<Failure>,
    },
    /// Failure of a thread, of the signal handlers, of a planned file, or of the links between the hosts.
    #[error("{error}")]
    Failed {
        /// Cause.
        error: String,
        /// Next step.
        hint: Option<String>,
    },
    /// Error of the host of the agents.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// Result that cannot be written.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// Signal before the first measurement.
    #[error("interrupted before the first measurement")]
    Stopped,
}

impl RunnerError {
    /// Returns a failure without a next step.
    pub(crate) const fn failed(error: String) -> Self {
        Self::Failed { error, hint: None }
    }

    /// Returns the name of the host if its loss is the error.
    pub(crate) fn lost_host(&self) -> Option<&str> {
        match self {
            Self::Site(SiteError::Lost { host, .. }) => Some(host),
            _ => None,
        }
    }

    /// Returns a suggested action.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::WrongUse { hint, .. } => hint.clone(),
            Self::OtherVersion { driver, .. } => format!(
                "check LD_LIBRARY_PATH and LD_PRELOAD, or rebuild the driver with `ddsmark drivers install {driver}`"
            ),
            Self::Driver { failure, .. } => return failure.hint.clone(),
            Self::Rejected { failure, driver, .. } => match &failure.hint {
                Some(hint) => hint.clone(),
                None => format!("see its features with `ddsmark drivers info {driver}`"),
            },
            Self::Failed { hint, .. } => return hint.clone(),
            Self::Directory(error) => error.hint(),
            Self::Site(error) => return error.hint(),
            Self::Stopped => return None,
        };
        Some(hint)
    }
}

/// Returns the text that names the rejected cells.
fn of_cells(cell: &str, others: usize) -> String {
    match others {
        0 => format!("the configuration of cell `{cell}`"),
        1 => format!("the configuration of cell `{cell}` and of 1 other"),
        others => format!("the configuration of cell `{cell}` and of {others} others"),
    }
}
