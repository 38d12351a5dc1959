//! What stops an installation, in words.

use std::{io, path::PathBuf, time::Duration};

use crate::{RunnerError, version::split};

/// Why a driver is not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// No directory with sources.
    #[error("there are no sources of drivers{}", .directory.as_ref().map(|place| format!(" in `{}`", place.display())).unwrap_or_default())]
    NoSources {
        /// The directory that was named.
        directory: Option<PathBuf>,
    },
    /// A name that no sources have.
    #[error("there are no sources of a driver `{driver}` in `{}`", .directory.display())]
    NoSource {
        /// The name.
        driver: String,
        /// Where they were looked for.
        directory: PathBuf,
        /// Those that there are.
        known: Vec<String>,
    },
    /// What stands behind the `@` is no version.
    #[error("`{driver}` names no version")]
    NoNumbers {
        /// As it was asked for.
        driver: String,
    },
    /// A version that cannot be fetched.
    #[error("`{driver}` cannot be fetched: there is no such version")]
    NoVersion {
        /// The name and the version.
        driver: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A version of a driver that has none.
    #[error("driver `{driver}` has no versions: no middleware is fetched for it")]
    Unversioned {
        /// Its name.
        driver: String,
    },
    /// A prefix for a driver that is not built with cmake.
    #[error("driver `{driver}` is built by cargo, which knows no prefix")]
    NoPrefix {
        /// Its name.
        driver: String,
    },
    /// A prefix that is no directory.
    #[error("there is no directory `{}`", .prefix.display())]
    MissingPrefix {
        /// The directory.
        prefix: PathBuf,
    },
    /// A library whose version is unknown, or another one than was asked for.
    #[error("what is installed in `{}` says that its version is {found}", .prefix.display())]
    PrefixVersion {
        /// Where it is.
        prefix: PathBuf,
        /// What it says.
        found: String,
    },
    /// A licence that nobody accepted.
    #[error("{driver} comes under a licence that you must accept first: {licence}")]
    Licence {
        /// The name and the version.
        driver: String,
        /// The licence.
        licence: String,
    },
    /// The list of versions is none.
    #[error("`{}` lists its versions in a way that cannot be read: {line:?}", .script.display())]
    Versions {
        /// The script.
        script: PathBuf,
        /// The line.
        line: String,
    },
    /// A step that failed.
    #[error("cannot install driver `{driver}`: {step} {how}")]
    Step {
        /// The name and the version.
        driver: String,
        /// The script.
        step: String,
        /// What became of it.
        how: String,
    },
    /// A step that took too long.
    #[error("cannot install driver `{driver}`: {step} was not done within {} s", .limit.as_secs_f64())]
    OutOfTime {
        /// The name and the version.
        driver: String,
        /// The script.
        step: String,
        /// What it had.
        limit: Duration,
    },
    /// The same driver is being installed.
    #[error("driver `{driver}` is being installed by another process")]
    Busy {
        /// The name and the version.
        driver: String,
    },
    /// The driver's directory cannot be written to.
    #[error("cannot write to `{}`: {error}", .place.display())]
    Place {
        /// The file or directory.
        place: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A script cannot be started.
    #[error("cannot run `{}`: {error}", .script.display())]
    Start {
        /// The script.
        script: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What was built is no driver that can be used.
    #[error("what was built is not installed: {0}")]
    Unusable(RunnerError),
    /// A signal came first.
    #[error("interrupted: nothing was installed")]
    Stopped,
}

impl InstallError {
    /// The next step.
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
