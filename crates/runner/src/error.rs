//! What stops an experiment, in words.

use std::{io, path::PathBuf};

use results::{DirectoryError, Failure};

use crate::version::split;

/// Whether a driver that is not installed can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanBeBuilt {
    /// There are no sources of that name.
    No,
    /// It can.
    Yes,
    /// These versions of it can, and not the one that was named.
    Versions(Vec<String>),
}

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
        /// Whether it can be built here.
        can_be_built: CanBeBuilt,
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
    /// A driver that will not open what a cell asks for, whenever it is asked.
    #[error("driver `{driver}` refuses {}: {}", of_cells(cell, *others), failure.error)]
    Refused {
        /// Of a pair the one at fault, as it was named.
        driver: String,
        /// Id of the cell.
        cell: String,
        /// How many other cells ask for the same.
        others: usize,
        /// Why.
        failure: Box<Failure>,
    },
    /// A library of `LD_PRELOAD` that the dynamic linker ignores.
    #[error("the agents of cell `{cell}` run without a library of LD_PRELOAD: {line}")]
    IgnoredLibrary {
        /// Id of the cell.
        cell: String,
        /// Message of the dynamic linker.
        line: String,
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
            Self::UnknownDriver { known, driver, can_be_built, .. }
                if !known.is_empty() || *can_be_built != CanBeBuilt::No =>
            {
                let known = if known.is_empty() {
                    "no driver is installed".to_owned()
                } else {
                    format!("known drivers are {}", known.join(", "))
                };
                let name = split(driver).0;
                match can_be_built {
                    CanBeBuilt::No => format!("{known}; a file is named by its path"),
                    CanBeBuilt::Yes => format!(
                        "{known}; `ddsmark drivers install {driver}` fetches and builds it, `ddsmark drivers versions \
                         {name}` lists the versions"
                    ),
                    CanBeBuilt::Versions(versions) => format!(
                        "{known}; versions of `{name}` that can be fetched are {}, and one that you have is built against \
                         with `ddsmark drivers install {name} --prefix DIR`",
                        versions.join(", ")
                    ),
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
            Self::Refused { failure: said, driver, .. } => match &said.hint {
                Some(hint) => hint.clone(),
                None => format!("`ddsmark drivers info {driver}` shows what it can do"),
            },
            Self::IgnoredLibrary { .. } => {
                "name a shared library that exists, and that is built for this machine".to_owned()
            }
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

/// What a refusal is about.
fn of_cells(cell: &str, others: usize) -> String {
    match others {
        0 => format!("what cell `{cell}` asks for"),
        1 => format!("what cell `{cell}` and another one ask for"),
        others => format!("what cell `{cell}` and {others} others ask for"),
    }
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
