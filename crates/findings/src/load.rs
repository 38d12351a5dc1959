//! Paced runs over loads: the knee, and up to which load as many samples are accepted and delivered as planned.

use experiment::{Arrival, Load, Workload};
use results::{CellResult, Finding, FindingKind};
use stats::Spread;

use crate::{
    KEPT,
    curves::{Point, Position, Side, by_name, curve, position, range},
    format::{finding, runs, three, values},
    knee,
    load_point::{achieved_share, batch_in_words, on_both_sides, sps},
};

pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (what, cells) in curves(side) {
        findings.extend(knee::findings(&what, &cells));
        findings.extend(shortfall(&what, &cells));
    }
    findings
}

/// Returns the cells that differ only in their rate, in ascending order, with their description.
fn curves<'d>(side: &Side<'d>) -> Vec<(String, Vec<&'d CellResult>)> {
    let named = |cell: &'d CellResult| {
        let load = cell.factors.load.as_ref().filter(|load| load.rate().is_some())?;
        let plan = match load {
            Load::Poisson { .. } | Load::Share { arrival: Arrival::Poisson, .. } => " (poisson)".to_owned(),
            Load::Burst { rate } => format!(" (bursts of {})", rate.samples),
            _ => String::new(),
        };
        let batch = batch_in_words(&cell.factors);
        let what = format!("`{}` under load{plan} at {} bytes{batch}", side.name, cell.factors.size_bytes);
        Some((what, cell))
    };
    let mut curves = by_name(side.of_workload(Workload::Paced).filter_map(named));
    for (_, cells) in &mut curves {
        cells.sort_by(|left, right| sps(left).total_cmp(&sps(right)));
    }
    curves
}

/// Returns the finding on the load from which fewer samples are accepted, or delivered in time, than planned.
fn shortfall(what: &str, cells: &[&CellResult]) -> Option<Finding> {
    let points = curve(cells.iter().copied(), achieved_share);
    let [first, .., last] = &points[..] else { return None };
    let positions: Vec<Position> = points.iter().map(|point| position(&point.spread, KEPT)).collect();
    let kept = positions.iter().take_while(|position| **position == Position::Above).count();
    let short = positions.iter().rev().take_while(|position| **position == Position::Below).count();
    let percent = |points: &[Point<'_>]| {
        let (least, most) = range(points.iter().map(|point| &point.spread));
        (100.0 * least, 100.0 * most)
    };
    let of_planned = |(least, most): (f64, f64)| values(least, most);
    let each = runs(points.iter().map(|point| &point.spread));
    let ids = || points.iter().map(|point| point.cell);
    if kept == points.len() {
        let (least, most) = percent(&points);
        let text = format!(
            "{what}: the achieved rate is the planned one at all loads from {} to {}: {} % of it ({each}).",
            first.load(),
            last.load(),
            of_planned((least, most))
        );
        let numbers = [
            ("lowest_sps", first.sps()),
            ("highest_sps", last.sps()),
            ("achieved_min_pct", least),
            ("achieved_max_pct", most),
        ];
        return Some(finding(FindingKind::KeepsUp, text, ids(), numbers));
    }
    if short == 0
        || positions[kept..positions.len() - short].iter().any(|position| *position != Position::Between)
    {
        return None;
    }
    let (holds, falls) = (&points[..kept], &points[points.len() - short..]);
    let begins = &falls[0];
    let scaled = |point: &Point<'_>| {
        let (Spread { n, min, median, max }, sps) = (point.spread, point.sps());
        Spread { n, min: min * sps, median: median * sps, max: max * sps }
    };
    let achieved = |point: &Point<'_>| {
        let Spread { min, max, .. } = scaled(point);
        values(min, max)
    };
    let before = holds.last().map_or_else(String::new, |point| {
        format!("; up to {} it is the planned one: {} % of it", point.load(), of_planned(percent(holds)))
    });
    let text = format!(
        "{what}: the achieved rate falls short of the planned one from {} on: {}/s there, {}/s at {}{before} ({each}).",
        begins.load(),
        achieved(begins),
        achieved(falls.last().unwrap_or(begins)),
        falls.last().unwrap_or(begins).load(),
    );
    let more = on_both_sides(&points[kept..points.len() - short]);
    let mut numbers = vec![("short_from_sps".to_owned(), begins.sps())];
    numbers.extend(holds.last().map(|point| ("kept_to_sps".to_owned(), point.sps())));
    numbers.extend(three("achieved", "sps", &scaled(begins)));
    Some(finding(FindingKind::FallsShort, (text, more), ids(), numbers))
}
