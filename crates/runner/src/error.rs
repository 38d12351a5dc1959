//! What stops an experiment, in words.

use std::{io, path::PathBuf};

use results::{DirectoryError, Failure};

use crate::version::split;

/// Why nothing, or nothing more, can be measured.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A name that no driver on the path has.
    #[error("unknown driver `{driver}`")]
    UnknownDriver {
        /// The name.
        driver: String,
        /// Those that there are.
        known: Vec<String>,
        /// The directories that exist and were searched.
        searched: Vec<PathBuf>,
        /// Whether there are sources of a driver of that name.
        can_be_built: bool,
    },
    /// A library of another version than that of its driver's name.
    #[error("driver `{driver}` has loaded version {found} of its middleware")]
    OtherVersion {
        /// As it was named.
        driver: String,
        /// What the library says.
        found: String,
    },
    /// A file that is missing or cannot be read.
    #[error("cannot read driver `{}`: {error}", .file.display())]
    NoDriverFile {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A driver that does not say what it is.
    #[error("cannot use driver `{driver}`: {}", .failure.error)]
    Driver {
        /// As it was named.
        driver: String,
        /// Why.
        failure: Box<Failure>,
    },
    /// No agent program.
    #[error("the agent program `{}` is missing", .file.display())]
    NoAgent {
        /// Where it should be.
        file: PathBuf,
    },
    /// The agent program does not start.
    #[error("cannot start the agent `{}`: {error}", .agent.display())]
    Launch {
        /// The program.
        agent: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The channel to an agent cannot be made.
    #[error("cannot listen to an agent: {error}")]
    Channel {
        /// Why.
        error: io::Error,
    },
    /// The log of an agent cannot be made.
    #[error("cannot open the log of an agent{}: {error}", .file.as_ref().map(|file| format!(" `{}`", file.display())).unwrap_or_default())]
    Log {
        /// The file, if it is one.
        file: Option<PathBuf>,
        /// Why.
        error: io::Error,
    },
    /// A core that agents cannot be pinned to.
    #[error("core {core} cannot be used: it does not exist, or this process may not use it")]
    NoCore {
        /// The core.
        core: u32,
        /// Those that can be used.
        allowed: Vec<u32>,
    },
    /// No such network interface.
    #[error("network interface `{interface}` does not exist")]
    NoInterface {
        /// Its name.
        interface: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The spinners cannot be started.
    #[error("cannot keep the cores awake: {error}")]
    KeepAwake {
        /// Why.
        error: io::Error,
    },
    /// Signals cannot be caught.
    #[error("cannot catch signals: {error}")]
    Signals {
        /// Why.
        error: io::Error,
    },
    /// This program does not know where it lies.
    #[error("cannot tell where this program lies: {error}")]
    Itself {
        /// Why.
        error: io::Error,
    },
    /// A file of times that is not as it was planned.
    #[error("cannot follow the times of `{file}`: {why}")]
    Trace {
        /// The file, as given.
        file: String,
        /// Why.
        why: String,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A signal came before anything was measured.
    #[error("interrupted before anything was measured")]
    Stopped,
}

impl RunnerError {
    /// The next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownDriver { known, driver, can_be_built, .. } if !known.is_empty() || *can_be_built => {
                let known = if known.is_empty() {
                    "no driver is installed".to_owned()
                } else {
                    format!("known drivers are {}", known.join(", "))
                };
                if *can_be_built {
                    let name = split(driver).0;
                    format!(
                        "{known}; `ddsmark drivers install {driver}` fetches and builds it, `ddsmark drivers versions \
                         {name}` lists the versions"
                    )
                } else {
                    format!("{known}; a file is named by its path")
                }
            }
            Self::UnknownDriver { .. } => {
                "no driver was found; set DDSMARK_DRIVER_PATH to the directory that holds them, or name a file"
                    .to_owned()
            }
            Self::OtherVersion { driver, .. } => format!(
                "LD_LIBRARY_PATH and LD_PRELOAD may lead to another library; `ddsmark drivers install {driver}` builds \
                 the driver anew"
            ),
            Self::NoDriverFile { .. } => "`ddsmark drivers list` shows the drivers that can be named".to_owned(),
            Self::Driver { failure, .. } => return failure.hint.clone(),
            Self::NoAgent { .. } => {
                "install `ddsmark-agent` beside `ddsmark`, or set DDSMARK_AGENT to its file".to_owned()
            }
            Self::Launch { .. } => "DDSMARK_AGENT chooses another agent program".to_owned(),
            Self::NoCore { allowed, .. } => format!("cores that can be used are {}", list(allowed)),
            Self::NoInterface { known, .. } => format!("this host has {}", known.join(", ")),
            Self::KeepAwake { .. } => "leave out `--keep-awake`".to_owned(),
            Self::Trace { .. } => "bring the file back as it was, or plan the experiment anew".to_owned(),
            Self::Directory(error) => error.hint(),
            Self::Channel { .. }
            | Self::Log { .. }
            | Self::Signals { .. }
            | Self::Itself { .. }
            | Self::Stopped => return None,
        };
        Some(hint)
    }
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
