//! Marks that several charts have.

use crate::{
    canvas::{Anchor, Canvas, Position},
    labels::spread,
    model::{Estimate, Interval, Series, Slot},
    scale::Map,
    text::{BOLD, LINE, width, wrap_names},
};

/// Radius of marks in px.
pub(crate) const MARK: f64 = 3.4;
/// Distance of names at line ends in px.
const NAME_GAP: f64 = 15.0;
/// Distance in px from which on an end of a line has a leader to its name.
const FAR: f64 = 48.0;
/// Distance of names from the plot in px.
const BESIDE: f64 = 12.0;
/// Space in px that names may use above and below the plot.
const ABOVE: f64 = -4.0;
const BELOW: f64 = 13.0;
/// Least space for names in px.
const LEAST_NAME: f64 = 20.0;
/// Size of names in px.
pub(crate) const NAME: f64 = 13.0 * BOLD;

/// Draws the interval of an estimate as a vertical line, unless it is shorter than a mark; an infinite end as an
/// arrow.
pub(crate) fn whisker(canvas: &mut Canvas, map: &Map, x: f64, estimate: Estimate, slot: Slot) {
    let Some(interval) = estimate.interval.filter(|interval| interval.is_valid()) else { return };
    let class = format!("wh {}", slot.class());
    let low = map.at(interval.low).unwrap_or(map.from);
    let infinite = interval.high == f64::INFINITY;
    let high = if infinite { Some(map.to) } else { map.at(interval.high) };
    let Some(high) = high else { return };
    if (low - high).abs() >= 2.0 * MARK {
        canvas.verticals([(x, low, high)], &class);
        if infinite {
            canvas.arrow((x, high), (0.0, 1.0), &class);
        }
    }
}

/// Draws an interval as a horizontal line of a class; an end outside of the map as an arrow, `beyond` px from its edge.
pub(crate) fn bar(
    canvas: &mut Canvas,
    map: &Map,
    (interval, y): (Option<Interval>, f64),
    (class, slot): (&str, Slot),
    beyond: f64,
) {
    let Some(interval) = interval.filter(|interval| interval.is_valid()) else { return };
    let (low, high) = (map.at(interval.low).unwrap_or(map.from), map.at(interval.high).unwrap_or(map.to));
    canvas.line((low, y), (high, y), &format!("{class} {}", slot.class()));
    let class = format!("arr {}", slot.class());
    if !map.contains(interval.low) {
        canvas.arrow((map.from - beyond, y), (1.0, 0.0), &class);
    }
    if !map.contains(interval.high) {
        canvas.arrow((map.to + beyond, y), (-1.0, 0.0), &class);
    }
}

/// Values of an estimate that an axis should contain.
pub(crate) fn extent(estimate: &Estimate) -> impl Iterator<Item = f64> + use<> {
    let ends = estimate.interval.map(|interval| [interval.low, interval.high]);
    std::iter::once(estimate.value).chain(ends.into_iter().flatten())
}

/// Name at the end of a line.
#[derive(Debug)]
pub(crate) struct EndName<'a> {
    pub series: &'a Series,
    /// Last point of the line.
    pub end: Position,
    /// Classes of a short piece of the line that is drawn in front of the name; may be empty.
    pub sample: String,
}

/// Space in px that a piece of a line needs in front of a name.
pub(crate) const SAMPLE: f64 = 24.0;

/// Returns the space in px that names need right of the plot, at most `share` of the width, and `beside` in front of them.
pub(crate) fn names_space<'a>(
    names: impl IntoIterator<Item = &'a Series>,
    total: f64,
    share: f64,
    beside: f64,
) -> f64 {
    let widest = names.into_iter().map(|series| width(&series.name, NAME)).fold(0.0, f64::max);
    if widest == 0.0 { 12.0 } else { (widest + 16.0).min(share * total) + beside }
}

/// Most lines of a name at the end of a line.
const NAME_LINES: usize = 6;

/// Returns each name in lines that fit into `space` px right of the plot; `None` if there is no space.
fn wrapped_names(names: &[&str], space: f64) -> Option<Vec<Vec<String>>> {
    let space = space - BESIDE;
    (space >= LEAST_NAME).then(|| wrap_names(names, NAME, space, NAME_LINES))
}

/// Returns the height in px of each of these names.
fn heights(lines: &[Vec<String>]) -> Vec<f64> {
    lines.iter().map(|lines| NAME_GAP + LINE * lines.len().saturating_sub(1) as f64).collect()
}

/// Returns the height of a plot in px at which no name in `space` px right of it covers another.
pub(crate) fn names_height<'a>(names: impl IntoIterator<Item = &'a Series>, space: f64) -> f64 {
    let names: Vec<&str> = names.into_iter().map(|series| series.name.as_str()).collect();
    let sum = wrapped_names(&names, space).map_or(0.0, |lines| heights(&lines).iter().sum::<f64>());
    sum - (ABOVE + BELOW)
}

/// Writes names into `space` px right of the plot, at the height of their lines or moved apart, with a leader if moved or far away.
pub(crate) fn end_names(
    canvas: &mut Canvas,
    names: &[EndName<'_>],
    (right, space): (f64, f64),
    (top, bottom): (f64, f64),
) {
    let wanted: Vec<f64> = names.iter().map(|name| name.end.1).collect();
    let all: Vec<&str> = names.iter().map(|name| name.series.name.as_str()).collect();
    let beside = if names.iter().any(|name| !name.sample.is_empty()) { SAMPLE } else { 0.0 };
    let Some(lines) = wrapped_names(&all, space - beside) else { return };
    let x = right + BESIDE;
    let places = spread(&wanted, &heights(&lines), top - ABOVE, bottom + BELOW);
    for ((name, lines), y) in names.iter().zip(lines).zip(places) {
        let slot = name.series.slot.class();
        if (y - name.end.1).abs() > 5.0 || name.end.0 < right - FAR {
            canvas.line((name.end.0 + MARK + 1.0, name.end.1), (x - 2.0, y), &format!("lead {slot}"));
        }
        if !name.sample.is_empty() {
            let class = format!("{} {slot}", name.sample);
            canvas.path(&[(x, y), (x + SAMPLE - 4.0, y)], &class);
        }
        let x = if name.sample.is_empty() { x } else { x + SAMPLE };
        canvas.lines((x, y + 4.5), Anchor::Start, &format!("n {slot}"), &lines);
    }
}
