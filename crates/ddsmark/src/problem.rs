//! Errors in words, and how the program ends.

use std::{fmt, process::ExitCode};

use experiment::{Fault, PlanError};
use results::{DirectoryError, Document, RunState, State};
use runner::{InstallError, RunnerError};

/// How the program ends; `EXIT_STATUS` of the help says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Done = 0,
    /// A driver breaks its contract, or a stated criterion is broken.
    Broken = 1,
    /// Asked for what cannot be.
    WrongUse = 2,
    /// A driver, the host or an agent failed.
    Failed = 3,
    /// Measured, but figures contradict each other, or cannot tell whether a criterion is kept.
    Invalid = 4,
    /// Stopped by a signal.
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

impl Status {
    /// What a measurement ends with. What is worse hides what is not.
    pub fn of(document: &Document) -> Self {
        let any = |state| document.cells.iter().flat_map(|cell| &cell.runs).any(|run| run.state == state);
        if document.state == State::Interrupted {
            Self::Interrupted
        } else if any(RunState::Failed) {
            Self::Failed
        } else if any(RunState::Invalid) {
            Self::Invalid
        } else {
            Self::Done
        }
    }
}

/// Why the program ends early: the thing and the cause, and the next step.
#[derive(Debug)]
pub struct Problem {
    /// How it ends.
    pub status: Status,
    error: String,
    details: Vec<String>,
    hint: Option<String>,
}

impl Problem {
    /// With the next step.
    pub fn new(status: Status, error: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self { status, error: error.to_string(), details: Vec::new(), hint: Some(hint.into()) }
    }

    /// With the variant that it is about.
    pub fn about(self, variant: &str) -> Self {
        Self { error: format!("variant {variant}: {}", self.error), ..self }
    }

    /// With lines between the error and the next step.
    pub fn with_details(self, details: Vec<String>) -> Self {
        Self { details, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.error)?;
        for line in &self.details {
            write!(f, "\n  | {line}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        Self::new(Status::WrongUse, &error, error.hint())
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let Fault { error, excerpt, hint } = fault;
        Self { status: Status::WrongUse, error, details: excerpt, hint: Some(hint) }
    }
}

impl From<DirectoryError> for Problem {
    fn from(error: DirectoryError) -> Self {
        let status = match &error {
            DirectoryError::NotEmpty { .. }
            | DirectoryError::Read { .. }
            | DirectoryError::NoResult { .. }
            | DirectoryError::Complete { .. }
            | DirectoryError::OtherVersion { .. }
            | DirectoryError::InUse { .. }
            | DirectoryError::Newer { .. } => Status::WrongUse,
            _ => Status::Failed,
        };
        Self::new(status, &error, error.hint())
    }
}

impl From<RunnerError> for Problem {
    fn from(error: RunnerError) -> Self {
        let hint = error.hint();
        let text = error.to_string();
        let status = match &error {
            RunnerError::UnknownDriver { .. }
            | RunnerError::NoDriverFile { .. }
            | RunnerError::NoCore { .. }
            | RunnerError::NoInterface { .. }
            | RunnerError::IgnoredLibrary { .. }
            | RunnerError::Refused { .. } => Status::WrongUse,
            RunnerError::Stopped => Status::Interrupted,
            _ => Status::Failed,
        };
        let details = match error {
            RunnerError::Directory(error) => return error.into(),
            RunnerError::Driver { failure, .. } | RunnerError::Refused { failure, .. } => failure.last_words,
            _ => Vec::new(),
        };
        Self { status, error: text, details, hint }
    }
}

impl From<InstallError> for Problem {
    fn from(error: InstallError) -> Self {
        let status = match &error {
            InstallError::NoSources { .. }
            | InstallError::NoSource { .. }
            | InstallError::NoNumbers { .. }
            | InstallError::NoVersion { .. }
            | InstallError::Unversioned { .. }
            | InstallError::NoPrefix { .. }
            | InstallError::MissingPrefix { .. }
            | InstallError::PrefixVersion { .. }
            | InstallError::Licence { .. } => Status::WrongUse,
            InstallError::Stopped => Status::Interrupted,
            _ => Status::Failed,
        };
        let (text, hint) = (error.to_string(), error.hint());
        let details = match error {
            InstallError::Unusable(RunnerError::Driver { failure, .. }) => failure.last_words,
            _ => Vec::new(),
        };
        Self { status, error: text, details, hint }
    }
}
