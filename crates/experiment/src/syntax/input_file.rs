//! Files that an experiment names: traces and QoS files. The planner opens no file.

use std::{borrow::Cow, collections::BTreeMap, fmt};

/// Content of a file that an experiment names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Path of the file.
    pub path: String,
    /// Text of the file.
    pub text: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Environment variables that a QoS file names as `$(NAME)`, as far as they are set.
    pub variables: BTreeMap<String, String>,
    /// QoS files that are loaded before it, whose profiles it may build on.
    pub before: Vec<InputFile>,
}

impl InputFile {
    /// Creates the content of a file that names no variable and builds on no other file.
    #[must_use]
    pub const fn new(path: String, text: String, sha256: String) -> Self {
        Self { path, text, sha256, variables: BTreeMap::new(), before: Vec::new() }
    }
}

/// Error in a file that an experiment names, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Line, from 1; 0 if the error concerns the whole file.
    pub line: usize,
    /// Column, from 1; 0 if the error concerns the whole file.
    pub column: usize,
    /// Error text.
    pub words: String,
    /// Hint for the user.
    pub hint: Cow<'static, str>,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        f.write_str(&self.words)
    }
}

impl std::error::Error for FileError {}
