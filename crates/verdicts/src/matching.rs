//! Matching of the cells of two sides.

use results::{CellResult, ResultDocument};

use crate::differences::{fields_of_both, is_named, unequal};

/// Returns the number of unnamed factors in which two cells differ.
pub(crate) fn distance(
    (left, of_left): (&CellResult, &ResultDocument),
    (right, of_right): (&CellResult, &ResultDocument),
    named: &[String],
) -> usize {
    let [left, right] = fields_of_both([(of_left, left), (of_right, right)]);
    let differing = unequal(&left, &right);
    let factors = differing.iter().filter(|difference| is_factor(&difference.field));
    factors.filter(|difference| !is_named(&difference.field, named)).count()
}

/// Returns whether a field is a factor. Versions and effective policies follow from factors and are ignored for
/// matching.
fn is_factor(field: &str) -> bool {
    !["driver.", "effective_qos."].iter().any(|consequence| field.starts_with(consequence))
}

/// Returns the cell of the same workload that differs least from `cell`; `None` if two are equally near.
pub(crate) fn nearest<'c>(
    document: &ResultDocument,
    cell: &CellResult,
    other: &ResultDocument,
    candidates: &[&'c CellResult],
    named: &[String],
) -> Option<&'c CellResult> {
    let same_workload =
        candidates.iter().filter(|candidate| candidate.factors.workload == cell.factors.workload);
    let mut scored: Vec<(usize, &'c CellResult)> = same_workload
        .map(|candidate| (distance((candidate, other), (cell, document), named), *candidate))
        .collect();
    scored.sort_by_key(|(distance, _)| *distance);
    match scored[..] {
        [] => None,
        [(first, _), (second, _), ..] if first == second => None,
        [(_, nearest), ..] => Some(nearest),
    }
}
