//! Matching of the cells of two sides.

use std::cell::OnceCell;

use results::{CellResult, ResultDocument};

use crate::differences::{Fields, cell_fields, is_named, unequal_names};

/// Cell with its fields, each form of which is computed once: every cell of a side is compared with every cell of the other.
pub(crate) struct DescribedCell<'d> {
    /// Cell.
    pub cell: &'d CellResult,
    document: &'d ResultDocument,
    /// Fields with the QoS of both endpoints together, and separately.
    fields: [OnceCell<Fields>; 2],
}

impl<'d> DescribedCell<'d> {
    pub fn new(document: &'d ResultDocument, cell: &'d CellResult) -> Self {
        Self { cell, document, fields: Default::default() }
    }

    fn fields(&self, by_ends: bool) -> &Fields {
        self.fields[usize::from(by_ends)].get_or_init(|| cell_fields(self.document, self.cell, by_ends))
    }

    pub fn has_workload_of(&self, other: &Self) -> bool {
        self.cell.factors.workload == other.cell.factors.workload
    }

    /// Returns the number of unnamed factors in which two cells differ.
    pub fn distance(&self, other: &Self, named: &[String]) -> usize {
        let by_ends = [self, other].iter().any(|of| of.cell.factors.has_qos_of_ends());
        let differing = unequal_names(self.fields(by_ends), other.fields(by_ends));
        differing.filter(|field| is_factor(field) && !is_named(field, named)).count()
    }
}

/// Returns whether a field is a factor. Versions and effective policies follow from factors and are ignored for
/// matching.
fn is_factor(field: &str) -> bool {
    !["driver.", "effective_qos."].iter().any(|consequence| field.starts_with(consequence))
}

/// Returns the cell of the same workload that differs least from `cell`; `None` if two are equally near.
pub(crate) fn nearest<'c>(
    cell: &DescribedCell<'_>,
    candidates: &[&DescribedCell<'c>],
    named: &[String],
) -> Option<&'c CellResult> {
    let same_workload = candidates.iter().filter(|candidate| candidate.has_workload_of(cell));
    let mut scored: Vec<(usize, &'c CellResult)> =
        same_workload.map(|candidate| (candidate.distance(cell, named), candidate.cell)).collect();
    scored.sort_by_key(|(distance, _)| *distance);
    match scored[..] {
        [] => None,
        [(first, _), (second, _), ..] if first == second => None,
        [(_, nearest), ..] => Some(nearest),
    }
}
