//! Verdicts on a logarithmic axis of ratios.

use crate::{
    axes::tooltip,
    canvas::{Anchor, Canvas},
    draw::marks::extent,
    model::{Claim, Forest, ForestRow, Slot},
    number::change,
    scale::{Kind, Map},
    text::{BOLD, fit, two_lines, width},
};

/// Ratios that get a tick if there is space, the most important first.
const TICKS: [f64; 25] = [
    1.0, 0.5, 2.0, 0.1, 10.0, 0.01, 100.0, 0.001, 1000.0, 0.25, 4.0, 0.8, 1.25, 0.9, 1.1, 0.95, 1.05, 0.98,
    1.02, 0.99, 1.01, 0.995, 1.005, 0.999, 1.001,
];
/// Space between tick labels in px.
const TICK_GAP: f64 = 10.0;
/// Limit of what intervals add to the axis beyond the estimates: decades, and share of the span of the estimates.
const WIDER: (f64, f64) = (0.12, 0.6);
/// Space between groups in px.
const GROUP_GAP: f64 = 8.0;

struct Layout {
    map: Map,
    /// Position of labels, and the space for group and label.
    group: f64,
    label: f64,
    /// Position of the words at the right.
    words: f64,
    row: f64,
}

/// Draws the chart and returns its height.
pub(crate) fn draw(forest: &Forest, canvas: &mut Canvas) -> f64 {
    let layout = layout(forest, canvas);
    let (left, right) = (layout.map.from, layout.map.to);
    let top = 36.0;
    let starts: Vec<bool> = (0..forest.rows.len())
        .map(|index| index == 0 || forest.rows[index].group != forest.rows[index - 1].group)
        .collect();
    let groups = starts.iter().filter(|start| **start).count();
    let bottom = top + forest.rows.len() as f64 * layout.row + (groups.max(1) - 1) as f64 * GROUP_GAP;
    axis(forest, canvas, &layout.map, top, bottom);
    let zero = layout.map.at(1.0).unwrap_or(left);
    headings(forest, canvas, zero, right);
    let mut y = top;
    for (index, (row, start)) in forest.rows.iter().zip(starts).enumerate() {
        if start && index > 0 {
            y += GROUP_GAP;
        }
        words(row, canvas, &layout, y, start);
        interval(row, canvas, &layout.map, if canvas.is_narrow() { y + 31.0 } else { y + 16.0 });
        y += layout.row;
    }
    let half = width(&forest.axis_label, 12.0) / 2.0;
    let middle = f64::midpoint(left, right).min(canvas.width() - half).max(half);
    canvas.text((middle, bottom + 34.0), Anchor::Middle, "t", &forest.axis_label);
    if forest.more.is_empty() {
        return bottom + 40.0;
    }
    canvas.text((0.0, bottom + 54.0), Anchor::Start, "t", &forest.more);
    bottom + 60.0
}

fn layout(forest: &Forest, canvas: &Canvas) -> Layout {
    let total = canvas.width();
    let widest = |text: &dyn Fn(&ForestRow) -> f64| forest.rows.iter().map(text).fold(0.0, f64::max);
    let group = widest(&|row| width(&row.group, BOLD * 13.0)).min(0.22 * total);
    let label = widest(&|row| width(&row.label, 12.5)).min(0.24 * total);
    let words = widest(&|row| width(&row.words, BOLD * 13.0).max(width(&row.interval_words, 12.0)));
    let words = total - words.min(0.32 * total);
    let gap = if group > 0.0 { 10.0 } else { 0.0 };
    let (left, right) =
        if canvas.is_narrow() { (10.0, total - 10.0) } else { (group + gap + label + 16.0, words - 16.0) };
    let map = Map::between(Kind::Log, domain(&forest.rows), left, right);
    let row = if canvas.is_narrow() { 46.0 } else { 32.0 };
    Layout { map, group, label: group + gap, words, row }
}

/// Returns the ends of the axis as powers of ten: all estimates and 1, and intervals as far as that leaves space
/// for the estimates.
fn domain(rows: &[ForestRow]) -> (f64, f64) {
    let place = |value: f64| Kind::Log.place(value);
    let hull = |values: &mut dyn Iterator<Item = f64>| {
        values.filter_map(place).fold((0.0_f64, 0.0_f64), |(low, high), at| (low.min(at), high.max(at)))
    };
    let (low, high) = hull(&mut rows.iter().map(|row| row.ratio.value));
    let ends = rows.iter().flat_map(|row| {
        let noise = row.noise.map(|noise| [noise.low, noise.high]);
        extent(&row.ratio).chain(noise.into_iter().flatten())
    });
    let (far_low, far_high) = hull(&mut ends.into_iter());
    let more = WIDER.0 + WIDER.1 * (high - low);
    let (low, high) = (far_low.max(low - more), far_high.min(high + more));
    let pad = (0.05 * (high - low)).max(0.002);
    (low - pad, high + pad)
}

fn axis(forest: &Forest, canvas: &mut Canvas, map: &Map, top: f64, bottom: f64) {
    if let Some(margin) = forest.margin.filter(|margin| *margin > 1.0)
        && let (Some(low), Some(high)) = (map.at(1.0 / margin), map.at(margin))
    {
        canvas.rect((low, top), (high, bottom), "margin", &format!("equivalence margin: {}", change(margin)));
    }
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for ratio in TICKS.into_iter().filter(|ratio| map.contains(*ratio)) {
        let Some(x) = map.at(ratio) else { continue };
        let text = if ratio == 1.0 { "0".to_owned() } else { change_text(ratio) };
        let half = width(&text, 12.0) / 2.0;
        let middle = x.min(canvas.width() - half).max(half);
        let (low, high) = (middle - half - TICK_GAP, middle + half + TICK_GAP);
        if taken.iter().any(|(from, to)| low < *to && high > *from) {
            continue;
        }
        taken.push((middle - half, middle + half));
        canvas.line((x, top), (x, bottom), if ratio == 1.0 { "ax" } else { "g" });
        canvas.text((middle, bottom + 17.0), Anchor::Middle, "t", &text);
    }
}

/// Returns a change without trailing zeros.
fn change_text(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let number = crate::number::round((percent * 1e6).round() / 1e6);
    format!("{}{number}\u{a0}%", if percent > 0.0 { "+" } else { "" })
}

fn headings(forest: &Forest, canvas: &mut Canvas, zero: f64, right: f64) {
    let above = format!("{} \u{2192}", forest.above);
    let below = format!("\u{2190} {}", forest.below);
    let above_at = (zero + 8.0).min(canvas.width() - width(&above, 12.0)).max(0.0);
    let right = right.max(above_at);
    if !forest.below.is_empty() {
        let end = above_at - 16.0;
        canvas.text((end, 16.0), Anchor::End, "am", &fit(&below, 12.0, end));
    }
    if !forest.above.is_empty() {
        let space = canvas.width() - above_at;
        canvas.text((above_at.min(right), 16.0), Anchor::Start, "am", &fit(&above, 12.0, space));
    }
}

fn slot(row: &ForestRow) -> Slot {
    match row.claim {
        Claim::Better | Claim::Worse => row.slot,
        Claim::Equivalent | Claim::Inconclusive => Slot::Ink,
    }
}

fn words(row: &ForestRow, canvas: &mut Canvas, layout: &Layout, y: f64, start: bool) {
    let class = match row.claim {
        Claim::Better | Claim::Worse => format!("n {}", row.slot.class()),
        Claim::Equivalent => "b".to_owned(),
        Claim::Inconclusive => "w".to_owned(),
    };
    let total = canvas.width();
    if canvas.is_narrow() {
        let both =
            if row.group.is_empty() { row.label.clone() } else { format!("{}, {}", row.group, row.label) };
        let words = fit(&row.words, BOLD * 13.0, 0.5 * total);
        canvas.text((total, y + 14.0), Anchor::End, &class, &words);
        let space = total - width(&words, BOLD * 13.0) - 12.0;
        let interval = width(&row.interval_words, 11.0);
        if width(&both, 12.5) + interval + 12.0 <= space {
            canvas.text((space, y + 14.0), Anchor::End, "vh", &row.interval_words);
        }
        canvas.text((0.0, y + 14.0), Anchor::Start, "w", &fit(&both, 12.5, space));
        return;
    }
    if start {
        let group = two_lines(&row.group, BOLD * 13.0, layout.group);
        in_row(canvas, (layout.group, y), Anchor::End, "b", &group);
    }
    let space = layout.map.from - layout.label - 12.0;
    in_row(canvas, (layout.label, y), Anchor::Start, "w", &two_lines(&row.label, 12.5, space));
    let space = total - layout.words;
    let first = if row.interval_words.is_empty() { y + 20.0 } else { y + 14.0 };
    canvas.text((layout.words, first), Anchor::Start, &class, &fit(&row.words, BOLD * 13.0, space));
    canvas.text((layout.words, y + 28.0), Anchor::Start, "t", &fit(&row.interval_words, 12.0, space));
}

/// Writes one or two lines in the middle of a row that begins at `y`.
fn in_row(canvas: &mut Canvas, (x, y): (f64, f64), anchor: Anchor, class: &str, lines: &[String]) {
    let first = y + if lines.len() > 1 { 13.0 } else { 20.0 };
    for (index, line) in lines.iter().enumerate() {
        canvas.text((x, first + 14.0 * index as f64), anchor, class, line);
    }
}

fn interval(row: &ForestRow, canvas: &mut Canvas, map: &Map, y: f64) {
    if let Some(noise) = row.noise.filter(|noise| noise.is_valid())
        && let (Some(low), Some(high)) = (map.at(noise.low), map.at(noise.high))
    {
        let title = format!("noise floor: {} to {}", change(noise.low), change(noise.high));
        canvas.rect((low, y - 8.0), (high, y + 8.0), "nf", &title);
    }
    let slot = slot(row);
    if let Some(interval) = row.ratio.interval.filter(|interval| interval.is_valid()) {
        // An end that is not positive, infinite or outside is cut.
        let low_cut = !map.contains(interval.low);
        let high_cut = !map.contains(interval.high);
        let low = if low_cut { map.from } else { map.at(interval.low).unwrap_or(map.from) };
        let high = if high_cut { map.to } else { map.at(interval.high).unwrap_or(map.to) };
        canvas.line((low, y), (high, y), &format!("ci {}", slot.class()));
        let class = format!("arr {}", slot.class());
        if low_cut {
            canvas.arrow((low - 4.0, y), (1.0, 0.0), &class);
        }
        if high_cut {
            canvas.arrow((high + 4.0, y), (-1.0, 0.0), &class);
        }
    }
    // A ratio of 0, or to 0, has no place on the axis.
    let class = format!("arr {}", slot.class());
    if row.ratio.value == 0.0 {
        canvas.arrow((map.from - 4.0, y), (1.0, 0.0), &class);
    } else if row.ratio.value == f64::INFINITY {
        canvas.arrow((map.to + 4.0, y), (-1.0, 0.0), &class);
    }
    if let Some(x) = map.at(row.ratio.value) {
        let ends = row.ratio.interval.map_or_else(String::new, |interval| {
            format!(" ({} to {})", change(interval.low), change(interval.high))
        });
        let text = format!("{}{ends}", change(row.ratio.value));
        let title = tooltip(&[&row.group, &row.label], &text, row.claim.word());
        let class = if row.claim == Claim::Inconclusive { "hol" } else { "mk" };
        canvas.mark(slot, (x, y), 4.6, class, &title);
    }
}
