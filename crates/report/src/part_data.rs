//! Tables and lists of texts, as other forms of a report take them.

use crate::layout::Grid;

/// Heading with its items, the most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteList {
    /// Heading.
    pub heading: String,
    /// Text of each item, and the advice that goes with it.
    pub items: Vec<(String, Option<String>)>,
}

/// Table of formatted values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTable {
    /// Title; may be empty.
    pub title: String,
    /// Headings, and whether the column has numbers.
    pub columns: Vec<(String, bool)>,
    /// Rows with one entry per column.
    pub rows: Vec<Vec<String>>,
}

impl DataTable {
    pub(crate) fn new(title: impl Into<String>, grid: &Grid) -> Self {
        let (columns, rows) = grid.data();
        Self { title: title.into(), columns, rows }
    }
}

impl From<&DataTable> for Grid {
    fn from(table: &DataTable) -> Self {
        let mut grid =
            table.columns.iter().fold(Self::default(), |grid, (name, is_number)| match is_number {
                true => grid.right([name.as_str()]),
                false => grid.left([name.as_str()]),
            });
        table.rows.iter().for_each(|row| grid.row(row.clone()));
        grid
    }
}
