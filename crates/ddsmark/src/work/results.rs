//! Output of results.

use report::Options;
use results::ResultDocument;

use crate::cli::{cli_error::CliError, output};

/// Prints a result as tables or as JSON.
pub fn print(document: &ResultDocument, json: bool) -> Result<(), CliError> {
    let text = if json {
        report::json(document)
    } else {
        report::terminal(document, Options { width: output::width() })
    };
    output::print(&text)
}
