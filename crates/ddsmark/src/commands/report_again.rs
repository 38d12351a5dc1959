//! `ddsmark report`: prints a saved result, or writes its page and its charts.

use results::Directory;

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus},
        output,
        result_args::ReportArgs,
    },
    work::{
        pages,
        results::{Form, print},
    },
};

pub fn execute(flags: &ReportArgs) -> Result<ExitStatus, CliError> {
    let mut document = Directory::load(&flags.result)?;
    // Computed again: a crashed session saved none.
    document.findings = findings::find(&document);
    document.verdicts = verdicts::judge(&document);
    if flags.html.is_none() && flags.svg.is_none() {
        print(&document, &flags.result, Form::from_flags(flags.full, &flags.format))?;
        return Ok(ExitStatus::Done);
    }
    let page = pages::page(&document, &flags.result);
    if let Some(file) = &flags.html {
        let path = file.clone().unwrap_or_else(|| pages::default_path(&flags.result));
        pages::write_html(&page, &path)?;
        output::print(&format!("report: {}\n", path.display()))?;
    }
    if let Some(folder) = &flags.svg {
        let charts = pages::write_svgs(&page, folder)?;
        output::print(&format!("charts: {charts} in {}\n", folder.display()))?;
    }
    Ok(ExitStatus::Done)
}
