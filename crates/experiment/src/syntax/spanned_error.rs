//! Errors of the planner, with their position in the experiment file.

use std::{borrow::Cow, fmt};

use crate::syntax::{
    input_file::FileError,
    one_or_many::{Located, OneOrMany, Span},
    units::MIN_SIZE_BYTES,
};

/// Rejected value, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpannedError {
    /// Cause.
    pub error: PlanError,
    /// Position in the file; empty for a value that is not from a file.
    pub at: Span,
}

impl SpannedError {
    /// Returns the next step for the user.
    #[must_use]
    pub fn hint(&self) -> &str {
        self.error.hint()
    }
}

/// Returns an error with these words, such as that two things contradict each other.
pub(crate) fn contradiction(words: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> PlanError {
    PlanError { words: words.into(), hint: hint.into() }
}

/// Returns the error of a file that the experiment names.
pub(crate) fn of_file(kind: &str, file: &str, fault: &FileError) -> PlanError {
    contradiction(format!("{kind} `{file}`: {fault}"), fault.hint.to_string())
}

/// Returns the reason that two things contradict each other.
pub(crate) fn fault(words: impl Into<String>, hint: &'static str) -> Option<PlanError> {
    Some(contradiction(words, hint))
}

impl<T> Located<T> {
    /// Rejects the value, because it contradicts something.
    pub(crate) fn refused<R>(
        &self,
        words: impl Into<String>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Result<R, SpannedError> {
        Err(contradiction(words, hint).at(self.span()))
    }
}

/// Reason why an experiment cannot be planned, or why a text of it is not valid, and the next step for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct PlanError {
    words: String,
    hint: Cow<'static, str>,
}

impl PlanError {
    /// Returns the next step for the user.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// Adds the position.
    pub(crate) const fn at(self, at: Span) -> SpannedError {
        SpannedError { error: self, at }
    }

    /// Returns the error of an empty list, such as of drivers, sizes or workloads.
    pub(crate) fn nothing(what: &str) -> Self {
        contradiction(format!("no {what} given"), format!("name at least one {}", what.trim_end_matches('s')))
    }

    /// Returns the error of a payload smaller than the sample header.
    pub(crate) fn too_small(size: u64) -> Self {
        contradiction(
            format!("size {size} is too small: every sample begins with a header of {MIN_SIZE_BYTES} bytes"),
            format!("use a size of {MIN_SIZE_BYTES} or more"),
        )
    }

    /// Returns the error of a time out of range.
    pub(crate) fn time(what: &str, ns: u64, range: &str) -> Self {
        contradiction(
            format!("{what} of {} s is out of range: {range}", ns as f64 / 1e9),
            format!("choose a time within {range}"),
        )
    }

    /// Returns the error of a value that is given twice; `what` is its factor or key.
    pub(crate) fn twice(what: &str, value: impl fmt::Display) -> Self {
        contradiction(format!("{what} `{value}` is given twice"), format!("name each {what} once"))
    }

    /// Returns the error of a number above its maximum.
    pub(crate) fn too_many(what: &str, count: usize, max: usize) -> Self {
        contradiction(
            format!("{count} {what} are more than {max}"),
            "use fewer values, or exclude more cells",
        )
    }
}

/// Returns a hint with the names that are known.
pub(crate) fn available(known: &[String]) -> String {
    format!("available: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })
}

/// Rejects a value that is given twice.
pub(crate) fn all_distinct<T: PartialEq + fmt::Display>(
    what: &'static str,
    values: &OneOrMany<T>,
) -> Result<(), SpannedError> {
    for (index, value) in values.0.iter().enumerate() {
        if values.0[..index].contains(value) {
            return Err(PlanError::twice(what, value.get()).at(value.span()));
        }
    }
    Ok(())
}
