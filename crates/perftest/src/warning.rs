//! Warnings about options that have no effect, or another one.

use std::fmt;

use serde::Serialize;

/// Warning about an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Name of the option, without its dash.
    pub option: &'static str,
    /// Effect, and its reason.
    pub text: String,
}

impl Warning {
    pub(crate) fn new(option: &'static str, text: impl Into<String>) -> Self {
        Self { option, text: text.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`-{}` {}", self.option, self.text)
    }
}
