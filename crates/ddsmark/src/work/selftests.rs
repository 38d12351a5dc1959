//! Stored outcomes of selftests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use results::{KeptSelfTests, SelfTest};

use crate::cli::{
    cli_error::{CliError, Result},
    output::to_stderr,
};

/// Returns the path of the stored outcomes; `None` if neither `XDG_STATE_HOME` nor `HOME` is set.
fn store_path() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("ddsmark/selftest.json"))
}

/// Reads the stored outcomes, one for each driver. Prints a note and returns none if they cannot be read.
pub fn load() -> KeptSelfTests {
    let Some(store_path) = store_path() else { return KeptSelfTests::new() };
    let text = match fs::read_to_string(&store_path) {
        Ok(text) => text,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                to_stderr(&format!("note: cannot read `{}`: {error}", store_path.display()));
            }
            return KeptSelfTests::new();
        }
    };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        to_stderr(&format!("note: invalid selftest outcomes in `{}`: {error}", store_path.display()));
        KeptSelfTests::new()
    })
}

pub fn save(outcome: &SelfTest) -> Result<()> {
    let Some(store_path) = store_path() else {
        to_stderr("note: the outcome is not stored: XDG_STATE_HOME and HOME are not set");
        return Ok(());
    };
    let mut saved = load();
    saved.insert(outcome.driver.clone(), outcome.clone());
    write(&store_path, &saved).map_err(|error| {
        let error = format!("cannot store the outcome in `{}`: {error}", store_path.display());
        CliError::failed(error, "set XDG_STATE_HOME to a writable directory")
    })?;
    to_stderr(&format!("stored in `{}` for `ddsmark run --dry-run`", store_path.display()));
    Ok(())
}

/// Replaces the file atomically.
fn write(store_path: &Path, saved: &KeptSelfTests) -> io::Result<()> {
    let folder = store_path.parent().expect("it has a folder");
    fs::create_dir_all(folder)?;
    let new = folder.join(format!("selftest.json.{}", std::process::id()));
    fs::write(&new, serde_json::to_string_pretty(saved)? + "\n")?;
    fs::rename(&new, store_path)
}
