//! Files named in the environment variables of agents.

use std::path::{Path, PathBuf};

/// Prefix of a URI that names a file.
const FILE_URI: &str = "file://";

/// Returns the whole value and its parts between commas, semicolons and blanks; of a URI only the path.
fn parts(value: &str) -> impl Iterator<Item = &str> {
    let parts = value.split(|c: char| c == ',' || c == ';' || c.is_whitespace());
    std::iter::once(value).chain(parts).map(|part| part.strip_prefix(FILE_URI).unwrap_or(part))
}

/// Returns the existing files and directories that a value names, including those in lists separated by colons.
pub(crate) fn existing_paths(value: &str) -> Vec<PathBuf> {
    let paths = parts(value).flat_map(|part| std::iter::once(part).chain(part.split(':')));
    let existing = paths.filter(|path| !path.is_empty()).map(Path::new).filter(|path| path.exists());
    let mut found: Vec<PathBuf> = existing.filter_map(|path| std::path::absolute(path).ok()).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the first file that a value names by URI and that does not exist. Some middleware ignores it silently.
pub(crate) fn missing_file(value: &str) -> Option<PathBuf> {
    let uris = value.split(|c: char| c == ',' || c == ';' || c.is_whitespace());
    let mut paths = uris.filter_map(|uri| uri.strip_prefix(FILE_URI)).map(Path::new);
    // A path may contain a comma or a blank.
    let whole = value.strip_prefix(FILE_URI).is_some_and(|path| Path::new(path).exists());
    paths.find(|path| !whole && !path.exists()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_lists_and_uris_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = ["one.so", "other.xml"].map(|name| directory.path().join(name));
        std::fs::write(&one, "").unwrap();
        std::fs::write(&other, "").unwrap();
        let (one_text, other_text) = (one.display(), other.display());
        let both = [one.clone(), other.clone()];
        assert_eq!(existing_paths(&format!("{one_text}")), std::slice::from_ref(&one));
        assert_eq!(existing_paths(&format!("{one_text}:{other_text}:/nowhere")), both);
        assert_eq!(existing_paths(&format!("file://{one_text},file://{other_text}")), both);
        assert!(existing_paths("<Domain/>").is_empty());
        assert_eq!(missing_file(&format!("file://{other_text}")), None);
        assert_eq!(missing_file(&format!("file://{other_text},file:///nowhere")), Some("/nowhere".into()));
        assert_eq!(missing_file("/nowhere"), None, "may be a file to be written");
    }
}
