//! Errors of options: the item, the cause, and the next step.

use std::fmt;

/// Source of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The command line.
    CommandLine,
    /// The variable `DDSMARK_PERFTEST_COMPAT`.
    Environment,
    /// A line of `perftest.ini`, from 1.
    File {
        /// Path as given.
        path: Box<str>,
        /// Number of the line.
        line: usize,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => f.write_str("command line"),
            Self::Environment => f.write_str("environment"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
        }
    }
}

/// Error in the options of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerftestError {
    /// Source of the item.
    pub source: Source,
    /// Option and value as typed, or line of the file.
    pub item: String,
    /// Cause.
    pub cause: Cause,
}

impl fmt::Display for PerftestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` {}", self.source, self.item, self.cause)
    }
}

impl std::error::Error for PerftestError {}

impl PerftestError {
    /// Returns the next step.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.cause.hint
    }
}

/// Cause of an error, as the text after the item, and the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct Cause {
    words: String,
    hint: String,
}

impl Cause {
    /// Creates a cause.
    pub(crate) fn new(words: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { words: words.into(), hint: hint.into() }
    }

    /// Creates the cause of an argument that is not an option.
    pub(crate) fn stray() -> Self {
        Self::new("is not an option", "an option begins with one `-`, and has at most one value")
    }

    /// Creates the cause of a line of a file that is not an entry.
    pub(crate) fn not_an_entry() -> Self {
        Self::new("is not an entry", "use `KEY = VALUE`; comments start with `#` or `;`")
    }

    /// Creates the cause of a value of another kind.
    pub(crate) fn invalid(expected: &str) -> Self {
        Self::new("is not valid", format!("use {expected}"))
    }

    /// Creates the cause of an option or value that ddsmark does not honour.
    pub(crate) fn unsupported(reason: &str, instead: impl Into<String>) -> Self {
        Self::new(format!("is not supported: {reason}"), instead)
    }

    /// Creates the cause of options that contradict each other. `with`: the other option, or what is missing.
    pub(crate) fn contradiction(with: &str, reason: &str, instead: &str) -> Self {
        Self::new(format!("contradicts {with}: {reason}"), instead)
    }
}
