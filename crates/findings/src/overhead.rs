//! What a middleware's round trip takes over that of the bare socket, and whether that is the same at all sizes.

use results::{Cell, Finding, FindingKind};
use stats::Spread;

use crate::{
    LEVEL,
    figures::Side,
    words::{between, finding, micros, over_sizes, runs, three},
};

/// At one size: RTT of the middleware less that of the bare socket.
struct Difference<'d> {
    size: u64,
    cells: [&'d Cell; 2],
    spreads: [Spread; 2],
    /// In ns: of the medians, and the least and the most between any two runs.
    ns: Spread,
}

pub(crate) fn findings(sides: &[Side<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for side in sides.iter().filter(|side| !side.is_bare_socket()) {
        let bare = sides.iter().find(|other| other.is_bare_socket() && other.is_comparable(side));
        if let Some(bare) = bare {
            findings.extend(against(side, bare));
        }
    }
    findings
}

fn against(side: &Side<'_>, bare: &Side<'_>) -> Vec<Finding> {
    let base = bare.rtt();
    let all: Vec<Difference<'_>> = side
        .rtt()
        .into_iter()
        .filter_map(|point| {
            let base = base.iter().find(|base| base.size == point.size)?;
            let (over, under) = (point.spread, base.spread);
            Some(Difference {
                size: point.size,
                cells: [point.cell, base.cell],
                spreads: [over, under],
                ns: Spread {
                    n: over.n.min(under.n),
                    min: over.min - under.max,
                    median: over.median - under.median,
                    max: over.max - under.min,
                },
            })
        })
        .collect();
    let added: Vec<&Difference<'_>> = all.iter().filter(|difference| difference.ns.min > 0.0).collect();
    let saved: Vec<&Difference<'_>> = all.iter().filter(|difference| difference.ns.max < 0.0).collect();
    let (over, under) = (&side.name, &bare.name);
    let mut findings = Vec::new();
    for (kind, what, such) in [
        (
            FindingKind::RttAdded,
            format!("`{over}` adds to the median RTT of the bare socket `{under}`"),
            &added,
        ),
        (
            FindingKind::RttSaved,
            format!("`{over}` has a smaller median RTT than the bare socket `{under}`"),
            &saved,
        ),
    ] {
        if !such.is_empty() {
            findings.push(told(kind, &what, such, all.len()));
        }
    }
    let what = format!("`{over}` adds to the median RTT of `{under}`");
    findings.extend(over_all_sizes(&what, &added, all.len()));
    findings
}

fn told(kind: FindingKind, what: &str, such: &[&Difference<'_>], compared: usize) -> Finding {
    let sign = if kind == FindingKind::RttAdded { 1.0 } else { -1.0 };
    let figures = over_sizes(
        such,
        |difference| difference.ns.median,
        |difference| {
            let Spread { min, median, max, .. } = difference.ns;
            let (least, most) = if sign > 0.0 { (min, max) } else { (-max, -min) };
            let range = between(&micros(least), &micros(most));
            {
                let less = if sign > 0.0 { "" } else { " less" };
                format!("{} µs{less} at {} bytes ({range})", micros(median * sign), difference.size)
            }
        },
    );
    let others = match compared - such.len() {
        0 => String::new(),
        others => format!("; not so at {others} of {compared} sizes"),
    };
    let each = runs(such.iter().flat_map(|difference| &difference.spreads));
    let text = format!("{what}: {figures}{others}; {each}, in brackets between any two of them.");
    finding(kind, text, such.iter().flat_map(|difference| difference.cells), numbers(such))
}

/// Constant: one value lies within all differences, and they are on one level. Varies: two of them have no value in common.
fn over_all_sizes(what: &str, added: &[&Difference<'_>], compared: usize) -> Option<Finding> {
    let [first, .., last] = added else { return None };
    let most = |of: fn(&Spread) -> f64| added.iter().map(|d| of(&d.ns)).fold(f64::NEG_INFINITY, f64::max);
    let least = |of: fn(&Spread) -> f64| added.iter().map(|d| of(&d.ns)).fold(f64::INFINITY, f64::min);
    let (highest, lowest) = (most(|ns| ns.median), least(|ns| ns.median));
    let share_a_value = most(|ns| ns.min) <= least(|ns| ns.max);
    let on_level = added.len() == compared && least(|ns| ns.min) >= highest * (1.0 - LEVEL);
    let range = between(&micros(lowest), &micros(highest));
    let sizes = format!("{} to {} bytes", first.size, last.size);
    let (kind, text) = if !share_a_value {
        let text = format!("What {what} is not constant over sizes: medians of {range} µs over {sizes}.");
        (FindingKind::RttAddedVaries, text)
    } else if on_level {
        let whole = between(&micros(least(|ns| ns.min)), &micros(most(|ns| ns.max)));
        let text =
            format!("What {what} is constant over {sizes}: {range} µs ({whole} between any two runs).");
        (FindingKind::RttAddedConstant, text)
    } else {
        return None;
    };
    Some(finding(kind, text, added.iter().flat_map(|difference| difference.cells), numbers(added)))
}

fn numbers(differences: &[&Difference<'_>]) -> Vec<(String, f64)> {
    let of = |difference: &&Difference<'_>| {
        three(&format!("rtt_added_at_{}_bytes", difference.size), "ns", &difference.ns)
    };
    differences.iter().flat_map(of).collect()
}
