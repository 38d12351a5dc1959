//! Choice of configurations where there is no room for all.

use std::collections::BTreeSet;

use charts::Series;
use results::{CellResult, Verdict};

use super::limits::ONE_PANEL;
use crate::{scene::Scene, values::Quantity};

/// Returns at most `most` configurations in their order, and words that explain the choice; these are empty if all are returned. First are
/// those with the largest differences that verdicts show, and their baselines, then those with a value that is furthest from the median of
/// all. `cell` returns the cell of a configuration that has the value.
pub(crate) fn telling<'s, T>(
    scene: &Scene<'_>,
    all: Vec<(&'s Series, T)>,
    (most, quantity): (usize, Quantity),
    cell: impl Fn(&T) -> &CellResult,
) -> (Vec<(&'s Series, T)>, &'static str) {
    if all.len() <= most {
        return (all, "");
    }
    let workload = cell(&all[0].1).factors.workload;
    let value = |(_, of): &(&Series, T)| quantity.over_runs(cell(of)).map(|estimate| estimate.value.ln());
    let values: Vec<Option<f64>> = all.iter().map(value).collect();
    // A configuration without the value would be an empty row.
    let position = |id: &str| {
        let of = scene.series_of(id)?;
        let index = all.iter().position(|(series, _)| series.name == of.series.name);
        index.filter(|index| values[*index].is_some())
    };
    let claim = |verdict: &Verdict| {
        let is_of = scene.cell(&verdict.treatment.cell)?.factors.workload == workload;
        let answer = verdict.answer.as_ref().filter(|answer| is_of && answer.conclusion.differs())?;
        let sides = [&verdict.treatment, &verdict.baseline].map(|side| position(&side.cell));
        Some(((1.0 + answer.change_pct? / 100.0).ln().abs(), sides))
    };
    let mut claims: Vec<(f64, [Option<usize>; 2])> =
        scene.document.verdicts.iter().filter_map(claim).collect();
    claims.sort_by(|left, right| right.0.total_cmp(&left.0));
    let middle = stats::median(&values.iter().copied().flatten().collect::<Vec<_>>()).unwrap_or(0.0);
    let distance = |index: &usize| values[*index].map_or(0.0, |value| (value - middle).abs());
    let mut others: Vec<usize> = (0..all.len()).collect();
    others.sort_by(|left, right| distance(right).total_cmp(&distance(left)));
    let mut chosen = BTreeSet::new();
    for index in claims.iter().flat_map(|(_, sides)| sides.iter().flatten().copied()).chain(others) {
        let colour = |index: usize| all[index].0.slot.class();
        // Lines in one panel are told apart by their colours.
        let has_colour = most > ONE_PANEL || chosen.iter().all(|other| colour(*other) != colour(index));
        if chosen.len() < most && has_colour {
            chosen.insert(index);
        }
    }
    let why = match claims.is_empty() {
        true => ", those furthest from the median of all",
        false => ", those with the largest differences that verdicts show and their baselines",
    };
    let of_chosen = all.into_iter().enumerate().filter(|(index, _)| chosen.contains(index));
    (of_chosen.map(|(_, of)| of).collect(), why)
}
