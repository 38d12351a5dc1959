//! Errors: what is wrong, where, and the next step.

use std::fmt;

/// Position in a text; both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

/// Place of an error in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Whole source.
    Whole,
    /// Position in a text.
    Text(Position),
    /// Byte of a file, from 0.
    Byte(u64),
}

/// Reason why a source cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Name of the file, if it is known.
    pub file: Option<String>,
    /// Place.
    pub place: Place,
    /// Item and cause.
    pub message: String,
    /// Next step.
    pub hint: String,
}

impl ImportError {
    /// Creates an error about a whole source.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { file: None, place: Place::Whole, message: message.into(), hint: hint.into() }
    }

    /// Sets the position in a text.
    #[must_use]
    pub fn at(self, position: Position) -> Self {
        Self { place: Place::Text(position), ..self }
    }

    /// Sets the byte of a file.
    #[must_use]
    pub fn at_byte(self, byte: u64) -> Self {
        Self { place: Place::Byte(byte), ..self }
    }

    /// Sets the name of the file, unless there is one.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        Self { file: self.file.or_else(|| Some(file.to_owned())), ..self }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        match self.place {
            Place::Whole if self.file.is_some() => f.write_str(" ")?,
            Place::Whole => {}
            Place::Text(Position { line, column }) => write!(f, "{line}:{column}: ")?,
            Place::Byte(byte) => {
                let space = if self.file.is_some() { " " } else { "" };
                write!(f, "{space}byte {byte}: ")?;
            }
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ImportError {}
