//! Cells that are points of one curve.

use experiment::gather_curves;

use crate::schema::{CellResult, ResultDocument};

impl ResultDocument {
    /// Returns the cells in groups, in the order of their first cells: those of a variant that may be points of one curve.
    #[must_use]
    pub fn curves(&self) -> Vec<Vec<&CellResult>> {
        gather_curves(&self.cells, |cell| (&cell.factors, self.experiment.variant(&cell.id)))
    }
}
