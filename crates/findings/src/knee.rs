//! Knee: the highest load at which the 99 % time stays near that of the lowest load.

use results::{CellResult, Finding, FindingKind, format_micros};

use crate::{
    KNEE,
    curves::{Point, Position, over_runs, position, range},
    format::{finding, list, micros, runs, three},
    load_point::{in_words, on_both_sides},
    tail::{Tail, response_p99_ns, why_not},
};

/// Returns the highest load at which the 99 % time is below [`KNEE`] times that at the lowest load, or why it is
/// unclear. `cells` differ only in their rate, in ascending order.
pub(crate) fn findings(what: &str, cells: &[&CellResult]) -> Option<Finding> {
    let tail = Tail::of(cells.iter().copied());
    let points: Vec<Point<'_>> =
        cells.iter().filter_map(|&cell| Some(Point { cell, spread: tail.over_runs(cell)? })).collect();
    let called: Vec<(String, &CellResult)> = points.iter().map(|point| (point.load(), point.cell)).collect();
    let because = format!("{}{}", tail.why(&called), left_out(cells));
    let [first, .., last] = &points[..] else { return too_few(what, cells, points.len(), &because) };
    let limit = KNEE * first.spread.median;
    let positions: Vec<Position> = points.iter().map(|point| position(&point.spread, limit)).collect();
    let within = positions.iter().take_while(|position| **position == Position::Below).count();
    let (near, far) = points.split_at(within);
    let beyond = positions.iter().rev().take_while(|position| **position == Position::Above).count();
    let is_clear =
        positions[within..points.len() - beyond].iter().all(|position| *position == Position::Between);
    let (time, key) = (tail.words(), tail.key());
    let lowest = format!(
        "that at the lowest load, {}: {} µs ({})",
        first.load(),
        format_micros(first.spread.median),
        micros(first.spread.min, first.spread.max)
    );
    let each = runs(points.iter().map(|point| &point.spread));
    let mut numbers = vec![("lowest_sps".to_owned(), first.sps())];
    numbers.extend(three(&format!("lowest_{key}_p99"), "ns", &first.spread));
    let (low, high) = range(near.iter().map(|point| &point.spread));
    if !near.is_empty() {
        numbers.push((format!("{key}_p99_min_ns"), low));
        numbers.push((format!("{key}_p99_max_ns"), high));
    }
    let (kind, text) = match (near.last(), far) {
        (Some(_), []) => {
            numbers.push(("highest_sps".to_owned(), last.sps()));
            numbers.extend(last.percent("highest"));
            let text = format!(
                "{what}: no knee up to {}: at all loads the 99 % {time} stays within twice {lowest}; it is {} µs \
                 ({each}).",
                last.load(),
                micros(low, high)
            );
            (FindingKind::NoKnee, (text, because))
        }
        (Some(at_knee), far) if beyond > 0 && is_clear => {
            let (unclear, after) = far.split_at(far.len() - beyond);
            let after = after.first()?;
            numbers.push(("knee_sps".to_owned(), at_knee.sps()));
            numbers.extend(at_knee.percent("knee"));
            numbers.push(("beyond_sps".to_owned(), after.sps()));
            numbers.extend(after.percent("beyond"));
            numbers.extend(three(&format!("beyond_{key}_p99"), "ns", &after.spread));
            let text = format!(
                "{what}: the knee is at {}: up to there the 99 % {time}, {} µs, stays within twice {lowest}; at {} it \
                 is {} µs ({each}).",
                at_knee.load(),
                micros(low, high),
                after.load(),
                micros(after.spread.min, after.spread.max),
            );
            (FindingKind::Knee, (text, format!("{}{because}", on_both_sides(unclear))))
        }
        _ => {
            let described: Vec<String> = points.iter().map(describe).collect();
            let text = format!(
                "{what}: it is not clear where the knee is: the 99 % {time}, or its runs, go back and forth over twice \
                 {lowest}; it is {} ({each}).",
                list(&described)
            );
            (FindingKind::KneeUnclear, (text, because))
        }
    };
    Some(finding(kind, text, points.iter().map(|point| point.cell), numbers))
}

/// Formats the value at a load.
fn describe(point: &Point<'_>) -> String {
    format!("{} µs at {}", micros(point.spread.min, point.spread.max), point.load())
}

/// Returns a finding if there are loads to compare, but too few of them are usable.
fn too_few(what: &str, cells: &[&CellResult], left: usize, because: &str) -> Option<Finding> {
    let measured: Vec<&CellResult> =
        cells.iter().copied().filter(|cell| over_runs(cell, response_p99_ns).is_some()).collect();
    if measured.len() < 2 {
        return None;
    }
    let text = format!(
        "{what}: it is not clear where the knee is: of {} loads {left} can be compared.",
        measured.len()
    );
    let text = (text, because.to_owned());
    let numbers = [("loads", measured.len() as f64), ("loads_compared", left as f64)];
    Some(finding(FindingKind::KneeUnclear, text, measured.into_iter(), numbers))
}

/// Formats a sentence about the loads that are excluded; empty if there are none.
fn left_out(cells: &[&CellResult]) -> String {
    let described: Vec<String> =
        cells.iter().filter_map(|cell| Some(format!("{} ({})", in_words(cell), why_not(cell)?))).collect();
    match described.len() {
        0 => String::new(),
        _ => format!(" Left out, because their times cannot be compared: {}.", list(&described)),
    }
}
