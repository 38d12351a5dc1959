//! Output of results.

use std::path::Path;

use report::ScreenOptions;
use results::ResultDocument;

use crate::cli::{cli_error::Result, output, result_args::FormatArgs};

/// Form in which a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// First screen: one table, findings, warnings and next steps.
    Screen,
    /// All tables.
    Full,
    /// JSON.
    Json,
    /// CSV, a row per run and metric.
    Csv,
    /// JSON Lines, an object per run and metric.
    JsonLines,
    /// Markdown.
    Markdown,
}

impl Form {
    /// Returns the form that flags select. The parser rejects more than one.
    pub const fn from_flags(full: bool, format: &FormatArgs) -> Self {
        match format {
            FormatArgs { json: true, .. } => Self::Json,
            FormatArgs { csv: true, .. } => Self::Csv,
            FormatArgs { jsonl: true, .. } => Self::JsonLines,
            FormatArgs { markdown: true, .. } => Self::Markdown,
            _ if full => Self::Full,
            _ => Self::Screen,
        }
    }
}

/// Prints a result from this directory.
pub fn print(document: &ResultDocument, directory: &Path, form: Form) -> Result<()> {
    let width = output::width();
    match form {
        Form::Json => output::print(&report::json(document)),
        Form::Csv => output::print(&report::csv(document)),
        Form::JsonLines => output::print(&report::json_lines(document)),
        Form::Markdown => output::print(&report::markdown(document)),
        Form::Full => output::print(&report::terminal(document, width)),
        Form::Screen => {
            let directory = directory.to_string_lossy();
            let (colour, picture, directory) = (output::has_colour(), output::charset(), Some(&*directory));
            let options = ScreenOptions { width, colour, directory, picture };
            output::write(&report::first_screen(document, options))
        }
    }
}
