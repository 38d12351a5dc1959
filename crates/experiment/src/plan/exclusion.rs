//! Exclusion of cells: an unsupported combination that is excluded is not an error.

use crate::{
    factors::FactorValues,
    plan::{
        expansion::OfDriver,
        experiment::{Cell, Plan},
        experiment_file::ExperimentFile,
    },
    syntax::{one_or_many::Located, spanned_error::SpannedError},
};

impl ExperimentFile {
    /// Returns whether a cell of the plan whose configuration the driver rejects may be left out: it has a profile of the file, it is no
    /// baseline, and the file does not name the driver.
    #[must_use]
    pub fn may_leave_out_profile(&self, cell: &Cell, plan: &Plan) -> bool {
        let of_file = |name: &String| {
            let is_defined = self.profiles.contains_key(&Located::nowhere(name.clone()));
            is_defined && !self.is_set(&format!("profiles.{name}"))
        };
        let unnamed = self.factors.values.get("driver").is_none()
            || self.changes.keys.get("factors.driver") == Some(&true);
        unnamed && cell.factors.profile.as_ref().is_some_and(of_file) && !plan.is_baseline(&cell.id)
    }

    /// Returns the experiment without the profiles that drivers reject, given as cells with the reason of each.
    #[must_use]
    pub fn without_rejected(&self, cells: &[(&Cell, String)]) -> Self {
        let mut file = self.clone();
        let mut known: Vec<(FactorValues, Vec<String>)> = Vec::new();
        for (cell, reason) in cells {
            let factors = &cell.factors;
            let base = factors.base_name().to_owned();
            let mut selection = FactorValues::only("driver", factors.driver.clone())
                .and("transport", factors.transport.clone())
                .and("base", base);
            selection.reason = Some(Located::nowhere(format!("the driver rejects it: {reason}")));
            let profiles = match known.iter().position(|(other, _)| *other == selection) {
                Some(index) => &mut known[index].1,
                None => {
                    known.push((selection, Vec::new()));
                    &mut known.last_mut().expect("it was pushed").1
                }
            };
            let profile = factors.profile.clone().unwrap_or_default();
            if !profiles.contains(&profile) {
                profiles.push(profile);
            }
        }
        let exclude = known.into_iter().map(|(mut selection, profiles)| {
            selection.give("profile", profiles);
            Located::nowhere(selection)
        });
        file.factors.exclude.extend(exclude);
        file
    }
}

impl OfDriver<'_, '_> {
    /// Rejects a combination that a driver does not support, or notes that it is left out, if no driver is named or only the command line
    /// names it. `cells` selects the
    /// combination: each factor given has one value. Does nothing if all cells of the selection are excluded.
    pub(crate) fn cannot(&mut self, cells: &FactorValues, error: SpannedError) -> Result<(), SpannedError> {
        let is_excluded = self.is_excluded(cells);
        if !is_excluded && !self.all.lenient && !self.all.file.may_leave_out(&error.at) {
            return Err(error);
        }
        // Another exclude of such cells may match nothing without them.
        for (exclude, spared) in self.all.excludes.iter().zip(&mut self.all.spared) {
            *spared |= exclude.get().overlaps(cells);
        }
        if !is_excluded {
            self.note(true, format!("{}; left out", error.error));
        }
        Ok(())
    }

    /// Returns whether all of these cells of a driver are excluded.
    pub(crate) fn is_excluded(&mut self, cells: &FactorValues) -> bool {
        let cells = cells.clone().and("driver", self.driver.to_owned());
        let mut excluded = false;
        for (exclude, spared) in self.all.excludes.iter().zip(&mut self.all.spared) {
            if exclude.get().covers(&cells) {
                (excluded, *spared) = (true, true);
            }
        }
        excluded
    }
}
