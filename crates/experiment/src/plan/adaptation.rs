//! Adaptation of an experiment file to the factors that the command line sets.
//!
//! A recipe whose baseline is one driver also measures another one: `exclude`, `include`, `baseline` and options that
//! name what is no longer measured are left out with a note. The same in a file without such a change is an error.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    factors::FactorValues,
    plan::{changes::Changes, experiment::Cell, experiment_file::ExperimentFile},
    syntax::one_or_many::{Located, Span},
};

/// Factors that flows have themselves.
const REPLACED_BY_FLOWS: [&str; 4] = ["size", "rate", "arrival", "trace"];

impl ExperimentFile {
    /// Leaves out included cells, options and the stream of the file that are not of what the command line sets.
    pub(crate) fn adapt(&mut self, keys: BTreeMap<String, bool>, file_length: usize) {
        self.changes = Changes { keys, file_length, notes: Vec::new() };
        let mut notes = Vec::new();
        let include = std::mem::take(&mut self.factors.include);
        if self.changes.keys.contains_key("factors.include") {
            self.factors.include = include;
        } else {
            let (left_out, kept) =
                include.into_iter().partition(|entry| self.is_of_another_value(entry.get()));
            self.factors.include = kept;
            notes.extend(left_out.iter().map(|entry: &Located<FactorValues>| {
                format!("an `include` of the file is left out: {}", words(entry.get()))
            }));
        }
        self.changes.notes = notes;
        if self.is_set("flows") {
            // They replace the stream of the file.
            let of_file = REPLACED_BY_FLOWS.into_iter().filter(|key| !self.is_set(&format!("factors.{key}")));
            self.factors.values = self.factors.values.without(&of_file.collect::<Vec<_>>());
        }
        if self.is_set("factors.driver") {
            let measured: Vec<String> =
                self.values_of::<String>("driver").map(|driver| driver.get().clone()).collect();
            let used: BTreeSet<_> =
                measured.iter().filter_map(|driver| Some(self.options_of(driver)?.0.clone())).collect();
            let changes = &self.changes;
            self.options.retain(|owner, _| used.contains(owner) || changes.is_below("options", owner.get()));
        }
    }

    /// Returns whether the command line sets this key with dots, or a table that has it.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.changes
            .keys
            .keys()
            .any(|set| key == set || key.strip_prefix(&**set).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Returns whether an entry of the file selects cells by a factor that the command line sets.
    pub(crate) fn is_displaced(&self, selection: &FactorValues) -> bool {
        selection.set_factors().any(|(row, _)| self.is_set(&row.key_in_file()))
            || selection.env.keys().any(|name| self.is_set(&format!("factors.env.{}", name.get())))
    }

    /// Returns whether what is at this position may be left out for a driver: a flag names the driver, and the file
    /// has what the driver does not support. A change by `--set` is part of the file.
    pub(crate) fn may_leave_out(&self, at: &Span) -> bool {
        self.changes.keys.get("factors.driver") == Some(&true)
            && !at.is_empty()
            && at.start < self.changes.file_length
    }

    /// Returns the notes about what is left out of the file.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.changes.notes
    }

    /// Returns the cells of the baseline, and a note if it is not the one of the file because the command line sets
    /// its factors. Without cells, the selection matches none.
    pub(crate) fn baseline_cells<'c>(
        &self,
        baseline: &FactorValues,
        cells: &'c [Cell],
        matches: impl Fn(&FactorValues, &Cell) -> bool,
    ) -> (Vec<&'c Cell>, Option<String>) {
        let of = |selection: &FactorValues| {
            cells.iter().filter(|cell| matches(selection, cell)).collect::<Vec<_>>()
        };
        let found = of(baseline);
        let is_partial = |found: &[&Cell]| !found.is_empty() && found.len() < cells.len();
        let is_of_file =
            !self.changes.keys.keys().any(|key| key.starts_with("design.baseline") || key == "design");
        if is_partial(&found) || !is_of_file || !self.is_displaced(baseline) {
            return (found, None);
        }
        let set = baseline.set_factors().filter(|(row, _)| self.is_set(&row.key_in_file()));
        let rest = baseline.without(&set.map(|(row, _)| row.key).collect::<Vec<_>>());
        let found = of(&rest);
        if !rest.is_empty() && is_partial(&found) {
            let note = format!("the baseline is {}; that of the file is {}", words(&rest), words(baseline));
            return (found, Some(note));
        }
        let note = format!("no baseline, so no comparison: that of the file is {}", words(baseline));
        (Vec::new(), Some(note))
    }

    /// Returns whether an entry has a factor that the command line sets, without any of its values.
    fn is_of_another_value(&self, entry: &FactorValues) -> bool {
        entry.set_factors().any(|(row, values)| {
            let known = if row.key == "workload" { None } else { self.factors.values.get(row.key) };
            self.is_set(&row.key_in_file())
                && known.is_some_and(|known| !values.values().any(|value| known.values().any(|k| k == value)))
        })
    }
}

/// Describes a selection: `driver udp, size 64`.
pub(crate) fn words(selection: &FactorValues) -> String {
    let factors = selection.set_factors().map(|(row, values)| {
        let values: Vec<String> = values.values().map(ToString::to_string).collect();
        format!("{} {}", row.key, values.join(" or "))
    });
    let variables = selection.env.keys().map(|name| format!("variable {}", name.get()));
    let options = selection.options.iter().flat_map(|(driver, options)| {
        options.keys().map(move |name| format!("option {}.{}", driver.get(), name.get()))
    });
    factors.chain(variables).chain(options).collect::<Vec<_>>().join(", ")
}
