//! Horizontal bars of parts.

use crate::{
    axes::{XAxis, tooltip},
    canvas::{Anchor, Canvas},
    draw::marks::extent,
    model::{Axis, Bar, BarGroup, Bars, Scale},
    number::{drawable, estimate, plain, value},
    scale::Map,
    text::{LINE, widest, width, wrap, wrap_names},
};

/// Height of a bar in px.
const BAR: f64 = 11.0;
/// Distance of bars in px.
const STEP: f64 = 13.0;
/// Space between groups in px.
const GROUP_GAP: f64 = 11.0;
/// Least space for a number in px.
const NUMBER: f64 = 40.0;
/// Size of names in px.
const NAME: f64 = 12.5;
/// Most lines of a name.
const NAME_LINES: usize = 6;
/// Classes of the parts.
const PARTS: [&str; 3] = ["bar", "bar2", "bar3"];

/// Place of the names of series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Behind the bars of the first group, which has each series, in a colour of its own.
    First,
    /// Behind all bars.
    Behind,
    /// Above all bars: they are too long for another place.
    Above,
}

/// Draws the chart and returns its height.
pub(crate) fn draw(bars: &Bars, canvas: &mut Canvas) -> f64 {
    let total = canvas.width;
    let labels: Vec<&str> = bars.groups.iter().map(|group| group.label.as_str()).collect();
    let labels = wrap_names(&labels, 12.0, 0.24 * total, NAME_LINES);
    let group_label = wrap(&bars.group_label, 12.0, 0.24 * total);
    let left = widest(labels.iter().flatten().chain(&group_label), 12.0) + 10.0;
    let all = || bars.groups.iter().flat_map(|group| &group.bars);
    let values = all().flat_map(|bar| extent(&bar.total).chain(std::iter::once(length(bar))));
    let axis = Axis { scale: Scale::FromZero, ..bars.x.clone() };
    let map = Map::new(&Scale::FromZero, values.map(|value| value.max(0.0)), left, total);
    let places =
        if is_told_by_colour(bars) { [Names::First, Names::Above] } else { [Names::Behind, Names::Above] };
    let least = 0.35 * (total - left);
    // Numbers of one unit; those of rates have many digits.
    let factor = XAxis::with_map(&axis, map).ticks.factor;
    let numbers = all().map(|bar| width(&format!("{}  ", plain(bar.total.value / factor)), NAME));
    let number = numbers.fold(NUMBER, f64::max);
    let end = |names| right_end(bars, &map, (total, number), names);
    let names = places.into_iter().find(|names| end(*names) >= left + least).unwrap_or(Names::Above);
    let x = XAxis::with_map(&axis, map.onto(left, end(names).max(left + least)));
    let factor = x.ticks.factor;
    let series: Vec<&str> = all().map(|bar| bar.series.name.as_str()).collect();
    let mut lines = wrap_names(&series, NAME, total - left, NAME_LINES).into_iter();
    let top = key(bars, canvas, left) + LINE * group_label.len().saturating_sub(1) as f64;
    let first = top - 6.0 - LINE * group_label.len().saturating_sub(1) as f64;
    canvas.lines((left - 8.0, first), Anchor::End, "t", &group_label);
    let mut y = top + 4.0;
    let mut placed: Vec<(f64, &BarGroup, &Bar, &str, Vec<String>)> = Vec::new();
    for (index, (group, label)) in bars.groups.iter().zip(&labels).enumerate() {
        let start = y;
        for bar in &group.bars {
            let above = lines.next().filter(|_| names == Names::Above).unwrap_or_default();
            y += LINE * above.len() as f64;
            let is_named = names == Names::Behind || (names == Names::First && index == 0);
            placed.push((y, group, bar, if is_named { &bar.series.name } else { "" }, above));
            y += STEP;
        }
        y = y.max(start + LINE * label.len() as f64);
        let middle = f64::midpoint(start, y) - LINE / 2.0 * label.len().saturating_sub(1) as f64;
        canvas.lines((left - 8.0, middle + 3.0), Anchor::End, "t", label);
        y += GROUP_GAP;
    }
    let bottom = y - 4.0;
    x.draw_grid(canvas, top, bottom);
    for (y, group, bar, name, above) in placed {
        let class = format!("nv {}", bar.series.slot.class());
        let first = y - 3.0 - LINE * above.len().saturating_sub(1) as f64;
        canvas.lines((left + 2.0, first), Anchor::Start, &class, &above);
        draw_bar(bars, bar, canvas, (&x.map, factor), y, [&group.label, name]);
    }
    canvas.line((left, top), (left, bottom), "ax");
    x.draw_texts(canvas, total, bottom);
    x.draw_label(canvas, left, x.map.to, bottom);
    bottom + 40.0
}

/// Returns whether the colour of a bar and the names in the first group say which series it is.
fn is_told_by_colour(bars: &Bars) -> bool {
    let Some(first) = bars.groups.first() else { return true };
    let mut all = bars.groups.iter().flat_map(|group| &group.bars);
    all.all(|bar| {
        let same = |other: &&Bar| other.series.slot.class() == bar.series.slot.class();
        let mut of_colour = first.bars.iter().filter(same);
        of_colour.next().is_some_and(|of| of.series.name == bar.series.name) && of_colour.next().is_none()
    })
}

/// Returns the end of the axis, such that all numbers and names behind the bars fit.
fn right_end(bars: &Bars, map: &Map, (total, number): (f64, f64), names: Names) -> f64 {
    let left = map.from;
    let mut length = total - left - 12.0;
    for (index, group) in bars.groups.iter().enumerate() {
        let is_named = names == Names::Behind || (names == Names::First && index == 0);
        for bar in &group.bars {
            let behind = 6.0 + number + if is_named { width(&bar.series.name, NAME) } else { 0.0 };
            let end = extent(&bar.total).filter(|value| drawable(*value)).fold(self::length(bar), f64::max);
            let share = (end / map.high).clamp(0.0, 1.0);
            if share > 0.0 {
                length = length.min((total - left - behind) / share);
            } else {
                length = if behind > total - left { 0.0 } else { length };
            }
        }
    }
    left + length
}

/// Returns the sum of the parts that can be drawn.
fn length(bar: &Bar) -> f64 {
    bar.parts.iter().filter(|part| drawable(**part)).map(|part| part.max(0.0)).sum()
}

/// Draws a sample of each part above the bars, and returns where they begin.
fn key(bars: &Bars, canvas: &mut Canvas, left: f64) -> f64 {
    let (mut x, mut y) = (left, 4.0);
    for (part, class) in bars.parts.iter().zip(PARTS) {
        let lines = wrap(part, 12.0, canvas.width - left - 23.0);
        let wide = widest(&lines, 12.0);
        if x > left && x + 23.0 + wide > canvas.width {
            (x, y) = (left, y + LINE);
        }
        canvas.rect((x, y), (x + 18.0, y + BAR), &format!("{class} ink"), "");
        canvas.lines((x + 23.0, y + 10.0), Anchor::Start, "t", &lines);
        x += 23.0 + wide + 16.0;
        y += LINE * lines.len().saturating_sub(1) as f64;
    }
    if bars.parts.is_empty() { 16.0 } else { y + 36.0 }
}

fn draw_bar(
    bars: &Bars,
    bar: &Bar,
    canvas: &mut Canvas,
    (map, factor): (&Map, f64),
    y: f64,
    names: [&str; 2],
) {
    let [group, name] = names;
    let slot = bar.series.slot.class();
    let text = estimate(bar.total, bars.x.unit);
    let mut sum = 0.0;
    for (index, part) in bar.parts.iter().enumerate() {
        let part_value = if drawable(*part) { part.max(0.0) } else { 0.0 };
        let (Some(from), Some(to)) = (map.at(sum), map.at(sum + part_value)) else { continue };
        sum += part_value;
        let title = match bars.parts.get(index) {
            Some(name) => {
                let sum = format!("sum {text}");
                tooltip(&[&bar.series.name, group, name], &value(*part, bars.x.unit), &sum)
            }
            None => tooltip(&[&bar.series.name, group], &text, ""),
        };
        let class = PARTS[index.min(PARTS.len() - 1)];
        canvas.rect((from, y), (to, y + BAR), &format!("{class} {slot}"), &title);
    }
    let mut end = map.at(sum).unwrap_or(map.from);
    if let Some(interval) = bar.total.interval.filter(|interval| interval.is_valid()) {
        let low = map.at(interval.low.max(0.0)).unwrap_or(map.from);
        let high = map.at(interval.high).unwrap_or(map.to);
        canvas.line((low, y + BAR / 2.0), (high, y + BAR / 2.0), "whk");
        end = end.max(high);
    }
    let number = plain(bar.total.value / factor);
    if name.is_empty() {
        canvas.text((end + 6.0, y + BAR - 1.5), Anchor::Start, "v", &number);
    } else {
        let text = format!("{number}  {name}");
        canvas.text((end + 6.0, y + BAR - 1.5), Anchor::Start, &format!("nv {slot}"), &text);
    }
}
