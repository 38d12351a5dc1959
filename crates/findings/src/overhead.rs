//! RTT of a middleware compared with the bare socket, and whether the difference is the same at all sizes.

use results::{Finding, FindingKind, format_micros};
use stats::Spread;

use crate::{
    LEVEL,
    curves::{Compared, Side},
    format::{finding, micros, over_sizes, overlap, runs, three},
};

pub(crate) fn findings(sides: &[Side<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // What more endpoints cost is the finding of a law.
    let of_pair = |side: &Side<'_>| !side.is_pair() && sides.iter().any(|pair| side.extends_pair(pair));
    let bare_sockets: Vec<&Side<'_>> = sides.iter().filter(|side| side.is_bare_socket()).collect();
    for side in sides.iter().filter(|side| !side.is_bare_socket() && !of_pair(side)) {
        let bare = bare_sockets.iter().find(|other| other.is_comparable(side));
        if let Some(bare) = bare {
            findings.extend(against(side, bare));
        }
    }
    findings
}

fn against(side: &Side<'_>, bare: &Side<'_>) -> Vec<Finding> {
    let base = bare.rtt();
    // RTT of the middleware minus that of the bare socket, in ns
    let points = side.rtt().into_iter();
    let all: Vec<Compared<'_>> =
        points.filter_map(|point| point.compared(&base, |over, under| over - under)).collect();
    let added: Vec<&Compared<'_>> = all.iter().filter(|difference| difference.change.min > 0.0).collect();
    let saved: Vec<&Compared<'_>> = all.iter().filter(|difference| difference.change.max < 0.0).collect();
    let apart = |difference: &&Compared<'_>| difference.change.min > 0.0 || difference.change.max < 0.0;
    let open: Vec<u64> =
        all.iter().filter(|difference| !apart(difference)).map(|difference| difference.size).collect();
    let (over, under) = (&side.name, &bare.name);
    let mut findings = Vec::new();
    for (kind, such) in [(FindingKind::RttAdded, &added), (FindingKind::RttSaved, &saved)] {
        if !such.is_empty() {
            findings.push(describe(kind, over, under, such, &open));
        }
    }
    let what = format!("What `{over}` adds to the median RTT of `{under}`");
    findings.extend(over_all_sizes(&what, &added, all.len()));
    findings
}

fn describe(kind: FindingKind, over: &str, under: &str, such: &[&Compared<'_>], open: &[u64]) -> Finding {
    let (than, sign) = if kind == FindingKind::RttAdded { ("longer", 1.0) } else { ("shorter", -1.0) };
    let range = |least: f64, most: f64| {
        let (least, most) = if sign > 0.0 { (least, most) } else { (-most, -least) };
        micros(least, most)
    };
    let per_size = over_sizes(
        such,
        |difference| difference.change.median,
        |difference| {
            let Spread { min, median, max, .. } = difference.change;
            format!(
                "by {} µs at {} bytes ({})",
                format_micros(median * sign),
                difference.size,
                range(min, max)
            )
        },
        |least, most| format!("by {} µs", range(least, most)),
    );
    let each = runs(such.iter().flat_map(|difference| &difference.spreads));
    let text = format!("`{over}` has a {than} median RTT than the bare socket `{under}`: {per_size}.");
    let more = format!("{} {each}; in brackets the least and the most between any two runs.", overlap(open));
    finding(kind, (text, more), such.iter().flat_map(|difference| difference.cells), numbers(such))
}

/// Constant: one value lies within all differences, and they are on one level. Varies: two differences do not
/// overlap.
fn over_all_sizes(what: &str, added: &[&Compared<'_>], compared: usize) -> Option<Finding> {
    let [first, .., last] = added else { return None };
    let by_median =
        |left: &&&Compared<'_>, right: &&&Compared<'_>| left.change.median.total_cmp(&right.change.median);
    let (lowest, highest) = (added.iter().min_by(by_median)?, added.iter().max_by(by_median)?);
    let most = |of: fn(&Spread) -> f64| added.iter().map(|d| of(&d.change)).fold(f64::NEG_INFINITY, f64::max);
    let least = |of: fn(&Spread) -> f64| added.iter().map(|d| of(&d.change)).fold(f64::INFINITY, f64::min);
    let share_a_value = most(|ns| ns.min) <= least(|ns| ns.max);
    let on_level = added.len() == compared && least(|ns| ns.min) >= highest.change.median * (1.0 - LEVEL);
    let each = runs(added.iter().flat_map(|difference| &difference.spreads));
    let (kind, text) = if !share_a_value {
        let at = |d: &Compared<'_>| format!("{} µs at {} bytes", format_micros(d.change.median), d.size);
        let text =
            format!("{what} is not the same at all sizes: {} but {} ({each}).", at(lowest), at(highest));
        (FindingKind::RttAddedVaries, text)
    } else if on_level {
        let range = micros(lowest.change.median, highest.change.median);
        let whole = micros(least(|ns| ns.min), most(|ns| ns.max));
        let text = format!(
            "{what} is constant from {} to {} bytes: {range} µs ({each}; {whole} between any two).",
            first.size, last.size
        );
        (FindingKind::RttAddedConstant, text)
    } else {
        return None;
    };
    Some(finding(kind, text, added.iter().flat_map(|difference| difference.cells), numbers(added)))
}

fn numbers(differences: &[&Compared<'_>]) -> Vec<(String, f64)> {
    let of = |difference: &&Compared<'_>| {
        three(&format!("rtt_added_at_{}_bytes", difference.size), "ns", &difference.change)
    };
    differences.iter().flat_map(of).collect()
}
