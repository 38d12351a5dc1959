//! Facts about a result: what was measured, where, by what design, and how noisy the host was.

use std::fmt;

/// Fact with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Name, as in `Design`.
    pub name: String,
    /// Text.
    pub text: String,
    /// Whether it limits what the result says.
    pub is_warning: bool,
}

impl Fact {
    /// Creates a fact.
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), is_warning: false }
    }

    /// Creates a fact that limits what the result says.
    pub(crate) fn warning(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::new(name, text) }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.text)
    }
}
