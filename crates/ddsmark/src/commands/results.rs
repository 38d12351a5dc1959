//! `ddsmark results`: lists the results in a directory.

use std::path::PathBuf;

use report::ResultRow;
use results::Directory;

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        output,
        result_args::ResultsArgs,
    },
    work::found_results::{find, shown},
};

pub fn execute(flags: &ResultsArgs) -> Result<ExitStatus> {
    let found = find(&flags.directory).map_err(|error| {
        let error = format!("cannot list `{}`: {error}", flags.directory.display());
        CliError::usage(error, "name a directory with results; by default it is `results`")
    })?;
    if found.is_empty() {
        let words = format!("no result in `{}`\n", flags.directory.display());
        output::print(&words)?;
        return Ok(ExitStatus::Done);
    }
    let row = |directory: PathBuf| {
        let name = shown(&directory);
        match Directory::load(&directory) {
            Ok(document) => ResultRow::new(name, &document),
            Err(error) => ResultRow::unreadable(name, error.to_string()),
        }
    };
    output::print(&report::result_list(found.into_iter().map(row).collect()))?;
    Ok(ExitStatus::Done)
}
