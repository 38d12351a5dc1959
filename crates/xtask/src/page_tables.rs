//! Tables of the pages that quote measurements: each is generated from a CSV file beside the page.
//!
//! A heading `H` that is followed by `H min` and `H max` is a value with the range of its runs; by `H low` and `H high`, with its
//! 95 % interval; by `H ±`, with half of its range in percent. All other columns stand as they are.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, pages::with_block, root};

/// Folder of the pages. Its folder `data` contains their tables.
pub const PAGES: &str = "docs/explain";
/// Begin of the comment before a table; the name of its file follows.
const BEGIN: &str = "<!-- generated: data/";
/// Digits of an integer part from which on its thousands are separated.
const GROUPED_DIGITS: usize = 5;

/// Headings, and rows of as many cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Headings.
    pub headings: Vec<String>,
    /// Cells of each row.
    pub rows: Vec<Vec<String>>,
}

/// Content of a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The text as it is.
    Plain,
    /// Value with the range of its runs.
    Range,
    /// Value with its 95 % interval.
    Interval,
    /// Value with half of its range in percent.
    PlusMinus,
}

impl Column {
    /// Returns the column that begins a list of headings.
    pub fn of(headings: &[String]) -> Self {
        let follows = |at: usize, ending: &str| {
            headings.get(at).is_some_and(|found| *found == format!("{} {ending}", headings[0]))
        };
        if follows(1, "min") && follows(2, "max") {
            Self::Range
        } else if follows(1, "low") && follows(2, "high") {
            Self::Interval
        } else if follows(1, "±") {
            Self::PlusMinus
        } else {
            Self::Plain
        }
    }

    /// Returns the number of columns in the file.
    pub const fn width(self) -> usize {
        match self {
            Self::Plain => 1,
            Self::PlusMinus => 2,
            Self::Range | Self::Interval => 3,
        }
    }

    /// Returns the text of a cell, given those of the file.
    fn text(self, cells: &[String]) -> String {
        let value = grouped(&cells[0]);
        match (self, cells.get(1).map(|cell| grouped(cell)), cells.get(2).map(|cell| grouped(cell))) {
            (Self::Range, Some(min), Some(max)) if !min.is_empty() => format!("{value} ({min}..{max})"),
            (Self::Interval, Some(low), Some(high)) if !low.is_empty() => format!("{value} [{low}..{high}]"),
            (Self::PlusMinus, Some(percent), _) if !percent.is_empty() => format!("{value} ± {percent}"),
            _ => value,
        }
    }
}

impl Data {
    /// Reads a CSV file, by its path from the root of the tree.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if a row has too few or too many cells.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let of_file = |error: Error| format!("{}: {error}", path.display());
        let text = fs::read_to_string(root().join(path)).map_err(|error| of_file(error.into()))?;
        Self::parse(&text).map_err(|error| of_file(error.into()).into())
    }

    fn parse(text: &str) -> Result<Self, csv::Error> {
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<String>>();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headings = texts(reader.headers()?);
        let rows = reader.records().map(|record| Ok(texts(&record?)));
        Ok(Self { headings, rows: rows.collect::<Result<_, csv::Error>>()? })
    }

    /// Returns the table as CSV.
    ///
    /// # Errors
    /// Returns an error if a row has too few or too many cells.
    pub fn csv(&self) -> Result<String, Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.headings)?;
        for row in &self.rows {
            writer.write_record(row)?;
        }
        Ok(String::from_utf8(writer.into_inner().map_err(|error| error.to_string())?)?)
    }

    /// Returns the table as Markdown.
    fn markdown(&self) -> String {
        let mut columns = Vec::new();
        let mut at = 0;
        while at < self.headings.len() {
            let column = Column::of(&self.headings[at..]);
            columns.push((at, column));
            at += column.width();
        }
        let headings = columns.iter().map(|(at, _)| self.headings[*at].clone());
        let mut text = line(headings) + &format!("|{}\n", "---|".repeat(columns.len()));
        for row in &self.rows {
            text += &line(columns.iter().map(|(at, column)| column.text(&row[*at..*at + column.width()])));
        }
        text
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        let space = if cell.is_empty() { "" } else { " " };
        line += &format!("{space}{cell} |");
    }
    line + "\n"
}

/// Returns a number with separated thousands; any other text as it is.
fn grouped(text: &str) -> String {
    let (sign, number) = text.split_at(usize::from(text.starts_with('-')));
    let (integer, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let is_number = number.parse::<f64>().is_ok() && integer.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || integer.len() < GROUPED_DIGITS {
        return text.to_owned();
    }
    let mut grouped = sign.to_owned();
    for (at, digit) in integer.char_indices() {
        if at > 0 && (integer.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Returns the names of the files of the tables of a page, in their order.
pub fn tables(page: &str) -> Vec<String> {
    let names = page.lines().filter_map(|line| line.strip_prefix(BEGIN)?.strip_suffix(" -->"));
    names.map(str::to_owned).collect()
}

/// Returns the pages that quote measurements, by their path from the root of the tree, with their tables written from the files.
///
/// # Errors
/// Returns an error if a page or a table cannot be read, or if a table has no end.
pub fn pages() -> Result<Vec<(PathBuf, String)>, Error> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root().join(PAGES))? {
        let name = entry?.file_name();
        let path = Path::new(PAGES).join(name);
        if path.extension().is_some_and(|ending| ending == "md") {
            let mut text = fs::read_to_string(root().join(&path))?;
            let tables = tables(&text);
            for table in &tables {
                let data = Data::read(&Path::new(PAGES).join("data").join(table))?;
                text = with_block(&text, &format!("data/{table}"), &data.markdown())?;
            }
            if !tables.is_empty() {
                pages.push((path, text));
            }
        }
    }
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Pages whose tables of figures come from data.
    const QUOTING: [&str; 10] = [
        "discovery.md",
        "implementations.md",
        "large-data.md",
        "links.md",
        "qos-support.md",
        "qos-cost.md",
        "seed-000.md",
        "systems.md",
        "topologies.md",
        "transparency.md",
    ];

    #[test]
    fn values_stand_with_their_range_or_interval() {
        let file = "size,rate,rate min,rate max,law,law low,law high,RTT,RTT ±,bound\n\
                    64,163711,9876,1e6,-12345.678,-2,3,125,20,\n16384,n/a,,,1,,,2,,x\n";
        assert_eq!(
            Data::parse(file).unwrap().markdown(),
            "| size | rate | law | RTT | bound |\n|---|---|---|---|---|\n\
             | 64 | 163,711 (9876..1e6) | -12,345.678 [-2..3] | 125 ± 20 | |\n| 16,384 | n/a | 1 | 2 | x |\n"
        );
        assert!(Data::parse("a,b\n1\n").is_err());
    }

    #[test]
    fn every_file_is_the_table_of_one_page() {
        let mut used = Vec::new();
        for (page, text) in pages().unwrap() {
            let tables = tables(&text);
            assert!(QUOTING.iter().any(|name| page.ends_with(name)), "{}", page.display());
            used.extend(tables);
        }
        let files = fs::read_dir(root().join(PAGES).join("data")).unwrap();
        let files: BTreeSet<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".csv"))
            .collect();
        let unique: BTreeSet<String> = used.iter().cloned().collect();
        assert_eq!((unique.len(), &unique), (used.len(), &files), "a table of no page, or of two");
    }

    /// Rows of a page that contain figures and do not come from data.
    fn rows_of_figures(page: &str) -> Vec<&str> {
        let mut rows = Vec::new();
        let mut is_generated = false;
        for line in page.lines() {
            is_generated = (is_generated || line.starts_with(BEGIN)) && !line.starts_with("<!-- end");
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let figures = cells.iter().filter(|cell| cell.starts_with(|first: char| first.is_ascii_digit()));
            if !is_generated && line.starts_with('|') && 2 * figures.count() > cells.len() {
                rows.push(line);
            }
        }
        rows
    }

    #[test]
    fn tables_of_figures_come_from_data() {
        for page in QUOTING {
            let text = fs::read_to_string(root().join(PAGES).join(page)).unwrap();
            assert_eq!(rows_of_figures(&text), Vec::<&str>::new(), "{page}: keep them in docs/explain/data");
        }
        let planted =
            "<!-- generated: data/a.csv -->\n| a | 1 | 2 |\n<!-- end: data/a.csv -->\n| b | 1 (0..2) | 3 |\n";
        assert_eq!(rows_of_figures(planted), ["| b | 1 (0..2) | 3 |"]);
    }

    #[test]
    fn changed_figure_of_a_page_is_found() {
        let (path, text) = pages().unwrap().swap_remove(0);
        let changed = text.replacen("1 |", "2 |", 1);
        let table = tables(&text).swap_remove(0);
        let data = Data::read(&Path::new(PAGES).join("data").join(&table)).unwrap();
        let again = with_block(&changed, &format!("data/{table}"), &data.markdown()).unwrap();
        assert!(changed != text && again == text, "{}", path.display());
    }
}
