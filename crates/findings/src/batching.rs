//! Gain of batching, and up to which size.

use results::{Finding, FindingKind, format_value};
use stats::Spread;

use crate::{
    curves::{Compared, Side, delivered_sps},
    format::{finding, over_sizes, overlap, runs, three, values},
};

pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let unbatched = side.unbatched(delivered_sps);
    let mut findings = Vec::new();
    for ceiling in side.ceilings() {
        let batched = side.batched(ceiling, delivered_sps);
        let pairs: Vec<Compared<'_>> = batched
            .iter()
            .filter_map(|point| point.compared(&unbatched, |packed, alone| packed / alone))
            .collect();
        // `open`: the ranges overlap, or no sample was delivered unbatched
        let (apart, open): (Vec<&Compared<'_>>, Vec<&Compared<'_>>) = pairs
            .iter()
            .partition(|pair| pair.spreads[1].min > 0.0 && (pair.change.min > 1.0 || pair.change.max < 1.0));
        for (kind, gains) in [(FindingKind::BatchingGains, true), (FindingKind::BatchingCosts, false)] {
            let such = apart.iter().copied().filter(|pair| (pair.change.min > 1.0) == gains);
            let such: Vec<&Compared<'_>> = such.collect();
            if !such.is_empty() {
                let what = format!("`{}` batched up to {ceiling} bytes per flush", side.name);
                let sizes: Vec<u64> = pairs.iter().map(|pair| pair.size).collect();
                let open: Vec<u64> = open.iter().map(|pair| pair.size).collect();
                findings.push(describe(kind, &what, &such, &sizes, &open));
            }
        }
    }
    findings
}

/// Creates the finding. `sizes` has the sizes measured both ways, ascending; `open` those at which the ranges
/// overlap.
fn describe(
    kind: FindingKind,
    what: &str,
    changes: &[&Compared<'_>],
    sizes: &[u64],
    open: &[u64],
) -> Finding {
    let gains = kind == FindingKind::BatchingGains;
    // the last size of those that agree without a gap from the smallest on
    let agree = sizes.iter().zip(changes).take_while(|(size, change)| **size == change.size).count();
    let up_to = sizes[..agree].last().filter(|_| agree == changes.len());
    let ratios = over_sizes(
        changes,
        |change| change.change.median,
        |change| {
            let Spread { min, median, max, .. } = change.change;
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
    let cells = changes.iter().flat_map(|change| change.cells.into_iter().rev());
    let mut numbers: Vec<(String, f64)> = changes
        .iter()
        .flat_map(|change| three(&format!("delivered_at_{}_bytes", change.size), "ratio", &change.change))
        .collect();
    numbers.extend(up_to.map(|size| ("up_to_size_bytes".to_owned(), *size as f64)));
    finding(kind, (text, more), cells, numbers)
}
