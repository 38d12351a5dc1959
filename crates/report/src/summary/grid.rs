//! Tables of the first screen: which rows are shown, and how a table is made to fit the width.

use std::collections::BTreeSet;

use super::line::{Kind, Line};
use crate::layout::Grid;

/// Placeholder for a value that a cell does not have.
const NONE: &str = "-";
/// Space that does not break: a value and its range are one item.
const FIXED_SPACE: char = '\u{a0}';
/// Maximum number of rows of a configuration, if not all rows fit.
const ROWS_PER_CONFIGURATION: usize = 3;
/// Number of columns of the terminal to which the name of a configuration is shortened, if nothing else helps.
const SHORT_NAMES: [usize; 3] = [24, 16, 8];

/// Column with its heading and unit.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Heading without the unit.
    pub heading: &'static str,
    /// Unit; may be empty.
    pub unit: &'static str,
    /// Order in which columns lose the range of their values in a narrow table, from 1.
    pub plain: usize,
    /// Order in which columns are left out of a narrow table, from 1; 0: never.
    pub leaves: usize,
}

/// Value with its half-range over the runs, in percent; the range may be empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// Formatted value.
    pub value: String,
    /// Half-range in percent; may be empty.
    pub spread: String,
}

impl Entry {
    /// Creates an entry without a range.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), spread: String::new() }
    }

    /// Creates the entry of a value that is not available.
    pub fn none() -> Self {
        Self::new(NONE)
    }

    fn is_none(&self) -> bool {
        self.value.is_empty() || self.value == NONE
    }

    fn text(&self, with_spread: bool) -> String {
        if self.spread.is_empty() || !with_spread {
            return self.value.clone();
        }
        format!("{}{FIXED_SPACE}±{FIXED_SPACE}{}{FIXED_SPACE}%", self.value, self.spread)
    }
}

/// Row: its configuration, the cells that it shows, and one entry per column.
pub(super) struct Row<'d> {
    /// Text of the first column.
    pub configuration: String,
    /// Ids of the cells that it shows.
    pub cells: Vec<&'d str>,
    /// Entries of the first columns; the others have no value.
    pub entries: Vec<Entry>,
}

/// Table of rows that are sorted by configuration. The configuration is the first column.
pub(super) struct Table<'d> {
    /// Line above the table; may be empty.
    pub title: &'static str,
    /// Columns behind the configuration.
    pub columns: Vec<Column>,
    /// Rows, sorted by configuration.
    pub rows: Vec<Row<'d>>,
}

/// Degree to which a table is reduced.
#[derive(Clone, Copy, Default)]
struct Fit {
    unit_below: bool,
    plain: usize,
    left_out: usize,
    name: Option<usize>,
}

/// Rendered table.
pub(super) struct Rendered {
    /// Lines of text.
    pub lines: Vec<Line>,
    /// Headings of the columns that do not fit.
    pub left_out: Vec<String>,
}

impl<'d> Table<'d> {
    /// Returns the number of configurations.
    pub fn configurations(&self) -> usize {
        self.rows.chunk_by(|left, right| left.configuration == right.configuration).count()
    }

    /// Selects at most `most` rows: of each configuration the first, the last, and one between them.
    pub fn select(&self, most: usize) -> Vec<&Row<'d>> {
        if self.rows.len() <= most {
            return self.rows.iter().collect();
        }
        let groups: Vec<&[Row<'d>]> =
            self.rows.chunk_by(|left, right| left.configuration == right.configuration).collect();
        let each = (most / groups.len().max(1)).clamp(1, ROWS_PER_CONFIGURATION);
        let of_group = |group: &&'_ [Row<'d>]| {
            let last = group.len() - 1;
            let kept: BTreeSet<usize> = match each {
                1 => BTreeSet::from([0]),
                each if group.len() <= each => (0..group.len()).collect(),
                each => (0..each).map(|index| index * last / (each - 1)).collect(),
            };
            kept
        };
        groups
            .iter()
            .take(most)
            .flat_map(|group| of_group(group).into_iter().map(move |index| &group[index]))
            .collect()
    }

    /// Renders rows within `width` columns.
    pub fn render(&self, rows: &[&Row<'d>], width: usize) -> Rendered {
        let kept = self.with_values(rows);
        let fits = self.fits(rows);
        let widest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        let mut chosen = Fit::default();
        for fit in fits {
            (text, chosen) = (self.reduced(rows, &kept, fit).render(), fit);
            if widest(&text) <= width {
                break;
            }
        }
        let heads = if chosen.unit_below { 2 } else { 1 };
        let kind = |index| if index < heads { Kind::Heading } else { Kind::Plain };
        let lines = text.lines().enumerate().map(|(index, line)| Line::new(kind(index), line)).collect();
        let left_out = kept.iter().map(|&index| &self.columns[index]);
        let left_out =
            left_out.filter(|column| is_left_out(column, chosen)).map(|column| heading(column, " "));
        Rendered { lines, left_out: left_out.collect() }
    }

    /// Returns the degrees of reduction, the least first. Names that would be equal if they were shortened stay whole as
    /// long as fewer columns help.
    fn fits(&self, rows: &[&Row<'d>]) -> Vec<Fit> {
        let most = |of: fn(&Column) -> usize| self.columns.iter().map(of).max().unwrap_or(0);
        let (plain, left_out) = (most(|column| column.plain), most(|column| column.leaves));
        let mut fits = vec![Fit::default()];
        fits.extend((0..=plain).map(|plain| Fit { unit_below: true, plain, ..Fit::default() }));
        let reduced = Fit { unit_below: true, plain, left_out: 0, name: self.short_name(rows) };
        fits.extend((0..=left_out).map(|left_out| Fit { left_out, ..reduced }));
        fits.extend(SHORT_NAMES.map(|name| Fit { left_out, name: Some(name), ..reduced }));
        fits
    }

    /// Returns the length to which the names are shortened first; `None` if some of them could then not be told apart.
    fn short_name(&self, rows: &[&Row<'d>]) -> Option<usize> {
        let names = |most: usize| -> BTreeSet<String> {
            rows.iter().map(|row| shortened(&row.configuration, most)).collect()
        };
        let distinct = names(SHORT_NAMES[0]).len() == names(usize::MAX).len();
        distinct.then_some(SHORT_NAMES[0])
    }

    /// Returns rows as a table of any width.
    pub fn grid(&self, rows: &[&Row<'d>]) -> Grid {
        self.reduced(rows, &self.with_values(rows), Fit::default())
    }

    /// Returns the columns in which a row has a value.
    fn with_values(&self, rows: &[&Row<'d>]) -> Vec<usize> {
        let has_value = |index: &usize| {
            rows.iter().any(|row| row.entries.get(*index).is_some_and(|entry| !entry.is_none()))
        };
        (0..self.columns.len()).filter(has_value).collect()
    }

    fn reduced(&self, rows: &[&Row<'d>], kept: &[usize], fit: Fit) -> Grid {
        let shown: Vec<usize> =
            kept.iter().copied().filter(|&index| !is_left_out(&self.columns[index], fit)).collect();
        let unit = if fit.unit_below { "\n" } else { " " };
        let mut grid = Grid::default().left(["Driver"]);
        for &index in &shown {
            grid = grid.right([heading(&self.columns[index], unit)]);
        }
        for row in rows {
            let text = |&index: &usize| {
                let with_spread = self.columns[index].plain > fit.plain;
                row.entries.get(index).map_or_else(|| NONE.to_owned(), |entry| entry.text(with_spread))
            };
            let name = shortened(&row.configuration, fit.name.unwrap_or(usize::MAX));
            grid.row(std::iter::once(name).chain(shown.iter().map(text)).collect());
        }
        grid
    }
}

const fn is_left_out(column: &Column, fit: Fit) -> bool {
    column.leaves > 0 && column.leaves <= fit.left_out
}

fn heading(column: &Column, separator: &str) -> String {
    match column.unit {
        "" => column.heading.to_owned(),
        unit => format!("{}{separator}({unit})", column.heading),
    }
}

fn shortened(name: &str, most: usize) -> String {
    // One line and without control characters, so that it does not change the table.
    let name = Line::new(Kind::Plain, name).text;
    if name.chars().count() <= most {
        return name;
    }
    let begin: String = name.chars().take(most.saturating_sub(3)).collect();
    format!("{begin}...")
}
