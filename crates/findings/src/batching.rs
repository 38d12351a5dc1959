//! Gain of batching, and up to which size.

use results::{CellResult, Finding, FindingKind, format_value};
use stats::Spread;

use crate::{
    curves::{Point, Side, delivered_sps},
    format::{finding, over_sizes, overlap, runs, three, values},
};

/// Unbatched and batched throughput at one size, with ranges that do not overlap.
struct Change<'d> {
    size: u64,
    cells: [&'d CellResult; 2],
    spreads: [Spread; 2],
    /// Ratio of batched to unbatched: of the medians, and minimum and maximum between any two runs.
    ratio: Spread,
}

pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let unbatched = side.unbatched(delivered_sps);
    let mut findings = Vec::new();
    for ceiling in side.ceilings() {
        let batched = side.batched(ceiling, delivered_sps);
        let pairs: Vec<(&Point<'_>, &Point<'_>)> = batched
            .iter()
            .filter_map(|point| Some((unbatched.iter().find(|alone| alone.size() == point.size())?, point)))
            .collect();
        let changes: Vec<Option<Change<'_>>> =
            pairs.iter().map(|(alone, packed)| change(alone, packed)).collect();
        for (kind, gains) in [(FindingKind::BatchingGains, true), (FindingKind::BatchingCosts, false)] {
            let is_such = |change: &&Change<'_>| (change.ratio.min > 1.0) == gains;
            let such: Vec<&Change<'_>> = changes.iter().flatten().filter(is_such).collect();
            if !such.is_empty() {
                let what = format!("`{}` batched up to {ceiling} bytes per flush", side.name);
                let sizes: Vec<u64> = pairs.iter().map(|(_, packed)| packed.size()).collect();
                let open = pairs.iter().zip(&changes).filter(|(_, change)| change.is_none());
                let open: Vec<u64> = open.map(|((_, packed), _)| packed.size()).collect();
                findings.push(describe(kind, &what, &such, &sizes, &open));
            }
        }
    }
    findings
}

/// Returns `None` if the ranges overlap, or if no sample was delivered unbatched.
fn change<'d>(alone: &Point<'d>, packed: &Point<'d>) -> Option<Change<'d>> {
    let (from, to) = (alone.spread, packed.spread);
    let apart = to.min > from.max || to.max < from.min;
    if !apart || from.min <= 0.0 {
        return None;
    }
    Some(Change {
        size: packed.size(),
        cells: [alone.cell, packed.cell],
        spreads: [from, to],
        ratio: Spread {
            n: from.n.min(to.n),
            min: to.min / from.max,
            median: to.median / from.median,
            max: to.max / from.min,
        },
    })
}

/// Creates the finding. `sizes` has the sizes measured both ways, ascending; `open` those at which the ranges
/// overlap.
fn describe(kind: FindingKind, what: &str, changes: &[&Change<'_>], sizes: &[u64], open: &[u64]) -> Finding {
    let gains = kind == FindingKind::BatchingGains;
    // the last size of those that agree without a gap from the smallest on
    let agree = sizes.iter().zip(changes).take_while(|(size, change)| **size == change.size).count();
    let up_to = sizes[..agree].last().filter(|_| agree == changes.len());
    let ratios = over_sizes(
        changes,
        |change| change.ratio.median,
        |change| {
            let Spread { min, median, max, .. } = change.ratio;
            let range = values(min, max);
            format!("{} times as many at {} bytes ({range})", format_value(median), change.size)
        },
        |least, most| format!("{} times as many", values(least, most)),
    );
    let more = if gains { "more" } else { "fewer" };
    let reach = match (up_to, sizes) {
        (Some(last), [.., largest]) if last == largest => {
            format!("at all sizes that can be batched, up to {last} bytes")
        }
        (Some(last), _) => format!("up to {last} bytes"),
        (None, _) => format!("at {} of {} sizes", changes.len(), sizes.len()),
    };
    let each = runs(changes.iter().flat_map(|change| &change.spreads));
    let text = format!("{what} delivers {more} samples/s than unbatched {reach}: {ratios}.");
    let more = format!("{} {each}; in brackets the least and the most between any two runs.", overlap(open));
    let cells = changes.iter().flat_map(|change| change.cells);
    let mut numbers: Vec<(String, f64)> = changes
        .iter()
        .flat_map(|change| three(&format!("delivered_at_{}_bytes", change.size), "ratio", &change.ratio))
        .collect();
    numbers.extend(up_to.map(|size| ("up_to_size_bytes".to_owned(), *size as f64)));
    finding(kind, (text, more), cells, numbers)
}
