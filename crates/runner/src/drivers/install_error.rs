//! Errors that stop an installation.

use std::{io, path::PathBuf, time::Duration};

use crate::{RunnerError, version::split};

/// Error that prevents the installation of a driver.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Missing directory of driver sources.
    #[error("there are no sources of drivers{}", .directory.as_ref().map(|place| format!(" in `{}`", place.display())).unwrap_or_default())]
    NoSources {
        /// Directory, if one was given.
        directory: Option<PathBuf>,
    },
    /// Driver without sources.
    #[error("there are no sources of a driver `{driver}` in `{}`", .directory.display())]
    NoSource {
        /// Requested driver.
        driver: String,
        /// Directory that was searched.
        directory: PathBuf,
        /// Drivers with sources.
        known: Vec<String>,
    },
    /// Invalid version after the `@`.
    #[error("`{driver}` names no version")]
    NoNumbers {
        /// Driver, as requested.
        driver: String,
    },
    /// Version that cannot be fetched.
    #[error("`{driver}` cannot be fetched: there is no such version")]
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
    #[error("driver `{driver}` is built by cargo, which knows no prefix")]
    NoPrefix {
        /// Name of the driver.
        driver: String,
    },
    /// Prefix that is not a directory.
    #[error("there is no directory `{}`", .prefix.display())]
    MissingPrefix {
        /// Given prefix.
        prefix: PathBuf,
    },
    /// Middleware in a prefix whose version is unknown or differs from the requested one.
    #[error("what is installed in `{}` says that its version is {found}", .prefix.display())]
    PrefixVersion {
        /// Given prefix.
        prefix: PathBuf,
        /// Version text that the library reports.
        found: String,
    },
    /// Licence that the user has not accepted.
    #[error("{driver} comes under a licence that you must accept first: {licence}")]
    Licence {
        /// Name and version of the driver.
        driver: String,
        /// Licence to accept.
        licence: String,
    },
    /// Invalid line in the list of versions.
    #[error("`{}` lists its versions in a way that cannot be read: {line:?}", .script.display())]
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
    #[error("cannot install driver `{driver}`: {step} was not done within {} s", .limit.as_secs_f64())]
    OutOfTime {
        /// Name and version of the driver.
        driver: String,
        /// Script of the step.
        step: String,
        /// Time limit.
        limit: Duration,
    },
    /// Concurrent installation of the same driver.
    #[error("driver `{driver}` is being installed by another process")]
    Busy {
        /// Name and version of the driver.
        driver: String,
    },
    /// File or directory that cannot be written.
    #[error("cannot write to `{}`: {error}", .place.display())]
    Place {
        /// Path of the file or directory.
        place: PathBuf,
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
    #[error("what was built is not installed: {0}")]
    Unusable(RunnerError),
    /// Signal before the installation was complete.
    #[error("interrupted: nothing was installed")]
    Stopped,
}

impl InstallError {
    /// Returns a suggested action.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSources { .. } => {
                "name the directory that holds them with `--sources`, or in DDSMARK_DRIVER_SOURCES".to_owned()
            }
            Self::NoSource { known, .. } if known.is_empty() => "there are none at all".to_owned(),
            Self::NoSource { known, .. } => format!("there are those of {}", known.join(", ")),
            Self::NoVersion { driver, known } => format!(
                "versions are {}; one that you have is built against with `ddsmark drivers install {} --prefix DIR`",
                known.join(", "),
                split(driver).0
            ),
            Self::NoNumbers { .. } => "a version is numbers with dots between them, such as 2.14".to_owned(),
            Self::Unversioned { driver } => format!("`ddsmark drivers install {driver}` builds it"),
            Self::NoPrefix { .. } => "leave `--prefix` out".to_owned(),
            Self::MissingPrefix { .. } => {
                "name the directory that the middleware is installed in, such as /opt/ros/jazzy".to_owned()
            }
            Self::PrefixVersion { found, .. } => {
                format!("name what it has behind the driver's `@`, or nothing: it says {found}")
            }
            Self::Licence { .. } => "read it; where you accept it, add `--accept-licence`".to_owned(),
            Self::Versions { .. } => {
                "one line a version: VERSION, ORIGIN, LICENCE, and `open` or `accept`, with tabs between"
                    .to_owned()
            }
            Self::Step { .. } => "what it said stands above".to_owned(),
            Self::OutOfTime { .. } => "give it longer: `--limit 2h`".to_owned(),
            Self::Busy { .. } => "wait for that one".to_owned(),
            Self::Place { .. } => "set DDSMARK_DRIVER_PATH to a directory that you may write to".to_owned(),
            Self::Unusable(error) => return error.hint(),
            Self::Start { .. } | Self::Stopped => return None,
        };
        Some(hint)
    }
}
