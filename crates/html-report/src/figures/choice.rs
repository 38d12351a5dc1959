//! Choice of configurations where there is no room for all.

use std::collections::BTreeSet;

use charts::Series;
use results::{CellResult, Verdict};

use super::limits::ONE_PANEL;
use crate::scene::Scene;

/// Words for a choice by verdicts.
const BY_VERDICTS: &str = "those with the largest differences that verdicts show and their baselines";
/// Words for a choice by values.
const BY_VALUES: &str = "those furthest from the median of all";

/// Returns at most `most` configurations in their order, and words that explain the choice; these are empty if all are returned. First are
/// those with the largest differences that verdicts show, and their baselines, then those with a value that is furthest from the median of
/// all. `cell` returns the cell of a configuration that has the value.
pub(crate) fn telling<'s, T>(
    scene: &Scene<'_>,
    all: Vec<(&'s Series, T)>,
    (most, value): (usize, impl Fn(&CellResult) -> Option<f64>),
    cell: impl Fn(&T) -> &CellResult,
) -> (Vec<(&'s Series, T)>, String) {
    if all.len() <= most {
        return (all, String::new());
    }
    let workload = cell(&all[0].1).factors.workload;
    let values: Vec<Option<f64>> = all.iter().map(|(_, of)| value(cell(of)).map(f64::ln)).collect();
    // A configuration without the value would be an empty row.
    let position = |id: &str| {
        let of = scene.series_of(id)?;
        let index = all.iter().position(|(series, _)| series.name == of.series.name);
        index.filter(|index| values[*index].is_some())
    };
    let claim = |verdict: &Verdict| {
        let is_of = scene.cell(&verdict.treatment.cell)?.factors.workload == workload;
        let answer = verdict.answer.as_ref().filter(|answer| is_of && answer.conclusion.differs())?;
        let sides = [position(&verdict.treatment.cell)?, position(&verdict.baseline.cell)?];
        Some(((1.0 + answer.change_pct? / 100.0).ln().abs(), sides))
    };
    let mut claims: Vec<(f64, [usize; 2])> = scene.document.verdicts.iter().filter_map(claim).collect();
    claims.sort_by(|left, right| right.0.total_cmp(&left.0));
    let middle = stats::median(&values.iter().copied().flatten().collect::<Vec<_>>()).unwrap_or(0.0);
    let distance = |index: &usize| values[*index].map_or(0.0, |value| (value - middle).abs());
    let mut others: Vec<usize> = (0..all.len()).collect();
    others.sort_by(|left, right| distance(right).total_cmp(&distance(left)));
    // Lines in one panel are told apart by their colours.
    let has_colours = |with: &BTreeSet<usize>| {
        let colours: BTreeSet<&str> = with.iter().map(|index| all[*index].0.slot.class()).collect();
        most != ONE_PANEL || colours.len() == with.len()
    };
    let (mut chosen, mut is_by_colour) = (BTreeSet::new(), false);
    let mut add = |chosen: &mut BTreeSet<usize>, more: &[usize]| {
        let with: BTreeSet<usize> = chosen.iter().chain(more).copied().collect();
        let has_room = with.len() <= most;
        match has_room && has_colours(&with) {
            true => *chosen = with,
            false => is_by_colour |= has_room,
        }
        has_room
    };
    // Without room for the next difference, a smaller one is none of the largest.
    let _ = claims.iter().all(|(_, sides)| add(&mut chosen, sides));
    let of_claims = chosen.len();
    let _ = others.iter().all(|index| add(&mut chosen, &[*index]));
    let why = match (of_claims, chosen.len() - of_claims) {
        (0, _) => BY_VALUES.to_owned(),
        (_, 0) => BY_VERDICTS.to_owned(),
        _ => format!("{BY_VERDICTS}, then {BY_VALUES}"),
    };
    let of_colours = if is_by_colour { ", one of each colour" } else { "" };
    let of_chosen = all.into_iter().enumerate().filter(|(index, _)| chosen.contains(index));
    (of_chosen.map(|(_, of)| of).collect(), format!(", {why}{of_colours}"))
}
