//! `ddsmark report`: prints a saved result, or writes its page and its charts; of many results, an index.

use std::path::Path;

use experiment::BuiltInFigures;
use results::{Directory, ResultDocument};

use super::report_index;
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        output,
        result_args::ReportArgs,
    },
    work::{
        pages,
        results::{Form, print},
    },
};

pub fn execute(flags: &ReportArgs) -> Result<ExitStatus> {
    let path = match &flags.results[..] {
        [path] if !report_index::is_many(&flags.results) => path,
        _ => return report_index::execute(flags),
    };
    if flags.fail_on_change {
        return Err(CliError::usage(
            "`--fail-on-change` is for many results, and this is one",
            "name the directory that contains them, or use `ddsmark compare BASELINE RESULT --fail-if` for two",
        ));
    }
    let mut document = Directory::load(path)?;
    // Computed again: a crashed session saved none.
    document.findings = findings::find(&document);
    document.verdicts = verdicts::judge(&document);
    for name in &flags.overlay {
        overlay(&mut document, name)?;
    }
    if flags.html.is_some() || flags.svg.is_some() || flags.png.is_some() {
        return write(&document, path, flags);
    }
    match Form::from_flags(flags.full, &flags.format) {
        Form::Screen if !flags.overlay.is_empty() => {
            output::print(&report::overlay_tables(&document, output::width()))?;
        }
        form => print(&document, path, form)?,
    }
    Ok(ExitStatus::Done)
}

/// Writes the page and the charts of a result, as the flags request.
fn write(document: &ResultDocument, path: &Path, flags: &ReportArgs) -> Result<ExitStatus> {
    let page = pages::page(document, path);
    if let Some(file) = &flags.html {
        let file = file.clone().unwrap_or_else(|| pages::default_path(path));
        pages::deliver(&html_report::html(&page), &file, "")?;
    }
    let written =
        |charts: usize, folder: &Path| output::print(&format!("charts: {charts} in {}\n", folder.display()));
    if let Some(folder) = &flags.svg {
        written(pages::write_svgs(&page, folder)?, folder)?;
    }
    if let Some(folder) = &flags.png {
        written(pages::write_pngs(&page, folder)?, folder)?;
    }
    Ok(ExitStatus::Done)
}

/// Adds published figures to a result.
fn overlay(document: &mut ResultDocument, name: &str) -> Result<()> {
    let names = || BuiltInFigures::names().collect::<Vec<_>>().join(", ");
    let figures = BuiltInFigures::find(name).ok_or_else(|| {
        CliError::usage(format!("published figures `{name}` not found"), format!("available: {}", names()))
    })?;
    let tables = figures.beside(&document.experiment);
    if tables.is_empty() {
        let systems: Vec<&str> = figures.tables().map(|table| table.system.get().as_str()).collect();
        return Err(CliError::usage(
            format!("no cell of the result matches the published figures `{name}`"),
            format!("they are of: {}; others are {}", systems.join("; "), names()),
        ));
    }
    document.show_published(tables);
    Ok(())
}
