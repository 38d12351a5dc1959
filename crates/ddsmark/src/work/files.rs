//! Files that an experiment names: traces and QoS files. Their paths are relative to the experiment file.

use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

use experiment::{Diagnostic, ExperimentFile, InputFile, Source};

/// Maximum size of a file in bytes; enough for the maximum number of times of a run.
const MAX_BYTES: u64 = 128 << 20;
/// Maximum size of the text of an experiment in bytes.
const MAX_TEXT_BYTES: u64 = 16 << 20;
const HINT: &str =
    "name a path relative to the experiment file; docs/reference/experiment-file.md describes the format";

/// Reads all files that the experiment names, by their names in the file.
///
/// # Errors
/// Returns an error if a file cannot be read, is too large, or is not UTF-8 text.
pub fn read(file: &ExperimentFile, source: &Source) -> Result<BTreeMap<String, InputFile>, Diagnostic> {
    let beside = Path::new(&source.path).parent().unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    for name in file.files() {
        if files.contains_key(name.get()) {
            continue;
        }
        let path = beside.join(name.get());
        let file = read_one(&path).map_err(|why| {
            let error = format!("cannot read `{}`: {why}", path.display());
            source.fault(name.span(), &error, HINT)
        })?;
        files.insert(name.get().clone(), file);
    }
    Ok(files)
}

/// Reads the text of an experiment or of options, which may come from a pipe. Returns the reason if it cannot be read, does not
/// end, or is not UTF-8 text.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_TEXT_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_TEXT_BYTES {
        return Err(std::io::Error::other(format!("larger than {} MiB", MAX_TEXT_BYTES >> 20)));
    }
    Ok(text)
}

/// Reads a file. Returns the reason if it cannot be read, is too large, or is not UTF-8 text.
pub fn read_one(path: &Path) -> Result<InputFile, String> {
    let words = |error: std::io::Error| error.to_string();
    // Only regular files are sure to end.
    if !std::fs::metadata(path).map_err(words)?.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(words)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(words)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("larger than {} MiB", MAX_BYTES >> 20));
    }
    let sha256 = results::sha256(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())?;
    Ok(InputFile { path: path.display().to_string(), text, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_an_end_is_rejected() {
        let error = read_text(Path::new("/dev/zero")).expect_err("too large");
        assert_eq!(error.to_string(), "larger than 16 MiB");
    }

    #[test]
    fn non_text_file_is_rejected() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("times.txt");
        std::fs::write(&file, "0\n1\n").expect("a file");
        let read = read_one(&file).expect("a file of text");
        assert_eq!((read.text.as_str(), read.path.as_str()), ("0\n1\n", file.to_str().expect("UTF-8")));
        std::fs::write(&file, [0xff]).expect("a file");
        assert_eq!(read_one(&file), Err("not UTF-8 text".to_owned()));
        assert_eq!(read_one(folder.path()), Err("not a regular file".to_owned()));
        assert_eq!(read_one(Path::new("/dev/zero")), Err("not a regular file".to_owned()));
        assert!(read_one(&folder.path().join("none")).is_err());
        let large = File::create(&file).expect("a file");
        large.set_len(MAX_BYTES + 1).expect("a sparse file");
        assert_eq!(read_one(&file), Err("larger than 128 MiB".to_owned()));
    }
}
