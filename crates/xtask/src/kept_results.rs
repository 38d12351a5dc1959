//! Tables that follow from kept results: `docs/explain/data/kept.toml` says which columns of which tables are values of which result.
//!
//! All else in a table stays as it is: its headings and rows, and columns that are no measured values, as published figures.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    Error,
    kept_values::{KeptResult, Wanted},
    page_tables::{Column, Data, PAGES},
    root,
};

/// Ending of the names of kept results.
pub const ENDING: &str = ".json.gz";

/// The file of all tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    table: Vec<Table>,
}

/// Table that follows from a kept result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    /// Name of the kept result.
    result: String,
    /// Factor whose value is the first cell of a row; `topic`, if it is the name of a topic of a system.
    row: Option<String>,
    /// Selections of other rows, by their first cell.
    #[serde(default)]
    rows: Vec<Selection>,
    /// Columns that follow from the result, by their headings.
    columns: Vec<Selection>,
    /// Selection of all rows and columns.
    #[serde(default)]
    all: Selection,
}

/// Values of cells. Those of a row go before those of the table, and those of a column before both.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Selection {
    /// Heading of a column, or first cell of a row.
    #[serde(default)]
    of: String,
    /// Values that factors have: by their names in a result, or `endpoints`, the number of readers or participants; `none`, if a cell
    /// lacks the factor.
    #[serde(default)]
    cells: BTreeMap<String, Value>,
    /// Values of the factors in which the cell that a metric is divided by differs: the column is the ratio in the same block, and 1 for
    /// that cell itself. No divisor applies.
    #[serde(default)]
    over: BTreeMap<String, Value>,
    /// Topic of a system, or the group of its copies.
    topic: Option<String>,
    /// Metric, `packets`, `memory`, `rtt_slope`, or `growth_of_` and a value of which a law is found; `change_of_` or `claim_on_` and a
    /// metric that a verdict is on; of a topic, a metric, `missed` or `met`.
    value: Option<String>,
    /// Number by which values are divided, as 1000 for µs.
    divisor: Option<f64>,
}

impl Selection {
    fn with(mut self, other: &Self) -> Self {
        self.cells.extend(other.cells.clone());
        self.over.extend(other.over.clone());
        self.topic = other.topic.clone().or(self.topic);
        self.value = other.value.clone().or(self.value);
        self.divisor = other.divisor.or(self.divisor);
        self
    }
}

/// Returns the path of a file in the folder of the data, from the root of the tree.
fn path(name: &str) -> PathBuf {
    Path::new(PAGES).join("data").join(name)
}

/// Returns the tables that follow from kept results: the path of each from the root of the tree, and its text.
///
/// # Errors
/// Returns an error if a file cannot be read, or if a result has not exactly one cell for a value.
pub fn tables() -> Result<Vec<(PathBuf, String)>, Error> {
    let file = path("kept.toml");
    let text = fs::read_to_string(root().join(&file))?;
    let tables: Tables = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut known: BTreeMap<String, KeptResult> = BTreeMap::new();
    let mut written = Vec::new();
    for table in &tables.table {
        let kept = match known.entry(table.result.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let file = root().join(path(&format!("{}{ENDING}", table.result)));
                entry.insert(KeptResult::load(&file)?)
            }
        };
        let path = path(&format!("{}.csv", table.name));
        let data = table.filled(Data::read(&path)?, kept);
        let data = data.map_err(|error| format!("{}: {error}", path.display()))?;
        written.push((path, data.csv()?));
    }
    Ok(written)
}

impl Selection {
    /// Returns the texts of a column in a row; `None` if the result has no value for them.
    fn texts(&self, kept: &KeptResult, kind: Column) -> Result<Option<Vec<String>>, Error> {
        let over = || {
            let mut cells = self.cells.clone();
            cells.extend(self.over.clone());
            kept.cells(&cells)
        };
        let wanted = Wanted {
            cells: kept.cells(&self.cells),
            over: (!self.over.is_empty()).then(over),
            topic: self.topic.as_deref(),
            value: self.value.as_deref().ok_or("no value is named")?,
            divisor: self.divisor.unwrap_or(1.0),
        };
        wanted.texts(kept, kind)
    }
}

impl Table {
    /// Returns the table with the values of the result.
    fn filled(&self, mut data: Data, kept: &KeptResult) -> Result<Data, Error> {
        for column in &self.columns {
            let at = data.headings.iter().position(|heading| *heading == column.of);
            let at = at.ok_or_else(|| format!("no column `{}`", column.of))?;
            let kind = Column::of(&data.headings[at..]);
            let mut values = 0;
            for row in &mut data.rows {
                let Some(of_row) = self.of_row(&row[0]) else { continue };
                let texts = self.all.clone().with(&of_row).with(column).texts(kept, kind);
                let texts = texts.map_err(|error| format!("{}, {}: {error}", row[0], column.of))?;
                values += usize::from(texts.is_some());
                let texts = texts.unwrap_or_default();
                for (index, cell) in row[at..at + kind.width()].iter_mut().enumerate() {
                    *cell = texts.get(index).cloned().unwrap_or_default();
                }
            }
            if values == 0 {
                return Err(format!("the result `{}` has no value for `{}`", self.result, column.of).into());
            }
        }
        Ok(data)
    }

    /// Returns what a row with this first cell has; `None` if nothing in it follows from the result.
    fn of_row(&self, first: &str) -> Option<Selection> {
        let given = self.rows.iter().find(|row| row.of == first).cloned();
        given.or_else(|| {
            if self.row.as_deref() == Some("topic") {
                return Some(Selection { topic: Some(first.to_owned()), ..Selection::default() });
            }
            let value = first.parse::<u64>().map_or_else(|_| Value::from(first), Value::from);
            let cells = BTreeMap::from([(self.row.clone()?, value)]);
            Some(Selection { cells, ..Selection::default() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a small table of a kept result, with its data.
    fn small() -> (Table, Data, KeptResult) {
        let table: Table = toml::from_str(
            "name = \"sizes-rates\"\nresult = \"sizes-rates\"\nrow = \"size_bytes\"\nall = { value = \"goodput\" }\n\
             columns = [{ of = \"`udp`\", cells = { driver = \"udp\" } }]",
        )
        .unwrap();
        let data = Data::read(&path("sizes-rates.csv")).unwrap();
        (table, data, KeptResult::load(&root().join(path("sizes-rates.json.gz"))).unwrap())
    }

    #[test]
    fn changed_value_of_a_table_is_found() {
        let (table, data, kept) = small();
        let mut changed = data.clone();
        changed.rows[2][1].push('1');
        assert_ne!(changed, data);
        assert_eq!(table.filled(changed, &kept).unwrap(), data);
        // The first cells, and columns that are not named, stay.
        let mut other = data.clone();
        (other.rows[0][4], other.rows[1][0]) = ("1".to_owned(), "257".to_owned());
        let filled = table.filled(other, &kept).unwrap();
        assert_eq!(
            (filled.rows[0][4].as_str(), &filled.rows[1][1..4]),
            ("1", &["", "", ""].map(str::to_owned)[..])
        );
    }

    #[test]
    fn table_that_the_result_does_not_have_is_an_error() {
        let (mut table, data, kept) = small();
        table.columns[0].cells.clear();
        let error = table.filled(data.clone(), &kept).unwrap_err().to_string();
        assert!(error.starts_with("64, `udp`: 3 cells have"), "{error}");
        table.columns[0].cells.insert("driver".to_owned(), "tcp".into());
        let error = table.filled(data.clone(), &kept).unwrap_err().to_string();
        assert!(error.ends_with("has no value for ``udp``"), "{error}");
        table.columns[0].of = "absent".to_owned();
        assert!(table.filled(data, &kept).is_err());
    }

    #[test]
    fn every_kept_result_is_named_by_a_page() {
        let names = fs::read_dir(root().join(path(""))).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        let pages: Vec<String> = fs::read_dir(root().join(PAGES))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        for name in names.iter().filter_map(|name| name.strip_suffix(ENDING)) {
            let named = [format!("`{name}`"), format!("data/{name}{ENDING}")];
            let is_named = pages.iter().any(|page| named.iter().any(|name| page.contains(name)));
            assert!(is_named, "{name}: say in a page that it is kept");
        }
    }

    #[test]
    fn ratio_is_to_another_cell_and_1_for_that_cell() {
        let table: Table = toml::from_str(
            "name = \"n\"\nresult = \"sizes-rates\"\nrow = \"size_bytes\"\n\
             all = { value = \"goodput\", divisor = 1000, cells = { driver = \"udp\" } }\n\
             columns = [{ of = \"rate\" }, { of = \"ratio\", over = { size_bytes = 64 } }]",
        )
        .unwrap();
        let row = |size: &str| [size, "", "", "", ""].map(str::to_owned).to_vec();
        let headings = ["size", "rate", "ratio", "ratio min", "ratio max"].map(str::to_owned).to_vec();
        let data = Data { headings, rows: vec![row("64"), row("256")] };
        let kept = KeptResult::load(&root().join(path("sizes-rates.json.gz"))).unwrap();
        let filled = table.filled(data, &kept).unwrap();
        assert_eq!(filled.rows[0][2..], ["1", "", ""]);
        let [rate, ratio, min, max] = [1, 2, 3, 4].map(|at| filled.rows[1][at].parse::<f64>().unwrap());
        let of_medians = rate / filled.rows[0][1].parse::<f64>().unwrap();
        assert!(min < ratio && ratio < max && (min..max).contains(&of_medians), "{:?}", filled.rows[1]);
    }
}
