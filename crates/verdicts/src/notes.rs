//! Notes on a comparison: differences, and limits of its claims.

use std::collections::BTreeMap;

use results::{Difference, State};

use crate::{
    differences::is_named,
    error::in_words,
    family::Pair,
    interleave::interleave_hint,
    sides::{CellPair, CompareOptions, CompareSide},
};

/// Returns the notes on a comparison of two sides.
pub(crate) fn notes(
    baseline: &CompareSide<'_>,
    treatment: &CompareSide<'_>,
    pairs: &[CellPair<'_>],
    differences: &[Difference],
    options: &CompareOptions,
    metric_pairs: &[Pair<'_>],
) -> Vec<String> {
    let mut notes = Vec::new();
    let beyond: Vec<String> = differences.iter().filter(|d| !d.named).map(in_words).collect();
    if !beyond.is_empty() {
        notes.push(format!(
            "FORCED: the two sides differ in more than the named factors, and what is said below may come from any \
             of it: {}",
            beyond.join("; ")
        ));
    }
    if baseline.document != treatment.document && options.compares_the_host() {
        notes.push(
            "These are two results: their runs share no blocks. Settings of the host are what is compared, so the change of the \
             reference is a part of the effect. Any other change of the host between the two results is in it, too: measure \
             before and after a second time, in this order, and compare the two results before."
                .to_owned(),
        );
    } else if baseline.document != treatment.document {
        notes.push(
            "These are two results: their runs share no blocks. A claim holds whatever part of the change of the host, as \
             the reference of each block shows it, is in the difference, up to twice that change. What changed on the host \
             for this middleware alone is not controlled."
                .to_owned(),
        );
        if options.force && metric_pairs.iter().any(Pair::is_unreferenced) {
            notes.push(
                "FORCED: a result has no reference. Claims between the two may come from any change of the host."
                    .to_owned(),
            );
        }
        notes.push(interleave_hint(baseline.document, treatment.document));
    } else if pairs.iter().any(|(before, after)| before.id == after.id) {
        notes.push(
            "Both sides are the same runs. How far a cell differs from itself is shown by an experiment with a baseline."
                .to_owned(),
        );
    }
    for factor in &options.factors {
        if !differences.iter().any(|difference| is_named(&difference.field, std::slice::from_ref(factor))) {
            notes.push(format!("The named factor `{factor}` is the same on both sides."));
        }
    }
    let named: Vec<String> = differences.iter().filter(|d| d.named).map(in_words).collect();
    if !named.is_empty() {
        notes.push(format!("Differs as named: {}.", named.join("; ")));
    }
    let mut sides = BTreeMap::from([(&baseline.name, baseline.document)]);
    sides.insert(&treatment.name, treatment.document);
    for (name, document) in sides {
        if document.state == State::Interrupted {
            notes.push(format!("`{name}` was stopped before its last run."));
        }
    }
    notes
}
