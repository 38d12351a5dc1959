//! Directories of results below a directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// File that makes a directory a result.
pub const RESULT: &str = "result.json";
/// File of an experiment that has not ended, or was killed.
const EXPERIMENT: &str = "experiment.json";
/// Maximum depth below the given directory.
const DEPTH: usize = 4;

/// Returns the results in a directory: the directory itself, or those at most four levels below it. Links are not followed.
pub fn find(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    find_in(directory, DEPTH, &mut found)?;
    Ok(found)
}

/// Returns whether a path is a result, complete or not, or its `result.json`.
pub fn is_result(path: &Path) -> bool {
    path.is_file() || path.join(RESULT).is_file() || path.join(EXPERIMENT).is_file()
}

/// Returns the name of a directory in a list.
pub fn shown(directory: &Path) -> String {
    let shown = directory.strip_prefix(".").unwrap_or(directory);
    if shown.as_os_str().is_empty() { ".".into() } else { shown.to_string_lossy().into_owned() }
}

fn find_in(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if directory.join(RESULT).is_file() {
        found.push(directory.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if depth > 0 && entry.file_type()?.is_dir() {
            // a directory that cannot be read hides only its own results
            let _ = find_in(&entry.path(), depth - 1, found);
        }
    }
    Ok(())
}
