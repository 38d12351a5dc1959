//! Errors for the user, and exit statuses.

use std::{fmt, process::ExitCode};

use experiment::{Diagnostic, PlanError};
use host::SiteError;
use remote_hosts::StartError;
use results::{DirectoryError, ResultDocument, RunState, State};
use runner::{InstallError, RunnerError};

/// Result of a part of a command.
pub type Result<T, E = CliError> = std::result::Result<T, E>;

/// Exit status; `EXIT_STATUS` of the help documents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Success.
    Done = 0,
    /// A driver violates its contract, a criterion failed, or a selftest shows a difference.
    Broken = 1,
    /// Invalid arguments; nothing was measured.
    WrongUse = 2,
    /// A driver, the host or an agent failed.
    Failed = 3,
    /// A consistency check failed, or a criterion is inconclusive.
    Invalid = 4,
    /// Interrupted by a signal.
    Interrupted = 130,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

impl ExitStatus {
    /// Returns the exit status of a measurement: interrupted, else that of the most severe state of its runs.
    pub fn from_document(document: &ResultDocument) -> Self {
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

/// Error that ends the program: what failed and why, and the next step.
#[derive(Debug)]
pub struct CliError {
    /// Exit status.
    pub status: ExitStatus,
    error: String,
    details: Vec<String>,
    hint: Option<String>,
}

impl CliError {
    /// Creates an error with a hint.
    pub fn new(status: ExitStatus, error: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self { status, error: error.to_string(), details: Vec::new(), hint: Some(hint.into()) }
    }

    /// Creates the error of invalid arguments.
    pub fn usage(error: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::new(ExitStatus::WrongUse, error, hint)
    }

    /// Creates the error of a driver, a host or an agent that failed.
    pub fn failed(error: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::new(ExitStatus::Failed, error, hint)
    }

    /// Returns what failed and why, without the hint.
    pub fn text(&self) -> &str {
        &self.error
    }

    /// Returns the next step.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Changes the hint.
    pub fn with_hint(self, change: impl Fn(&str) -> String) -> Self {
        Self { hint: self.hint.as_deref().map(change), ..self }
    }

    /// Adds the variant that the error concerns.
    pub fn about(self, variant: &str) -> Self {
        Self { error: format!("variant {variant}: {}", self.error), ..self }
    }

    /// Adds the host that the error concerns.
    pub fn on_host(self, host: &str) -> Self {
        Self { error: format!("host `{host}`: {}", self.error), ..self }
    }

    /// Changes the words of the error and of its details, and those of the hint.
    pub fn reworded(self, words: impl Fn(&str) -> String, hint: impl FnOnce(&str) -> String) -> Self {
        Self {
            status: self.status,
            error: words(&self.error),
            details: self.details.iter().map(|line| words(line)).collect(),
            hint: self.hint.as_deref().map(hint),
        }
    }

    /// Adds lines between the error and the hint.
    pub fn with_details(self, details: Vec<String>) -> Self {
        Self { details, ..self }
    }
}

impl fmt::Display for CliError {
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

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        Self::usage(&error, error.hint())
    }
}

impl From<Diagnostic> for CliError {
    fn from(fault: Diagnostic) -> Self {
        let Diagnostic { error, excerpt, hint } = fault;
        Self { status: ExitStatus::WrongUse, error, details: excerpt, hint: Some(hint) }
    }
}

impl From<DirectoryError> for CliError {
    fn from(error: DirectoryError) -> Self {
        let status = match &error {
            DirectoryError::NotEmpty { .. }
            | DirectoryError::Read { .. }
            | DirectoryError::NoResult { .. }
            | DirectoryError::Complete { .. }
            | DirectoryError::NotStarted { .. }
            | DirectoryError::InUse { .. }
            | DirectoryError::OtherVersion { .. } => ExitStatus::WrongUse,
            _ => ExitStatus::Failed,
        };
        Self::new(status, &error, error.hint())
    }
}

impl From<RunnerError> for CliError {
    fn from(error: RunnerError) -> Self {
        let hint = error.hint();
        let text = error.to_string();
        let status = match &error {
            RunnerError::WrongUse { .. }
            | RunnerError::Site(SiteError::NotFound { .. })
            | RunnerError::Rejected { .. } => ExitStatus::WrongUse,
            RunnerError::Stopped => ExitStatus::Interrupted,
            _ => ExitStatus::Failed,
        };
        let details = match error {
            RunnerError::Directory(error) => return error.into(),
            RunnerError::Driver { failure, .. } | RunnerError::Rejected { failure, .. } => {
                failure.last_log_lines
            }
            _ => Vec::new(),
        };
        Self { status, error: text, details, hint }
    }
}

impl From<SiteError> for CliError {
    fn from(error: SiteError) -> Self {
        RunnerError::from(error).into()
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        let status = if error.is_not_allocated { ExitStatus::WrongUse } else { ExitStatus::Failed };
        let hint = error.hint();
        Self { status, error: error.to_string(), details: Vec::new(), hint }
    }
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        let status = match &error {
            InstallError::Rejected { .. } => ExitStatus::WrongUse,
            InstallError::Stopped => ExitStatus::Interrupted,
            _ => ExitStatus::Failed,
        };
        let (text, hint) = (error.to_string(), error.hint());
        let details = match error {
            InstallError::Unusable(RunnerError::Driver { failure, .. }) => failure.last_log_lines,
            _ => Vec::new(),
        };
        Self { status, error: text, details, hint }
    }
}
