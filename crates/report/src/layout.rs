//! Tables without borders, and wrapped lines.

use comfy_table::{CellAlignment, Table, presets::NOTHING};

use crate::markdown;

/// Default number of columns of a line.
pub(crate) const WIDTH: usize = 120;

/// Returns the number of columns of a line on a terminal of this width. Tables are as wide as their values.
pub(crate) fn columns(width: Option<u16>) -> usize {
    width.map_or(WIDTH, |width| usize::from(width.max(40)))
}

/// Alignment of a table column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
    /// Number that belongs to the one on its left.
    Close,
}

/// Table under construction: first the columns, then rows with one entry per column.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    units_below: bool,
}

impl Grid {
    /// Puts the units of headings, `Name (unit)`, on a line of their own.
    pub(crate) const fn units_below(mut self) -> Self {
        self.units_below = true;
        self
    }

    /// Adds columns of text.
    pub(crate) fn left(self, headings: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        headings.into_iter().fold(self, |grid, heading| grid.column(heading.as_ref(), Align::Left))
    }

    /// Adds columns of numbers.
    pub(crate) fn right(self, headings: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        headings.into_iter().fold(self, |grid, heading| grid.column(heading.as_ref(), Align::Right))
    }

    /// Adds a column of numbers that belong to those on their left.
    pub(crate) fn close(self, heading: &str) -> Self {
        self.column(heading, Align::Close)
    }

    /// Adds columns of numbers, each followed by its half-range over the runs.
    pub(crate) fn spread(self, headings: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        headings.into_iter().fold(self, |grid, heading| grid.right([heading]).close("± %"))
    }

    fn column(mut self, heading: &str, align: Align) -> Self {
        let heading = if self.units_below { heading.replace(" (", "\n(") } else { heading.to_owned() };
        self.columns.push((heading, align));
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a row fills its table");
        self.rows.push(cells);
    }

    /// Fills the rest of a row: a text, and empty entries.
    pub(crate) fn fill(&self, row: &mut Vec<String>, text: String) {
        row.push(text);
        row.resize(self.columns.len(), String::new());
    }

    /// Returns the columns that are shown: unnamed and `Close` columns without any entry are omitted.
    fn kept(&self) -> Vec<usize> {
        let is_kept = |&index: &usize| {
            let (heading, align) = &self.columns[index];
            let may_go = *align == Align::Close || heading.is_empty();
            !may_go || self.rows.iter().any(|row| !row[index].is_empty())
        };
        (0..self.columns.len()).filter(is_kept).collect()
    }

    /// Returns the headings, each with whether its column has numbers, and the rows.
    pub(crate) fn data(&self) -> (Vec<(String, bool)>, Vec<Vec<String>>) {
        let kept = self.kept();
        let heading = |&index: &usize| {
            let (heading, align) = &self.columns[index];
            (heading.replace('\n', " "), *align != Align::Left)
        };
        let row = |row: &Vec<String>| kept.iter().map(|&index| row[index].clone()).collect();
        (kept.iter().map(heading).collect(), self.rows.iter().map(row).collect())
    }

    /// Renders the table as GitHub-flavoured Markdown.
    pub(crate) fn markdown(&self) -> String {
        let kept = self.kept();
        let line = |entries: Vec<String>| format!("| {} |\n", entries.join(" | "));
        let rule = |&index: &usize| if self.columns[index].1 == Align::Left { "---" } else { "---:" };
        let mut text = line(kept.iter().map(|&index| markdown::text(&self.columns[index].0)).collect());
        text.push_str(&line(kept.iter().map(|index| rule(index).to_owned()).collect()));
        for row in &self.rows {
            text.push_str(&line(kept.iter().map(|&index| markdown::text(&row[index])).collect()));
        }
        text
    }

    /// Renders the table, indented.
    pub(crate) fn render(&self) -> String {
        let kept = self.kept();
        let mut table = Table::new();
        table.load_style(NOTHING);
        if self.columns.iter().any(|(heading, _)| !heading.is_empty()) {
            table.set_header(kept.iter().map(|&index| self.columns[index].0.as_str()));
        }
        for row in &self.rows {
            table.add_row(kept.iter().map(|&index| row[index].as_str()));
        }
        for (column, &index) in table.column_iter_mut().zip(&kept) {
            let align = self.columns[index].1;
            column.set_padding((if align == Align::Close { 1 } else { 2 }, 0));
            column.set_cell_alignment(if align == Align::Left {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            });
        }
        let mut text = table.trim_fmt();
        text.push('\n');
        text
    }
}

/// Wraps text in lines of at most `width` columns. The first line is indented by `indent`, the others by two more.
/// Words are never split.
pub(crate) fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut line = String::new();
    for word in text.split_ascii_whitespace() {
        if line.is_empty() {
            line = " ".repeat(indent);
        } else if line.chars().count() + 1 + word.chars().count() > width {
            wrapped.push_str(&line);
            wrapped.push('\n');
            line = " ".repeat(indent + 2);
        } else {
            line.push(' ');
        }
        line.push_str(word);
    }
    wrapped.push_str(&line);
    wrapped.push('\n');
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_within_the_width_and_words_whole() {
        assert_eq!(wrap("one two three", 80, 2), "  one two three\n");
        assert_eq!(wrap("one two three", 10, 2), "  one two\n    three\n");
        assert_eq!(wrap("one two three", 14, 6), "      one two\n        three\n");
        assert_eq!(wrap("", 10, 2), "\n");
        assert_eq!(wrap("a-word-longer-than-the-line x", 10, 2), "  a-word-longer-than-the-line\n    x\n");
    }

    #[test]
    fn empty_close_column_is_omitted() {
        let columns = || {
            Grid::default()
                .column("Size", Align::Right)
                .column("50 %", Align::Right)
                .column("± %", Align::Close)
        };
        let mut grid = columns();
        grid.row(vec!["32".into(), "17.9".into(), String::new()]);
        assert_eq!(grid.render(), "  Size  50 %\n    32  17.9\n");
        let mut grid = columns();
        grid.row(vec!["32".into(), "17.9".into(), "2.1".into()]);
        assert_eq!(grid.render(), "  Size  50 % ± %\n    32  17.9 2.1\n");
    }
}
