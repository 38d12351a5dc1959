//! Output of results.

use std::path::Path;

use report::{Options, ScreenOptions};
use results::ResultDocument;

use crate::cli::{cli_error::CliError, output};

/// Form in which a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// First screen: one table, findings, warnings and next steps.
    Screen,
    /// All tables.
    Full,
    /// JSON.
    Json,
}

impl Form {
    /// Returns the form that flags select; JSON if both are set.
    pub const fn from_flags(full: bool, json: bool) -> Self {
        match (full, json) {
            (_, true) => Self::Json,
            (true, false) => Self::Full,
            (false, false) => Self::Screen,
        }
    }
}

/// Prints a result from this directory.
pub fn print(document: &ResultDocument, directory: &Path, form: Form) -> Result<(), CliError> {
    let width = output::width();
    match form {
        Form::Json => output::print(&report::json(document)),
        Form::Full => output::print(&report::terminal(document, Options { width })),
        Form::Screen => {
            let directory = directory.to_string_lossy();
            let (colour, directory) = (output::has_colour(), Some(&*directory));
            output::write(&report::first_screen(document, ScreenOptions { width, colour, directory }))
        }
    }
}
