//! Plateau of throughput over sizes, and its bottleneck.

use results::{CellResult, Finding, FindingKind, HostRecord};

use crate::{
    LEVEL, bottleneck,
    curves::{Point, Position, Side, goodput_mbps, position, range},
    format::{finding, runs, three, values},
};

pub(crate) fn findings(side: &Side<'_>, hosts: &[HostRecord]) -> Vec<Finding> {
    let curves = side.throughput_curves(goodput_mbps);
    curves.iter().filter_map(|(what, curve)| of_curve(what, curve, hosts)).collect()
}

fn of_curve(what: &str, curve: &[Point<'_>], hosts: &[HostRecord]) -> Option<Finding> {
    let [.., before_last, last] = curve else { return None };
    let best = curve.iter().max_by(|left, right| left.spread.median.total_cmp(&right.spread.median))?;
    if best.spread.median <= 0.0 {
        return None;
    }
    let threshold = best.spread.median * (1.0 - LEVEL);
    let positions: Vec<Position> = curve.iter().map(|point| position(&point.spread, threshold)).collect();
    let on_level = positions.iter().rev().take_while(|position| **position == Position::Above).count();
    let (below, level) = curve.split_at(curve.len() - on_level);
    let rises_to_it = positions[..below.len()].last().is_none_or(|position| *position == Position::Below);
    let alone = positions.iter().filter(|position| **position != Position::Below).count() == 1;
    match level {
        [] if positions.last() == Some(&Position::Below)
            && position(&best.spread, threshold) == Position::Above =>
        {
            Some(apart(what, FindingKind::FallsAgain, best, last))
        }
        [_] if alone => Some(apart(what, FindingKind::StillGrows, last, before_last)),
        [first, _, ..] if rises_to_it => Some(plateau(what, below.last(), first, level, hosts)),
        _ => None,
    }
}

fn plateau(
    what: &str,
    below: Option<&Point<'_>>,
    first: &Point<'_>,
    level: &[Point<'_>],
    hosts: &[HostRecord],
) -> Finding {
    let spreads = || level.iter().map(|point| &point.spread);
    let (min, max) = range(spreads());
    let rates = values(min, max);
    let last = level.last().unwrap_or(first).size();
    let text = match below {
        Some(below) => format!(
            "{what}: throughput reaches its plateau at {} bytes: {rates} Mbit/s from there to {last} bytes, against {} \
             Mbit/s at {} bytes ({})",
            first.size(),
            values(below.spread.min, below.spread.max),
            below.size(),
            runs(spreads().chain([&below.spread]))
        ),
        None => format!(
            "{what}: throughput is on one level at all sizes from {} to {last} bytes: {rates} Mbit/s ({})",
            first.size(),
            runs(spreads())
        ),
    };
    let cells: Vec<&CellResult> = level.iter().map(|point| point.cell).collect();
    let bound = bottleneck::determine(&cells, hosts);
    let mut numbers = vec![
        ("from_size_bytes".to_owned(), first.size() as f64),
        ("to_size_bytes".to_owned(), last as f64),
        ("goodput_min_mbps".to_owned(), min),
        ("goodput_max_mbps".to_owned(), max),
    ];
    numbers.extend(bound.numbers);
    let rests_on = below.iter().map(|point| point.cell).chain(cells.iter().copied());
    let text = (format!("{text}."), bound.text);
    Finding { limits: bound.limits, ..finding(FindingKind::Plateau, text, rests_on, numbers) }
}

/// Creates the finding for two sizes between which throughput has no plateau: the largest one and another.
fn apart(what: &str, kind: FindingKind, high: &Point<'_>, low: &Point<'_>) -> Finding {
    let at = |point: &Point<'_>| {
        let rates = values(point.spread.min, point.spread.max);
        format!("{rates} Mbit/s at {} bytes", point.size())
    };
    let each = runs([&high.spread, &low.spread].into_iter());
    let text = if kind == FindingKind::StillGrows {
        format!(
            "{what}: throughput still grows at the largest size, and reaches no plateau: {}, against {} ({each}).",
            at(high),
            at(low)
        )
    } else {
        format!(
            "{what}: throughput keeps no plateau: it is highest with {}, and falls to {} ({each}).",
            at(high),
            at(low)
        )
    };
    let numbers = [high, low]
        .into_iter()
        .flat_map(|point| three(&format!("goodput_at_{}_bytes", point.size()), "mbps", &point.spread));
    finding(kind, text, [high.cell, low.cell].into_iter(), numbers)
}
