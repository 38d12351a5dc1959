//! `ddsmark report`: prints a saved result.

use results::Directory;

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus},
        result_args::ReportArgs,
    },
    work::results::{Form, print},
};

pub fn execute(flags: &ReportArgs) -> Result<ExitStatus, CliError> {
    let mut document = Directory::load(&flags.result)?;
    // Computed again: a crashed session saved none.
    document.findings = findings::find(&document);
    document.verdicts = verdicts::judge(&document);
    print(&document, &flags.result, Form::from_flags(flags.full, &flags.format))?;
    Ok(ExitStatus::Done)
}
