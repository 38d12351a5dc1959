//! `ddsmark report`: a result again.

use report::Options;
use results::{Directory, Document};

use crate::{
    arguments::Report,
    output,
    problem::{Problem, Status},
};

pub fn execute(flags: &Report) -> Result<Status, Problem> {
    let mut document = Directory::load(&flags.result)?;
    // anew: what a crash left behind has none, and what an older version stored knows less
    document.findings = findings::of(&document);
    document.verdicts = verdicts::of(&document);
    print(&document, flags.json)?;
    Ok(Status::Done)
}

/// Prints a result, for people or for a program.
pub fn print(document: &Document, json: bool) -> Result<(), Problem> {
    let text = if json {
        report::json(document)
    } else {
        report::terminal(document, Options { width: output::width() })
    };
    output::print(&text)
}
