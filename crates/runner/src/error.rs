//! Errors that stop an experiment.

use std::{io, path::PathBuf};

use experiment::similar;
use host::SiteError;
use results::{DirectoryError, Failure};

use crate::version::split;

/// Availability of sources for a driver that is not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildSupport {
    /// No sources of that name exist.
    No,
    /// Sources are available.
    Yes,
    /// Sources are available for these versions only, not for the requested one.
    Versions(Vec<String>),
}

/// Error that prevents or ends an experiment.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// Driver not found on the search path.
    #[error("unknown driver `{driver}`")]
    UnknownDriver {
        /// Requested driver.
        driver: String,
        /// Installed drivers.
        known: Vec<String>,
        /// Existing directories that were searched.
        searched: Vec<PathBuf>,
        /// Whether the driver can be built on this host.
        can_be_built: BuildSupport,
    },
    /// Loaded library whose version differs from the one in the driver's name.
    #[error("driver `{driver}` loaded version {found} of its middleware")]
    OtherVersion {
        /// Driver, as requested.
        driver: String,
        /// Version that the library reports.
        found: String,
    },
    /// Driver file that does not exist or cannot be read.
    #[error("cannot read driver `{}`: {error}", .file.display())]
    NoDriverFile {
        /// Path of the file.
        file: PathBuf,
        /// Cause.
        error: io::Error,
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
    /// Requested domain that another experiment has reserved.
    #[error("another experiment uses DDS domain {0}: each would discover the participants of the other one")]
    DomainInUse(u32),
    /// `LD_PRELOAD` library that the dynamic linker ignores.
    #[error("a library of LD_PRELOAD was not loaded for cell `{cell}`: {line}")]
    IgnoredLibrary {
        /// Id of the cell.
        cell: String,
        /// Message of the dynamic linker.
        line: String,
    },
    /// Thread of a run that cannot be started.
    #[error("cannot start the thread of run {run}: {error}")]
    Thread {
        /// Number of the run.
        run: u32,
        /// Cause.
        error: io::Error,
    },
    /// Signal handlers that cannot be installed.
    #[error("cannot catch signals: {error}")]
    Signals {
        /// Cause.
        error: io::Error,
    },
    /// File that differs from the planned one or cannot be read: a trace, or the bytes of samples.
    #[error("cannot use {kind}`{file}`: {why}")]
    PlannedFile {
        /// Kind of the file and a blank, or nothing.
        kind: &'static str,
        /// Path of the file, as given.
        file: String,
        /// Cause.
        why: String,
    },
    /// Links between the hosts that cannot be set, or that are not as they were set.
    #[error("{error}")]
    Links {
        /// Cause.
        error: String,
        /// Next step.
        hint: String,
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
            Self::UnknownDriver { known, driver, can_be_built, .. }
                if !known.is_empty() || *can_be_built != BuildSupport::No =>
            {
                let name = split(driver).0;
                let names = known.iter().map(|known| known.split([' ', '@']).next().unwrap_or_default());
                let meant = similar(name, names).filter(|meant| *meant != name);
                let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
                let known = if known.is_empty() {
                    "no driver is installed".to_owned()
                } else {
                    format!("{meant}available: {}", known.join(", "))
                };
                match can_be_built {
                    BuildSupport::No => format!("{known}; name a file by its path"),
                    BuildSupport::Yes => format!(
                        "{known}; build it with `ddsmark drivers install {driver}`; `ddsmark drivers versions {name}` lists the \
                         versions"
                    ),
                    BuildSupport::Versions(versions) => format!(
                        "{known}; versions of `{name}` to fetch: {}; use an installed one with `ddsmark drivers install \
                         {name} --prefix DIR`",
                        versions.join(", ")
                    ),
                }
            }
            Self::UnknownDriver { .. } => {
                "set DDSMARK_DRIVER_PATH to the directory of the drivers, or name a file".to_owned()
            }
            Self::OtherVersion { driver, .. } => format!(
                "check LD_LIBRARY_PATH and LD_PRELOAD, or rebuild the driver with `ddsmark drivers install {driver}`"
            ),
            Self::NoDriverFile { .. } => "list the drivers with `ddsmark drivers list`".to_owned(),
            Self::Driver { failure, .. } => return failure.hint.clone(),
            Self::Rejected { failure, driver, .. } => match &failure.hint {
                Some(hint) => hint.clone(),
                None => format!("see its features with `ddsmark drivers info {driver}`"),
            },
            Self::DomainInUse(_) => {
                "wait until it has ended, request another domain, or leave `domain` out for a free one"
                    .to_owned()
            }
            Self::IgnoredLibrary { .. } => "name an existing shared library for this architecture".to_owned(),
            Self::PlannedFile { .. } => "restore the file, or start a new experiment".to_owned(),
            Self::Links { hint, .. } => hint.clone(),
            Self::Directory(error) => error.hint(),
            Self::Site(error) => return error.hint(),
            Self::Thread { .. } | Self::Signals { .. } | Self::Stopped => return None,
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
