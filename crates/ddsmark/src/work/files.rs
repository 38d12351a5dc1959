//! Files that an experiment names: traces and QoS files. Their paths are relative to the experiment file.

use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

use experiment::{Diagnostic, ExperimentFile, InputFile, Source, variable_names};

/// Maximum size of a file in bytes; enough for the maximum number of times of a run.
const MAX_BYTES: u64 = 128 << 20;
/// Maximum size of the text of an experiment in bytes.
const MAX_TEXT_BYTES: u64 = 16 << 20;
/// Environment variable with the QoS files that are loaded before any other.
const LOADED: &str = "NDDS_QOS_PROFILES";
const HINT: &str =
    "name a path relative to the experiment file; docs/reference/experiment-file.md describes the format";

/// Reads all files that the experiment names, by their names in the file.
///
/// # Errors
/// Returns an error if a file cannot be read, is too large, or is not UTF-8 text.
pub fn read(file: &ExperimentFile, source: &Source) -> Result<BTreeMap<String, InputFile>, Diagnostic> {
    let folder = Path::new(&source.path).parent().unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    let beside = |name: &str| {
        read_one(&folder.join(name)).map_err(|why| format!("`{}`: {why}", folder.join(name).display()))
    };
    let traces = file.traces().map(|name| (beside(name.get()), name));
    let profiles = file.qos_files().map(|name| (read_qos(name.get(), folder), name));
    for (read, name) in traces.chain(profiles) {
        let read = read.map_err(|why| source.fault(name.span(), &format!("cannot read {why}"), HINT))?;
        files.insert(name.get().clone(), read);
    }
    Ok(files)
}

/// Reads a list of QoS files as `NDDS_QOS_PROFILES` has them: separated by `;`, each optionally with `file://` before it. The
/// last file is the named one; the others are loaded before it, after those of `NDDS_QOS_PROFILES`. Returns the name of the
/// file that cannot be read, and the reason.
pub fn read_qos(list: &str, beside: &Path) -> Result<InputFile, String> {
    let read = |list: &str, beside: &Path| {
        let names = list.split(';').map(str::trim).filter(|name| !name.is_empty());
        let all = names.map(|name| {
            let path = beside.join(name.strip_prefix("file://").unwrap_or(name));
            let mut file = read_one(&path).map_err(|why| format!("`{}`: {why}", path.display()))?;
            let set = variable_names(&file.text)
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
            file.variables = set.collect();
            Ok(file)
        });
        all.collect::<Result<Vec<InputFile>, String>>()
    };
    let mut files = read(list, beside)?;
    let mut file = files.pop().ok_or_else(|| format!("`{list}`: no file is named"))?;
    file.before = read(&std::env::var(LOADED).unwrap_or_default(), Path::new(""))
        .map_err(|why| format!("{why}; `{LOADED}` names it"))?;
    file.before.extend(files);
    Ok(file)
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
    Ok(InputFile::new(path.display().to_string(), text, sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_qos_files_is_read_in_its_order_with_its_variables() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        write("base.xml", "<dds/>");
        write("own.xml", "<dds>$(PATH) $(DDSMARK_NOT_SET)</dds>");
        let own = folder.path().join("own.xml");
        let read =
            read_qos(&format!("base.xml; file://{}", own.display()), folder.path()).expect("both files");
        assert!(read.path.ends_with("own.xml") && read.before[0].path.ends_with("base.xml"), "{read:?}");
        assert_eq!(read.variables.keys().collect::<Vec<_>>(), ["PATH"]);
        let error = read_qos("base.xml;none.xml", folder.path()).expect_err("no such file");
        assert!(error.contains("none.xml`: No such file"), "{error}");
        assert!(read_qos(";", folder.path()).is_err());
    }

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
