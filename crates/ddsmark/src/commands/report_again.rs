//! `ddsmark report`: prints a saved result.

use results::Directory;

use crate::{
    cli::{
        arguments::Report,
        problem::{Problem, Status},
    },
    work::results::print,
};

pub fn execute(flags: &Report) -> Result<Status, Problem> {
    let mut document = Directory::load(&flags.result)?;
    // Computed again: a crashed session saved none.
    document.findings = findings::of(&document);
    document.verdicts = verdicts::of(&document);
    print(&document, flags.json)?;
    Ok(Status::Done)
}
