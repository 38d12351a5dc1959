//! Exclusion of cells: an unsupported combination that is excluded is not an error.

use crate::{FactorValues, SpannedError, plan::expansion::Expansion};

impl Expansion<'_> {
    /// Rejects a combination that a driver does not support, or notes that it is left out, if no driver is named or only the command line
    /// names it. `cells` selects the
    /// combination: each factor given has one value. Does nothing if all cells of the selection are excluded.
    pub(crate) fn cannot(
        &mut self,
        driver: &str,
        cells: FactorValues,
        error: SpannedError,
    ) -> Result<(), SpannedError> {
        let cells = cells.and("driver", driver.to_owned());
        let mut excluded = false;
        for (exclude, spared) in self.excludes.iter().zip(&mut self.spared) {
            if exclude.get().covers(&cells) {
                (excluded, *spared) = (true, true);
            }
        }
        if excluded {
            return Ok(());
        }
        if !self.lenient && !self.file.may_leave_out(&error.at) {
            return Err(error);
        }
        self.note(driver, true, format!("{}; left out", error.error));
        Ok(())
    }
}
