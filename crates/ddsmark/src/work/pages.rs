//! The page of a result, and its charts, as files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use html_report::{Colours, Page};
use results::{DirectoryError, ResultDocument, log_windows, save_file};

use super::painter::Painter;
use crate::cli::{
    cli_error::{CliError, Result},
    output::{self, note},
};

/// Name of the page in the directory of a result.
const NAME: &str = "report.html";
/// Name of the page about the results in a directory.
pub const INDEX: &str = "index.html";

/// Returns the page of a result, with the windows of its runs if their logs are at `path`, a directory or its `result.json`.
pub fn page(document: &ResultDocument, path: &Path) -> Page {
    let directory = directory(path);
    // Without a readable log, the chart over time is left out.
    let windows = |run, kind: &str| log_windows(directory, run, kind).unwrap_or_default();
    html_report::page(document, &windows)
}

/// Returns the path of the page in the directory of a result.
pub fn default_path(path: &Path) -> PathBuf {
    directory(path).join(NAME)
}

fn directory(path: &Path) -> &Path {
    match path.is_file() {
        true => path.parent().unwrap_or(Path::new("")),
        false => path,
    }
}

/// Writes HTML as a file, and prints its path after these words; with `-`, prints the HTML.
pub fn deliver(html: &str, path: &Path, words: &str) -> Result<()> {
    if path == Path::new("-") {
        return output::write(html);
    }
    write_text(path, html)?;
    output::print_page(words, path)
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    save_file(path, text.as_bytes()).map_err(|error| not_written(&error))
}

/// Writes each chart of a page as an SVG file into a folder, which is created. Returns the number of files.
pub fn write_svgs(page: &Page, folder: &Path) -> Result<usize> {
    let charts = html_report::drawings(page, Colours::Preferred).into_iter();
    write_charts(folder, "svg", charts.map(|(name, text)| Ok((name, text.into_bytes()))))
}

/// Writes each chart of a page as a PNG file into a folder, which is created. Returns the number of files.
pub fn write_pngs(page: &Page, folder: &Path) -> Result<usize> {
    let painter = Painter::new()?;
    let charts = html_report::drawings(page, Colours::Light).into_iter();
    write_charts(folder, "png", charts.map(|(name, text)| Ok((name, painter.png(&text)?))))
}

fn write_charts(
    folder: &Path,
    suffix: &str,
    charts: impl Iterator<Item = Result<(String, Vec<u8>)>>,
) -> Result<usize> {
    let write = |cause| DirectoryError::Write { path: folder.to_owned(), cause };
    fs::create_dir_all(folder).map_err(write).map_err(|error| not_written(&error))?;
    let mut written = 0;
    for chart in charts {
        let (name, bytes) = chart?;
        let path = folder.join(name).with_extension(suffix);
        save_file(&path, &bytes).map_err(|error| not_written(&error))?;
        written += 1;
    }
    Ok(written)
}

fn not_written(error: &DirectoryError) -> CliError {
    CliError::failed(error, "name a file or folder that can be written to")
}

/// Writes the page of a measured result into its directory. The result is saved already, so an error is only printed. Returns the
/// path of the page if it was written.
pub fn write_beside(document: &ResultDocument, directory: &Path) -> Option<PathBuf> {
    let path = default_path(directory);
    match write_text(&path, &html_report::html(&page(document, directory))) {
        Ok(()) => Some(path),
        Err(error) => {
            note(&format!("warning: {}", error.text()));
            None
        }
    }
}
