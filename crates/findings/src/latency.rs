//! Growth of the RTT over sizes, and up to which size it is flat.

use std::collections::{BTreeMap, BTreeSet};

use results::{Finding, FindingKind, format_micros, format_value};
use stats::{Spread, slope};

use crate::{
    LEVEL, MIN_RUNS,
    curves::{Point, Position, Side, median_rtt_ns, position, range},
    format::{finding, micros, runs, three, values},
};

pub(crate) fn findings(side: &Side<'_>) -> Option<Finding> {
    let curve = side.rtt();
    let [first, .., last] = &curve[..] else { return None };
    let threshold = first.spread.median * (1.0 + LEVEL);
    // a larger sample can be faster: with rarer samples, an idle core sleeps more deeply
    let floor = first.spread.median * (1.0 - LEVEL);
    let is_flat = |point: &Point<'_>| {
        position(&point.spread, threshold) == Position::Below
            && position(&point.spread, floor) == Position::Above
    };
    let flat = curve.iter().take_while(|point| is_flat(point)).count();
    let text_of = |points: &[Point<'_>]| {
        let (min, max) = range(points.iter().map(|point| &point.spread));
        micros(min, max)
    };
    if flat == curve.len() {
        let text = format!(
            "`{}`: the median RTT is flat from {} to {} bytes: {} µs ({}).",
            side.name,
            first.size(),
            last.size(),
            text_of(&curve),
            runs(curve.iter().map(|point| &point.spread))
        );
        let (min, max) = range(curve.iter().map(|point| &point.spread));
        let numbers = [
            ("from_size_bytes", first.size() as f64),
            ("to_size_bytes", last.size() as f64),
            ("rtt_min_ns", min),
            ("rtt_max_ns", max),
        ];
        return Some(finding(FindingKind::LatencyFlat, text, curve.iter().map(|point| point.cell), numbers));
    }
    // it rises from the last flat size on, if the next one is clearly not flat
    let knee = (flat > 0 && position(&curve[flat].spread, threshold) == Position::Above).then(|| flat - 1);
    let rising = &curve[knee.unwrap_or(0)..];
    let slopes = slopes(rising).filter(|slopes| slopes.min > 0.0)?;
    if last.spread.min <= first.spread.max {
        return None;
    }
    let each = runs(curve.iter().map(|point| &point.spread));
    let at = |point: &Point<'_>| {
        let Spread { min, median, max, .. } = point.spread;
        format!("{} µs at {} bytes ({})", format_micros(median), point.size(), micros(min, max))
    };
    let slope = format!(
        "{} ns per byte ({} over {} blocks of runs)",
        format_value(slopes.median),
        values(slopes.min, slopes.max),
        slopes.n
    );
    let text = match knee.filter(|knee| *knee > 0) {
        Some(knee) => {
            let size = curve[knee].size();
            let level = text_of(&curve[..=knee]);
            let text = format!("`{}`: the median RTT is flat up to {size} bytes: {level} µs.", side.name);
            (text, format!("From there it grows by {slope}, to {}. {each}.", at(last)))
        }
        None => {
            let (from, to) = (at(first), at(last));
            let name = &side.name;
            let text =
                format!("`{name}`: the median RTT grows with the size, from {from} to {to}: by {slope}.");
            (text, format!("{each}."))
        }
    };
    let mut numbers = three("rtt_slope", "ns_per_byte", &slopes).to_vec();
    numbers.push(("slope_from_size_bytes".to_owned(), rising[0].size() as f64));
    numbers.push(("slope_to_size_bytes".to_owned(), last.size() as f64));
    numbers.push(("blocks".to_owned(), slopes.n as f64));
    if let Some(knee) = knee.filter(|knee| *knee > 0) {
        numbers.push(("flat_to_size_bytes".to_owned(), curve[knee].size() as f64));
    }
    for point in [first, last] {
        numbers.extend(three(&format!("rtt_at_{}_bytes", point.size()), "ns", &point.spread));
    }
    Some(finding(FindingKind::LatencyGrows, text, curve.iter().map(|point| point.cell), numbers))
}

/// Returns the range of the slope over the blocks, in ns per byte. Only blocks with a run of each size are used.
fn slopes(points: &[Point<'_>]) -> Option<Spread> {
    let by_block = points.iter().map(|point| {
        let runs = point.cell.valid_runs();
        let values = runs.filter_map(|run| Some((run.block, (point.size() as f64, median_rtt_ns(run)?))));
        values.collect::<BTreeMap<u32, (f64, f64)>>()
    });
    let by_block: Vec<_> = by_block.collect();
    let blocks: BTreeSet<u32> = by_block.iter().flat_map(|values| values.keys().copied()).collect();
    let slopes: Vec<f64> = blocks
        .iter()
        .filter_map(|block| {
            by_block.iter().map(|values| values.get(block).copied()).collect::<Option<Vec<_>>>()
        })
        .filter_map(|points| slope(&points))
        .collect();
    Spread::from_values(&slopes).filter(|slopes| slopes.n >= MIN_RUNS)
}
