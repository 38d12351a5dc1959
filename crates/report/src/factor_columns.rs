//! Columns of the factors by which the rows of a table differ.

use experiment::{Column, FACTORS, Factor};
use results::CellResult;

use crate::layout::Grid;

/// Columns of factors, with the values of each cell.
pub(crate) struct FactorColumns(Vec<&'static Column>);

impl FactorColumns {
    /// Creates the columns of these factors, then those of factors that no table has by itself and in which the
    /// cells differ.
    pub fn new(keys: &[&str], cells: &[&CellResult]) -> Self {
        let varied = |row: &Factor| cells.iter().any(|cell| !row.same(&cells[0].factors, &cell.factors));
        let column = |row: &'static Factor| {
            let column = row.column.as_ref()?;
            let shown = keys.contains(&row.key) || (!column.placed && row.shares.curve && varied(row));
            shown.then_some(column)
        };
        Self(FACTORS.iter().filter_map(column).collect())
    }

    /// Returns a table with the headings, and with units on a line of their own.
    pub fn grid(&self) -> Grid {
        self.headed(Grid::default().units_below())
    }

    /// Adds the headings to a table.
    pub fn headed(&self, grid: Grid) -> Grid {
        grid.right(self.0.iter().map(|column| column.heading))
    }

    /// Returns the entries of a cell.
    pub fn entries(&self, cell: &CellResult) -> Vec<String> {
        self.0.iter().map(|column| (column.text)(&cell.factors)).collect()
    }
}

#[cfg(test)]
mod tests {
    use experiment::FACTORS;

    #[test]
    fn rows_of_a_table_differ_in_factors_with_columns() {
        // Workloads have tables of their own; `rate` has the load, `batch_bytes` the batch, and each flow has a row.
        let elsewhere = ["workload", "arrival", "trace", "batch_samples", "flows"];
        for row in FACTORS.iter().filter(|row| row.shares.curve) {
            assert_eq!(row.column.is_some(), !elsewhere.contains(&row.key), "{}", row.key);
        }
    }
}
