//! Verdicts on a logarithmic axis of ratios.

use crate::{
    axes::tooltip,
    canvas::{Anchor, Canvas},
    draw::marks::{bar, extent},
    model::{Claim, Forest, ForestRow, Slot},
    number::change,
    scale::{Kind, Map},
    text::{BOLD, LINE, widest, width, wrap, wrap_names},
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

/// Most lines of a text of a row.
const MOST_LINES: usize = 5;
/// Sizes of names, and of labels, in px.
const SIZES: (f64, f64) = (BOLD * 13.0, 12.5);

/// Position of the first row below one line of headings.
const TOP: f64 = 36.0;

struct Layout {
    map: Map,
    /// Position of labels, and the space for group and label.
    group: f64,
    label: f64,
    /// Position of the words at the right.
    words: f64,
}

/// Texts of a row in lines, and where it is.
struct RowLayout {
    /// Empty in narrow charts, and below the first row of a group.
    group: Vec<String>,
    /// In narrow charts with the group.
    label: Vec<String>,
    words: Vec<String>,
    interval: Vec<String>,
    top: f64,
    height: f64,
}

/// Draws the chart and returns its height.
pub(crate) fn draw(forest: &Forest, canvas: &mut Canvas) -> f64 {
    let layout = layout(forest, canvas);
    let (left, right) = (layout.map.from, layout.map.to);
    let zero = layout.map.at(1.0).unwrap_or(left);
    let top = headings(forest, canvas, zero, right);
    let (rows, bottom) = rows(forest, canvas, &layout, top);
    axis(forest, canvas, &layout.map, top, bottom);
    for (row, place) in forest.rows.iter().zip(&rows) {
        words(row, canvas, &layout, place);
        let y = if canvas.is_narrow() { place.height - 15.0 } else { place.height / 2.0 };
        interval(row, canvas, &layout.map, place.top + y);
    }
    let label = wrap(&forest.axis_label, 12.0, canvas.width);
    let half = widest(&label, 12.0) / 2.0;
    let middle = f64::midpoint(left, right).min(canvas.width - half).max(half);
    canvas.lines((middle, bottom + 34.0), Anchor::Middle, "t", &label);
    let bottom = bottom + 40.0 + LINE * label.len().saturating_sub(1) as f64;
    let more = wrap(&forest.more, 12.0, canvas.width);
    canvas.lines((0.0, bottom + 14.0), Anchor::Start, "t", &more);
    if more.is_empty() { bottom } else { bottom + 6.0 + LINE * more.len() as f64 }
}

fn layout(forest: &Forest, canvas: &Canvas) -> Layout {
    let total = canvas.width;
    let widest = |text: &dyn Fn(&ForestRow) -> f64| forest.rows.iter().map(text).fold(0.0, f64::max);
    let group = widest(&|row| width(&row.group, SIZES.0)).min(0.22 * total);
    let label = widest(&|row| width(&row.label, SIZES.1)).min(0.22 * total);
    let words = widest(&|row| width(&row.words, SIZES.0).max(width(&row.interval_words, 12.0)));
    let words = total - words.min(0.32 * total);
    let gap = if group > 0.0 { 10.0 } else { 0.0 };
    let (left, right) =
        if canvas.is_narrow() { (10.0, total - 10.0) } else { (group + gap + label + 16.0, words - 16.0) };
    let map = Map::between(Kind::Log, domain(&forest.rows), left, right);
    Layout { map, group, label: group + gap, words }
}

/// Divides the texts of all rows into lines, places the rows below `top`, and returns the lower edge of the last one.
fn rows(forest: &Forest, canvas: &Canvas, layout: &Layout, top: f64) -> (Vec<RowLayout>, f64) {
    let total = canvas.width;
    let names = |of: &dyn Fn(&ForestRow) -> String, size, space| {
        let texts: Vec<String> = forest.rows.iter().map(of).collect();
        wrap_names(&texts.iter().map(String::as_str).collect::<Vec<_>>(), size, space, MOST_LINES)
    };
    let starts: Vec<bool> = (0..forest.rows.len())
        .map(|index| index == 0 || forest.rows[index].group != forest.rows[index - 1].group)
        .collect();
    let mut rows: Vec<RowLayout> = Vec::new();
    if canvas.is_narrow() {
        let both = |row: &ForestRow| match row.group.is_empty() {
            true => row.label.clone(),
            false => format!("{}, {}", row.group, row.label),
        };
        let labels = names(&both, SIZES.1, total);
        for (row, label) in forest.rows.iter().zip(labels) {
            let words = wrap(&row.words, SIZES.0, total);
            // The words are behind the last line of the label, if there is space.
            let last = label.last().map_or(0.0, |line| width(line, SIZES.1));
            let lines = label.len() + words.len()
                - usize::from(words.len() == 1 && last + 12.0 + width(&words[0], SIZES.0) <= total);
            let height = 32.0 + LINE * lines as f64;
            let interval = vec![row.interval_words.clone()];
            rows.push(RowLayout { group: Vec::new(), label, words, interval, top: 0.0, height });
        }
    } else {
        let groups = names(&|row| row.group.clone(), SIZES.0, layout.group);
        let labels = names(&|row| row.label.clone(), SIZES.1, layout.map.from - layout.label - 12.0);
        for (((row, group), label), is_start) in forest.rows.iter().zip(groups).zip(labels).zip(&starts) {
            let group = if *is_start { group } else { Vec::new() };
            let words = wrap(&row.words, SIZES.0, total - layout.words);
            let interval = wrap(&row.interval_words, 12.0, total - layout.words);
            let lines = label.len().max(words.len() + interval.len());
            let height = 32.0_f64.max(4.0 + LINE * lines as f64);
            rows.push(RowLayout { group, label, words, interval, top: 0.0, height });
        }
        // A group has space for its name.
        let mut first = 0;
        while first < rows.len() {
            let end = (first + 1..rows.len()).find(|index| starts[*index]).unwrap_or(rows.len());
            let height: f64 = rows[first..end].iter().map(|row| row.height).sum();
            let more = (4.0 + LINE * rows[first].group.len() as f64 - height).max(0.0);
            let each = more / (end - first) as f64;
            rows[first..end].iter_mut().for_each(|row| row.height += each);
            first = end;
        }
    }
    let mut y = top;
    for (index, row) in rows.iter_mut().enumerate() {
        y += if starts[index] && index > 0 { GROUP_GAP } else { 0.0 };
        row.top = y;
        y += row.height;
    }
    (rows, y)
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
        let middle = x.min(canvas.width - half).max(half);
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

/// Writes the directions above the axis, and returns the position of the first row.
fn headings(forest: &Forest, canvas: &mut Canvas, zero: f64, right: f64) -> f64 {
    let total = canvas.width;
    let with_arrow = |text: &str, shown: String| if text.is_empty() { text.to_owned() } else { shown };
    let above = with_arrow(&forest.above, format!("{} \u{2192}", forest.above));
    let below = with_arrow(&forest.below, format!("\u{2190} {}", forest.below));
    let above_at = (zero + 8.0).min(total - width(&above, 12.0)).max(0.0);
    let end = if above.is_empty() { total } else { above_at - 16.0 };
    if width(&below, 12.0) <= end && width(&above, 12.0) <= total {
        canvas.text((above_at.min(right.max(above_at)), 16.0), Anchor::Start, "am", &above);
        canvas.text((end, 16.0), Anchor::End, "am", &below);
        return TOP;
    }
    // Below each other, each at its side.
    let [below, above] = [wrap(&below, 12.0, total), wrap(&above, 12.0, total)];
    canvas.lines((0.0, 16.0), Anchor::Start, "am", &below);
    canvas.lines((total, 16.0 + LINE * below.len() as f64), Anchor::End, "am", &above);
    TOP + LINE * (below.len() + above.len()).saturating_sub(1) as f64
}

fn slot(row: &ForestRow) -> Slot {
    match row.claim {
        Claim::Better | Claim::Worse => row.slot,
        Claim::Equivalent | Claim::Inconclusive => Slot::Ink,
    }
}

fn words(row: &ForestRow, canvas: &mut Canvas, layout: &Layout, place: &RowLayout) {
    let class = match row.claim {
        Claim::Better | Claim::Worse => format!("n {}", row.slot.class()),
        Claim::Equivalent => "b".to_owned(),
        Claim::Inconclusive => "w".to_owned(),
    };
    let total = canvas.width;
    let RowLayout { group, label, words, interval, top, height } = place;
    if canvas.is_narrow() {
        canvas.lines((0.0, top + 14.0), Anchor::Start, "w", label);
        let last = top + height - 32.0;
        canvas.lines((total, last - LINE * words.len().saturating_sub(1) as f64), Anchor::End, &class, words);
        let own = words.last().map_or(0.0, |line| width(line, SIZES.0) + 12.0);
        let is_beside = LINE * (label.len() + words.len()) as f64 + 32.0 > *height;
        let used = label.last().filter(|_| is_beside).map_or(0.0, |line| width(line, SIZES.1) + 12.0);
        if let [text] = &interval[..]
            && used + width(text, 11.0) + own <= total
        {
            canvas.text((total - own, last), Anchor::End, "vh", text);
        }
        return;
    }
    let middle = top + height / 2.0 + 4.0;
    let first = |lines: usize| middle - LINE / 2.0 * lines.saturating_sub(1) as f64;
    canvas.lines((layout.group, first(group.len()).max(top + 13.0)), Anchor::End, "b", group);
    canvas.lines((layout.label, first(label.len())), Anchor::Start, "w", label);
    let begin = first(words.len() + interval.len());
    canvas.lines((layout.words, begin), Anchor::Start, &class, words);
    canvas.lines((layout.words, begin + LINE * words.len() as f64), Anchor::Start, "t", interval);
}

fn interval(row: &ForestRow, canvas: &mut Canvas, map: &Map, y: f64) {
    if let (Some(noise), Some((low, high))) = (row.noise, map.ends(row.noise)) {
        let title = format!("noise floor: {} to {}", change(noise.low), change(noise.high));
        canvas.rect((low, y - 8.0), (high, y + 8.0), "nf", &title);
    }
    let slot = slot(row);
    bar(canvas, map, (row.ratio.interval, y), ("ci", slot), 4.0);
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
