//! `ddsmark report` of many results: their table, and how each cell changed over time.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
    thread,
};

use html_report::{Index, IndexedResult, index_html};
use report::ResultRow;
use results::{Directory, ResultDocument, State};

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        output,
        result_args::ReportArgs,
    },
    work::{
        found_results::{RESULT, find, is_result, shown},
        in_parallel::in_parallel,
        pages,
    },
};

/// Maximum number of results that are read at the same time: each is in memory as a whole while it is.
const MOST_READERS: u32 = 4;

/// Returns whether arguments name many results: several paths, or a directory that contains results but is none.
pub fn is_many(paths: &[PathBuf]) -> bool {
    match paths {
        [path] => !is_result(path) && find(path).is_ok_and(|found| !found.is_empty()),
        _ => true,
    }
}

pub fn execute(flags: &ReportArgs) -> Result<ExitStatus> {
    let page = match &flags.html {
        None => None,
        Some(Some(file)) => Some(file.clone()),
        Some(None) => Some(default_path(&flags.results)),
    };
    let found = found(&flags.results)?;
    if flags.full || flags.svg.is_some() || flags.png.is_some() || flags.format.is_any() {
        let many = match &flags.results[..] {
            [folder] => {
                let results = report::parts::count(found.len(), "result");
                format!("`{}` is a directory of {results}", folder.display())
            }
            _ => format!("these are {}", found.len()),
        };
        return Err(CliError::usage(
            format!("`--full`, `--svg`, `--png` and the formats are for one result, and {many}"),
            "name one of them, or use `--html` or no flag for many",
        ));
    }
    let (rows, indexed): (Vec<ResultRow>, Vec<IndexedResult>) =
        read(&found, page.as_deref()).into_iter().unzip();
    let index = Index::new(indexed);
    if !index.has_results() {
        return Err(CliError::failed(
            format!("none of {} can be loaded", report::parts::count(found.len(), "result")),
            "`ddsmark results DIR` says why",
        ));
    }
    match page {
        None => output::print(&format!("{}\n{}", report::result_list(rows), index.text()))?,
        Some(page) => {
            pages::deliver(&index_html(&index), &page, &format!("{}\n", index.summary().join(" ")))?;
        }
    }
    Ok(if flags.fail_on_change && index.new_changes() > 0 { ExitStatus::Broken } else { ExitStatus::Done })
}

/// Returns the path of the page: in the directory with the results, or here if there are several.
fn default_path(paths: &[PathBuf]) -> PathBuf {
    match paths {
        [directory] => directory.join(pages::INDEX),
        _ => PathBuf::from(pages::INDEX),
    }
}

/// Returns the directories of results, each once, in the order of the arguments. A path without a result is one, too: the index
/// says why it cannot be loaded.
fn found(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for path in paths {
        let found = match is_result(path) {
            true => vec![path.clone()],
            false => find(path).ok().filter(|found| !found.is_empty()).unwrap_or_else(|| vec![path.clone()]),
        };
        for directory in found {
            // A directory and its `result.json` are the same result.
            let places = [directory.join(RESULT), directory.clone()];
            let identity = places.iter().find_map(|place| fs::canonicalize(place).ok());
            if known.insert(identity.unwrap_or_else(|| directory.clone())) {
                all.push(directory);
            }
        }
    }
    let absent: Vec<String> =
        all.iter().filter(|path| !path.exists()).map(|path| format!("`{}`", path.display())).collect();
    if !absent.is_empty() {
        let error = format!("not found: {}", absent.join(", "));
        return Err(CliError::usage(error, "name directories with results"));
    }
    Ok(all)
}

/// Reads results, several at the same time, and keeps what an index needs. Links lead from the page `index` to those of the results.
fn read(found: &[PathBuf], index: Option<&Path>) -> Vec<(ResultRow, IndexedResult)> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let readers = u32::try_from(cores).unwrap_or(MOST_READERS).min(MOST_READERS);
    in_parallel(found, readers, |directory| one(directory, index))
}

fn one(path: &Path, index: Option<&Path>) -> (ResultRow, IndexedResult) {
    let name = shown(path);
    let mut document = match Directory::load(path) {
        Ok(document) => document,
        Err(error) => {
            let error = error.to_string();
            return (
                ResultRow::unreadable(name.clone(), error.clone()),
                IndexedResult::unreadable(name, error),
            );
        }
    };
    judge(&mut document);
    let page = pages::default_path(path);
    let links = index.filter(|_| page.is_file()).and_then(|index| links(&page, index).ok());
    let (link, back) = links.unzip();
    let [link, back] = [&link, &back].map(|path| path.as_deref().and_then(Path::to_str));
    let back = back.filter(|_| index != Some(Path::new("-")));
    (ResultRow::new(name.clone(), &document), IndexedResult::new(name, link, back, &document))
}

/// Computes findings and verdicts if a session was stopped before it saved them.
fn judge(document: &mut ResultDocument) {
    if document.state == State::Interrupted {
        document.findings = findings::find(document);
        document.verdicts = verdicts::judge(document);
    }
}

/// Returns the path of the page of a result relative to the folder of the index, and that of the index relative to the folder of the page.
fn links(page: &Path, index: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let folder = |file: &Path| file.parent().unwrap_or(Path::new("")).to_owned();
    let back = relative(&folder(index), &folder(page))?;
    // The index is not written yet.
    Ok((relative(page, &folder(index))?, back.join(index.file_name().unwrap_or_default())))
}

/// Returns the path of a file or folder relative to a folder.
fn relative(file: &Path, folder: &Path) -> io::Result<PathBuf> {
    let here =
        |path: &'_ Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let (file, folder) = (fs::canonicalize(here(file))?, fs::canonicalize(here(folder))?);
    let (file, folder): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (file.components().collect(), folder.components().collect());
    let common = file.iter().zip(&folder).take_while(|(one, other)| one == other).count();
    let up = folder[common..].iter().map(|_| Component::ParentDir);
    Ok(up.chain(file[common..].iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_and_pages_link_to_each_other_by_relative_paths() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        for folder in ["results/night 1", "elsewhere"] {
            fs::create_dir_all(path(folder)).expect("a folder");
        }
        let page = path("results/night 1/report.html");
        fs::write(&page, "").expect("a page");
        for (index, there, back) in [
            ("results/index.html", "night 1/report.html", "../index.html"),
            ("elsewhere/all.html", "../results/night 1/report.html", "../../elsewhere/all.html"),
            ("results/night 1/index.html", "report.html", "index.html"),
        ] {
            let found = links(&page, &path(index)).expect("links");
            assert_eq!(found, (PathBuf::from(there), PathBuf::from(back)), "{index}");
        }
        assert!(links(&page, &path("absent/index.html")).is_err(), "an index that cannot be written");
    }

    #[test]
    fn files_of_a_folder_are_results_of_their_own_but_its_result_file_is_the_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("night")).expect("a folder");
        for name in ["one.json.gz", "other.json.gz", "night/result.json"] {
            fs::write(path(name), "").expect("a file");
        }
        let named = ["one.json.gz", "other.json.gz", "night", "night/result.json", "one.json.gz"].map(path);
        let [one, other, night, ..] = named.clone();
        assert_eq!(found(&named).expect("they exist"), [one, other, night]);
    }
}
