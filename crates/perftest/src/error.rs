//! Errors of options: the item, the cause, and the next step.

use std::fmt;

use crate::{generation::Generation, table::Range};

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
    pub fn hint(&self) -> String {
        self.cause.hint()
    }
}

/// Cause of an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// Argument that is not an option.
    #[error("is not an option")]
    Stray,
    /// Name that no option begins with.
    #[error("is not an option of generation {generation}")]
    Unknown {
        /// Generation.
        generation: Generation,
        /// Names of similar options.
        similar: Vec<&'static str>,
    },
    /// Name that several options begin with.
    #[error("is short for {} options", .candidates.len())]
    Ambiguous {
        /// Their names.
        candidates: Vec<&'static str>,
    },
    /// Option of the other generation.
    #[error("is an option of generation {theirs}, not of {generation}")]
    OtherGeneration {
        /// Generation of the process.
        generation: Generation,
        /// Generation of the option.
        theirs: Generation,
        /// Next step that keeps the generation.
        instead: &'static str,
    },
    /// Option of another release, that neither generation has.
    #[error("is an option of {of}, not of generation {generation}")]
    OtherRelease {
        /// Generation of the process.
        generation: Generation,
        /// Release, language or fork that has it.
        of: &'static str,
        /// Next step.
        instead: &'static str,
    },
    /// Option without its value.
    #[error("has no value")]
    NoValue {
        /// Form of the option.
        usage: String,
    },
    /// Value of another kind.
    #[error("is not valid")]
    Invalid {
        /// Expected value.
        expected: String,
    },
    /// Number outside of the range.
    #[error("is out of range")]
    OutOfRange {
        /// Range.
        range: Range,
    },
    /// Option or value that ddsmark does not honour.
    #[error("is not supported: {reason}")]
    Unsupported {
        /// Reason.
        reason: String,
        /// Next step.
        instead: String,
    },
    /// Options that contradict each other.
    #[error("contradicts {with}: {reason}")]
    Contradiction {
        /// The other option, or what is missing.
        with: &'static str,
        /// Reason.
        reason: String,
        /// Next step.
        instead: String,
    },
    /// Line of a file that is not an entry.
    #[error("is not an entry")]
    NotAnEntry,
    /// Key that no option has.
    #[error("is not a key of perftest.ini")]
    UnknownKey {
        /// Similar keys.
        similar: Vec<&'static str>,
        /// Name of the option, if it is one that has no key.
        option: Option<&'static str>,
    },
    /// Key or option with two values.
    #[error("has a value already, in line {first}")]
    Repeated {
        /// Line of the first value.
        first: usize,
    },
}

impl Cause {
    fn hint(&self) -> String {
        match self {
            Self::Stray => "an option begins with one `-`, and has at most one value".to_owned(),
            Self::Unknown { similar, .. } if similar.is_empty() => "`-help` lists the options".to_owned(),
            Self::Unknown { similar, .. } => format!("similar: {}", dashed(similar)),
            Self::Ambiguous { candidates } => format!("use one of: {}", dashed(candidates)),
            Self::OtherGeneration { theirs, instead: "", .. } => {
                format!("use `-compat {theirs}`, or leave it out")
            }
            Self::OtherGeneration { theirs, instead, .. } => format!("{instead}, or add `-compat {theirs}`"),
            Self::OtherRelease { instead, .. } => (*instead).to_owned(),
            Self::NoValue { usage } => format!("use `{usage}`"),
            Self::Invalid { expected } => format!("use {expected}"),
            Self::OutOfRange { range } => format!("use {range}"),
            Self::Unsupported { instead, .. } | Self::Contradiction { instead, .. } => instead.clone(),
            Self::NotAnEntry => "use `KEY = VALUE`; comments start with `#` or `;`".to_owned(),
            Self::UnknownKey { option: Some(option), .. } => {
                format!("use `-{option}` on the command line: it has no key")
            }
            Self::UnknownKey { similar, .. } if similar.is_empty() => {
                "the reference of `ddsmark perftest` lists the keys".to_owned()
            }
            Self::UnknownKey { similar, .. } => format!("similar: {}", similar.join(", ")),
            Self::Repeated { .. } => "remove one of the lines".to_owned(),
        }
    }
}

fn dashed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("-{name}")).collect();
    names.join(", ")
}
