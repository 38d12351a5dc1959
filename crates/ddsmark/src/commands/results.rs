//! `ddsmark results`: lists the results in a directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use report::ResultRow;
use results::Directory;

use crate::cli::{
    cli_error::{CliError, ExitStatus},
    output,
    result_args::ResultsArgs,
};

/// File that makes a directory a result.
const RESULT: &str = "result.json";
/// Maximum depth below the given directory.
const DEPTH: usize = 4;

pub fn execute(flags: &ResultsArgs) -> Result<ExitStatus, CliError> {
    let mut found = Vec::new();
    find(&flags.directory, DEPTH, &mut found).map_err(|error| {
        let error = format!("cannot list `{}`: {error}", flags.directory.display());
        CliError::new(
            ExitStatus::WrongUse,
            error,
            "name a directory with results; by default it is `results`",
        )
    })?;
    if found.is_empty() {
        let words = format!("no result in `{}`\n", flags.directory.display());
        output::print(&words)?;
        return Ok(ExitStatus::Done);
    }
    let row = |directory: PathBuf| {
        let shown = directory.strip_prefix(".").unwrap_or(&directory);
        let name =
            if shown.as_os_str().is_empty() { ".".into() } else { shown.to_string_lossy().into_owned() };
        match Directory::load(&directory) {
            Ok(document) => ResultRow::new(name, &document),
            Err(error) => ResultRow::unreadable(name, error.to_string()),
        }
    };
    output::print(&report::result_list(found.into_iter().map(row).collect()))?;
    Ok(ExitStatus::Done)
}

/// Adds this directory if it is a result, else those below it. Links are not followed.
fn find(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if directory.join(RESULT).is_file() {
        found.push(directory.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if depth > 0 && entry.file_type()?.is_dir() {
            // a directory that cannot be read hides only its own results
            let _ = find(&entry.path(), depth - 1, found);
        }
    }
    Ok(())
}
