//! `ddsmark report`: prints a saved result.

use report::Options;
use results::{Directory, Document};

use crate::{
    arguments::Report,
    output,
    problem::{Problem, Status},
};

pub fn execute(flags: &Report) -> Result<Status, Problem> {
    let mut document = Directory::load(&flags.result)?;
    // Computed again: a crashed session saved none, and an older version fewer.
    document.findings = findings::of(&document);
    document.verdicts = verdicts::of(&document);
    print(&document, flags.json)?;
    Ok(Status::Done)
}

/// Prints a result as tables or as JSON.
pub fn print(document: &Document, json: bool) -> Result<(), Problem> {
    let text = if json {
        report::json(document)
    } else {
        report::terminal(document, Options { width: output::width() })
    };
    output::print(&text)
}
