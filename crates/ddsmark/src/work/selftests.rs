//! Stored outcomes of selftests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use results::{KeptSelfTests, SelfTest};

use crate::cli::{
    cli_error::{CliError, ExitStatus},
    output::say,
};

/// Returns the path of the stored outcomes; `None` if neither `XDG_STATE_HOME` nor `HOME` is set.
fn place() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("ddsmark/selftest.json"))
}

/// Reads the stored outcomes, one for each driver. Prints a note and returns none if they cannot be read.
pub fn load() -> KeptSelfTests {
    let Some(place) = place() else { return KeptSelfTests::new() };
    let text = match fs::read_to_string(&place) {
        Ok(text) => text,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                say(&format!("note: cannot read `{}`: {error}", place.display()));
            }
            return KeptSelfTests::new();
        }
    };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        say(&format!("note: invalid selftest outcomes in `{}`: {error}", place.display()));
        KeptSelfTests::new()
    })
}

pub fn keep(outcome: &SelfTest) -> Result<(), CliError> {
    let Some(place) = place() else {
        say("note: the outcome is not stored: XDG_STATE_HOME and HOME are not set");
        return Ok(());
    };
    let mut kept = load();
    kept.insert(outcome.driver.clone(), outcome.clone());
    write(&place, &kept).map_err(|error| {
        let error = format!("cannot store the outcome in `{}`: {error}", place.display());
        CliError::new(ExitStatus::Failed, error, "set XDG_STATE_HOME to a writable directory")
    })?;
    say(&format!("stored in `{}` for `ddsmark run --dry-run`", place.display()));
    Ok(())
}

/// Replaces the file atomically.
fn write(place: &Path, kept: &KeptSelfTests) -> io::Result<()> {
    let folder = place.parent().expect("it has a folder");
    fs::create_dir_all(folder)?;
    let new = folder.join(format!("selftest.json.{}", std::process::id()));
    fs::write(&new, serde_json::to_string_pretty(kept)? + "\n")?;
    fs::rename(&new, place)
}
