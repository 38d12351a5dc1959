//! Output of results.

use report::Options;
use results::Document;

use crate::cli::{output, problem::Problem};

/// Prints a result as tables or as JSON.
pub fn print(document: &Document, json: bool) -> Result<(), Problem> {
    let text = if json {
        report::json(document)
    } else {
        report::terminal(document, Options { width: output::width() })
    };
    output::print(&text)
}
