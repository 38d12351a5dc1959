//! Horizontal bars of parts.

use crate::{
    axes::{XAxis, tooltip},
    canvas::{Anchor, Canvas},
    draw::marks::extent,
    model::{Axis, Bar, Bars, Scale},
    number::{drawable, estimate, plain, value},
    scale::Map,
    text::{fit, width},
};

/// Height of a bar in px.
const BAR: f64 = 11.0;
/// Distance of bars in px.
const STEP: f64 = 13.0;
/// Space between groups in px.
const GROUP_GAP: f64 = 11.0;
/// Space for a number in px.
const NUMBER: f64 = 40.0;
/// Classes of the parts.
const PARTS: [&str; 3] = ["bar", "bar2", "bar3"];

/// Draws the chart and returns its height.
pub(crate) fn draw(bars: &Bars, canvas: &mut Canvas) -> f64 {
    let total = canvas.width();
    let labels = bars.groups.iter().map(|group| width(&group.label, 12.0)).fold(0.0, f64::max);
    let left = labels.max(width(&bars.group_label, 12.0)).min(0.24 * total) + 10.0;
    let all = || bars.groups.iter().flat_map(|group| &group.bars);
    let values = all().flat_map(|bar| extent(&bar.total).chain(std::iter::once(length(bar))));
    let axis = Axis { scale: Scale::FromZero, ..bars.x.clone() };
    let map = Map::new(&Scale::FromZero, values.map(|value| value.max(0.0)), left, total);
    let map = map.onto(left, right_end(bars, &map, total));
    let x = XAxis::with_map(&axis, map);
    let factor = x.factor();
    let top = if bars.parts.is_empty() { 16.0 } else { 40.0 };
    let height: f64 = bars.groups.iter().map(|group| group.bars.len() as f64 * STEP + GROUP_GAP).sum();
    let bottom = top + height;
    key(bars, canvas, left);
    canvas.text((left - 8.0, top - 6.0), Anchor::End, "t", &bars.group_label);
    x.draw_grid(canvas, top, bottom);
    let mut y = top + 4.0;
    for (index, group) in bars.groups.iter().enumerate() {
        let middle = y + group.bars.len() as f64 * STEP / 2.0;
        let label = fit(&group.label, 12.0, left - 10.0);
        canvas.text((left - 8.0, middle + 3.0), Anchor::End, "t", &label);
        for bar in &group.bars {
            let name = if index == 0 { &*bar.series.name } else { "" };
            draw_bar(bars, bar, canvas, (&x.map, factor), y, [&group.label, name]);
            y += STEP;
        }
        y += GROUP_GAP;
    }
    canvas.line((left, top), (left, bottom), "ax");
    x.draw_texts(canvas, total, bottom);
    x.draw_label(canvas, left, x.map.to, bottom);
    bottom + 40.0
}

/// Returns the end of the axis, such that all numbers and names behind the bars fit.
fn right_end(bars: &Bars, map: &Map, total: f64) -> f64 {
    let left = map.from;
    let mut length = total - left - 12.0;
    for (index, group) in bars.groups.iter().enumerate() {
        for bar in &group.bars {
            let name = if index == 0 { &*bar.series.name } else { "" };
            let behind = 6.0 + NUMBER + width(name, 12.5);
            let end = extent(&bar.total).filter(|value| drawable(*value)).fold(self::length(bar), f64::max);
            let share = (end / map.high).clamp(0.0, 1.0);
            if share > 0.0 {
                length = length.min((total - left - behind) / share);
            }
        }
    }
    left + length.max(0.35 * (total - left))
}

/// Returns the sum of the parts that can be drawn.
fn length(bar: &Bar) -> f64 {
    bar.parts.iter().filter(|part| drawable(**part)).map(|part| part.max(0.0)).sum()
}

/// Draws a sample of each part above the bars.
fn key(bars: &Bars, canvas: &mut Canvas, left: f64) {
    let mut x = left;
    for (part, class) in bars.parts.iter().zip(PARTS) {
        let space = canvas.width() - x - 23.0;
        if space < 30.0 {
            return;
        }
        let text = fit(part, 12.0, space);
        canvas.rect((x, 4.0), (x + 18.0, 4.0 + BAR), &format!("{class} ink"), "");
        canvas.text((x + 23.0, 14.0), Anchor::Start, "t", &text);
        x += 23.0 + width(&text, 12.0) + 16.0;
    }
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
        let part_name = bars.parts.get(index).map_or("", String::as_str);
        let title = tooltip(
            &[&bar.series.name, group, part_name],
            &value(*part, bars.x.unit),
            &format!("sum {text}"),
        );
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
