//! Errors that stop an installation.

use std::{io, path::PathBuf, time::Duration};

use crate::{error::RunnerError, version::split};

/// Error that prevents the installation of a driver.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Missing directory of driver sources.
    #[error("sources of drivers not found{}", .directory.as_ref().map(|directory| format!(" in `{}`", directory.display())).unwrap_or_default())]
    NoSources {
        /// Directory, if one was given.
        directory: Option<PathBuf>,
    },
    /// Driver without sources.
    #[error("sources of driver `{driver}` not found in `{}`", .directory.display())]
    NoSource {
        /// Requested driver.
        driver: String,
        /// Directory that was searched.
        directory: PathBuf,
        /// Drivers with sources.
        known: Vec<String>,
    },
    /// Invalid version after the `@`.
    #[error("`{driver}` has an invalid version")]
    NoNumbers {
        /// Driver, as requested.
        driver: String,
    },
    /// Version that cannot be fetched.
    #[error("`{driver}` cannot be fetched: version not found")]
    NoVersion {
        /// Requested driver with its version.
        driver: String,
        /// Versions that can be fetched.
        known: Vec<String>,
    },
    /// Version requested of an unversioned driver.
    #[error("driver `{driver}` has no versions: no middleware is fetched for it")]
    Unversioned {
        /// Name of the driver.
        driver: String,
    },
    /// Prefix given for a driver that cmake does not build.
    #[error("driver `{driver}` is built by cargo and has no prefix")]
    NoPrefix {
        /// Name of the driver.
        driver: String,
    },
    /// Prefix that is not a directory.
    #[error("directory `{}` not found", .prefix.display())]
    MissingPrefix {
        /// Given prefix.
        prefix: PathBuf,
    },
    /// Middleware in a prefix whose version is unknown or differs from the requested one.
    #[error("the middleware in `{}` reports version {found}", .prefix.display())]
    PrefixVersion {
        /// Given prefix.
        prefix: PathBuf,
        /// Version text that the library reports.
        found: String,
    },
    /// Licence that the user has not accepted.
    #[error("{driver} has a licence that you must accept first: {licence}")]
    Licence {
        /// Name and version of the driver.
        driver: String,
        /// Licence to accept.
        licence: String,
    },
    /// Invalid line in the list of versions.
    #[error("`{}` printed an invalid version line: {line:?}", .script.display())]
    Versions {
        /// Script that printed it.
        script: PathBuf,
        /// Invalid line.
        line: String,
    },
    /// Failed step.
    #[error("cannot install driver `{driver}`: {step} {how}")]
    Step {
        /// Name and version of the driver.
        driver: String,
        /// Script of the step.
        step: String,
        /// Description of the failure.
        how: String,
    },
    /// Step that exceeded its time limit.
    #[error("cannot install driver `{driver}`: {step} timed out after {} s", .limit.as_secs_f64())]
    OutOfTime {
        /// Name and version of the driver.
        driver: String,
        /// Script of the step.
        step: String,
        /// Time limit.
        limit: Duration,
    },
    /// Failed step on a file system that is almost full.
    #[error("cannot install driver `{driver}`: only {} KiB are free in `{}`", free / 1024, .directory.display())]
    NoSpace {
        /// Name and version of the driver.
        driver: String,
        /// Directory on the file system.
        directory: PathBuf,
        /// Free space in bytes.
        free: u64,
    },
    /// Concurrent installation of the same driver.
    #[error("driver `{driver}` is being installed by another process")]
    Busy {
        /// Name and version of the driver.
        driver: String,
    },
    /// File or directory that cannot be written.
    #[error("cannot write to `{}`: {error}", .directory.display())]
    Directory {
        /// Path of the file or directory.
        directory: PathBuf,
        /// Cause.
        error: io::Error,
    },
    /// Script that cannot be started.
    #[error("cannot run `{}`: {error}", .script.display())]
    Start {
        /// Path of the script.
        script: PathBuf,
        /// Cause.
        error: io::Error,
    },
    /// Built library that is not a usable driver.
    #[error("the new driver was not installed: {0}")]
    Unusable(RunnerError),
    /// Signal before the installation was complete.
    #[error("interrupted: nothing was installed")]
    Stopped,
}

/// Hint for a file system without free space.
const FULL: &str = "free some space, or set DDSMARK_DRIVER_PATH to a directory on another file system";

impl InstallError {
    /// Returns a suggested action.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSources { .. } => "name `drivers` of a ddsmark source tree with `--sources`, or set DDSMARK_DRIVER_SOURCES to it"
                .to_owned(),
            Self::NoSource { known, .. } if known.is_empty() => "available: none".to_owned(),
            Self::NoSource { known, .. } => format!("available: {}", known.join(", ")),
            Self::NoVersion { driver, known } => format!(
                "available: {}; use an installed one with `ddsmark drivers install {} --prefix DIR`",
                known.join(", "),
                split(driver).0
            ),
            Self::NoNumbers { .. } => "write numbers separated by dots, such as 2.14".to_owned(),
            Self::Unversioned { driver } => format!("build it with `ddsmark drivers install {driver}`"),
            Self::NoPrefix { .. } => "remove `--prefix`".to_owned(),
            Self::MissingPrefix { .. } => {
                "name the directory of the installed middleware, such as /opt/ros/jazzy".to_owned()
            }
            Self::PrefixVersion { found, .. } => {
                format!("name what it has behind the driver's `@`, or nothing: it says {found}")
            }
            Self::Licence { .. } => "add `--accept-licence` to accept it".to_owned(),
            Self::Versions { .. } => {
                "one line a version: VERSION, ORIGIN, LICENCE, and `open` or `accept`, with tabs between"
                    .to_owned()
            }
            Self::Step { .. } => "see its output above".to_owned(),
            Self::NoSpace { .. } => FULL.to_owned(),
            Self::Directory { error, .. } if error.kind() == io::ErrorKind::StorageFull => FULL.to_owned(),
            Self::OutOfTime { .. } => "increase the limit: `--limit 2h`".to_owned(),
            Self::Busy { .. } => "wait until it has ended".to_owned(),
            Self::Directory { .. } => "set DDSMARK_DRIVER_PATH to a writable directory".to_owned(),
            Self::Start { .. } => "check that `bash` and `sh` are installed, and that the script is executable".to_owned(),
            Self::Unusable(error) => return error.hint(),
            Self::Stopped => return None,
        };
        Some(hint)
    }
}
