//! Every run in order, with medians in the margin.

use crate::{
    axes::{XAxis, YAxis, tooltip},
    canvas::{Anchor, Canvas},
    draw::marks::{MARK, NAME, extent},
    labels::spread,
    model::{Axis, Estimate, Run, RunMark, RunStrip, Scale, StripSeries, Unit},
    number::{drawable, estimate, value},
    text::{LINE, widest, width, wrap, wrap_names},
};

/// Most series in one panel.
const ONE_PANEL: usize = 4;
/// From here on blocks, dots are small.
const MANY_BLOCKS: u32 = 60;
/// Height of a row of its own in px.
const ROW: f64 = 54.0;
/// Width in px above which value and interval of a median are in two lines.
const LONG: f64 = 165.0;
/// Space between the lowest value and the axis in px: runs without a value are on the axis.
const PAD: f64 = 8.0;
/// Space between an interval and its numbers in px.
const BESIDE: f64 = 22.0;
/// Most lines of a name.
const NAME_LINES: usize = 6;

/// Draws the chart and returns its height.
pub(crate) fn draw(strip: &RunStrip, canvas: &mut Canvas) -> f64 {
    if strip.series.len() > ONE_PANEL { rows(strip, canvas) } else { panel(strip, canvas) }
}

fn values(series: &StripSeries) -> impl Iterator<Item = f64> + '_ {
    let runs = series.runs.iter().map(|run| run.value);
    runs.chain(series.median.iter().flat_map(extent)).chain(series.limit)
}

/// Returns the first and last block.
fn blocks(strip: &RunStrip) -> (u32, u32) {
    let all = || strip.series.iter().flat_map(|series| &series.runs).map(|run| run.block);
    (all().min().unwrap_or(1), all().max().unwrap_or(1))
}

fn x_axis(strip: &RunStrip, left: f64, right: f64) -> XAxis {
    let (first, last) = blocks(strip);
    let map = crate::scale::Map::between(
        crate::scale::Kind::Linear,
        (f64::from(first) - 0.6, f64::from(last) + 0.6),
        left,
        right,
    );
    // Whole blocks only.
    let most = ((right - left) / 26.0) as u32;
    let step =
        [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|step| (last - first) / step < most.max(1));
    let step = step.unwrap_or(1000).max((last - first) / 1000);
    let ticks = (first.div_ceil(step)..=last / step).map(|tick| f64::from(tick * step)).collect();
    let label = "block, in order of measurement".to_owned();
    let axis = Axis { label, unit: Unit::Count, scale: Scale::Linear, ticks };
    XAxis::with_map(&axis, map)
}

fn shade_noisy(strip: &RunStrip, canvas: &mut Canvas, x: &XAxis, top: f64, bottom: f64) {
    let (first, last) = blocks(strip);
    let mut noisy: Vec<u32> =
        strip.noisy.iter().copied().filter(|block| (first..=last).contains(block)).collect();
    noisy.sort_unstable();
    noisy.dedup();
    if noisy.len() as u64 > u64::from(last - first) {
        return;
    }
    for block in noisy {
        let at = |offset: f64| x.map.at(f64::from(block) + offset);
        if let (Some(from), Some(to)) = (at(-0.5), at(0.5)) {
            canvas.rect((from, top), (to, bottom), "noisy", &format!("block {block} was noisy"));
        }
    }
}

fn dots(series: &StripSeries, canvas: &mut Canvas, x: &XAxis, y: &YAxis, (unit, shift, r): (Unit, f64, f64)) {
    let slot = series.series.slot;
    for run in &series.runs {
        let Some(at) = x.map.at(f64::from(run.block)) else { continue };
        let at = at + shift;
        let title = run_title(series, run, unit);
        match (run.mark, y.map.at(run.value)) {
            (RunMark::Invalid, height) => {
                canvas.cross(slot, (at, height.unwrap_or(y.map.from + PAD)), r, &title);
            }
            (RunMark::Counted, Some(height)) => canvas.mark(slot, (at, height), r, "run", &title),
            (RunMark::Second, Some(height)) => canvas.mark(slot, (at + 3.0, height), r, "second", &title),
            (RunMark::Doubtful, Some(height)) => canvas.mark(slot, (at, height), r, "hol", &title),
            (_, None) => {}
        }
    }
}

fn run_title(series: &StripSeries, run: &Run, unit: Unit) -> String {
    let kind = match run.mark {
        RunMark::Counted => "",
        RunMark::Second => "second run of the baseline",
        RunMark::Doubtful => "compare with care",
        RunMark::Invalid => "invalid",
    };
    let text = if drawable(run.value) { value(run.value, unit) } else { "no value".to_owned() };
    tooltip(&[&series.series.name, &format!("block {}", run.block), kind], &text, &run.detail)
}

/// Draws the median with its interval: as a line and a band, and as a mark in the margin.
fn median(series: &StripSeries, canvas: &mut Canvas, y: &YAxis, (left, right): (f64, f64), unit: Unit) {
    let Some(median) = series.median else { return };
    let slot = series.series.slot;
    let ends = y.map.ends(median.interval);
    if let Some((low, high)) = ends {
        canvas.rect((left, high), (right, low), &format!("band {}", slot.class()), "");
    }
    let Some(at) = y.map.at(median.value) else { return };
    canvas.line((left, at), (right, at), &format!("thin {}", slot.class()));
    let x = right + 11.0;
    if let Some((low, high)) = ends {
        canvas.line((x, low), (x, high), &format!("ci {}", slot.class()));
    }
    let title = tooltip(&[&series.series.name, "median"], &estimate(median, unit), "");
    canvas.mark(slot, (x, at), 4.4, "mk", &title);
}

fn limit(series: &StripSeries, canvas: &mut Canvas, y: &YAxis, (left, right): (f64, f64), unit: Unit) {
    let Some((limit, at)) = series.limit.and_then(|limit| Some((limit, y.map.at(limit)?))) else { return };
    let title = tooltip(&[&series.series.name, "limit"], &value(limit, unit), "");
    canvas.rule((left, at), (right, at), "ref ink", &title);
}

/// Returns the numbers of a median as lines of at most `space` px: value and interval in one or two.
fn numbers(median: Option<Estimate>, unit: Unit, is_split: bool, space: f64) -> Vec<String> {
    let all = median.map_or_else(|| "no median".to_owned(), |median| estimate(median, unit));
    let parts = match all.split_once(" (") {
        Some((value, ends)) if is_split => vec![value, ends.trim_end_matches(')')],
        _ => vec![all.as_str()],
    };
    parts.into_iter().flat_map(|part| wrap(part, 12.0, space)).collect()
}

/// Returns the width of the widest line in px.
fn numbers_width(series: &StripSeries, unit: Unit, is_split: bool) -> f64 {
    widest(&numbers(series.median, unit, is_split, f64::INFINITY), 12.0)
}

/// Names and numbers beside a plot, in lines.
struct Texts {
    names: Vec<Vec<String>>,
    numbers: Vec<Vec<String>>,
}

impl Texts {
    /// Divides the names of a strip into lines of at most `space.0` px, and the numbers into those of `space.1`.
    fn new(strip: &RunStrip, space: (f64, f64), is_split: bool) -> Self {
        let names: Vec<&str> = strip.series.iter().map(|series| series.series.name.as_str()).collect();
        let of = |series: &StripSeries| numbers(series.median, strip.y.unit, is_split, space.1);
        Self {
            names: wrap_names(&names, NAME, space.0, NAME_LINES),
            numbers: strip.series.iter().map(of).collect(),
        }
    }

    /// Returns the most lines of a name.
    fn name_lines(&self) -> f64 {
        self.names.iter().map(Vec::len).max().unwrap_or(0).max(1) as f64
    }

    /// Returns the height of the longest numbers in px.
    fn numbers_height(&self) -> f64 {
        LINE * self.numbers.iter().map(Vec::len).max().unwrap_or(0) as f64
    }
}

/// Returns whether value and interval of medians are in two lines: in narrow charts, and if one line is long.
fn is_split(strip: &RunStrip, canvas: &Canvas) -> bool {
    let widest =
        strip.series.iter().map(|series| numbers_width(series, strip.y.unit, false)).fold(0.0, f64::max);
    canvas.is_narrow() || widest > LONG
}

fn panel(strip: &RunStrip, canvas: &mut Canvas) -> f64 {
    let unit = strip.y.unit;
    let is_split = is_split(strip, canvas);
    let words = |series: &StripSeries| {
        width(&series.series.name, NAME).max(numbers_width(series, unit, is_split)) + 24.0
    };
    let space = strip.series.iter().map(words).fold(0.0, f64::max).min(0.4 * canvas.width);
    let texts = Texts::new(strip, (space - BESIDE, space - BESIDE), is_split);
    // Names and numbers of all series fit below each other.
    let each = LINE * texts.name_lines() + texts.numbers_height() + 5.0;
    let top = 24.0;
    let bottom = 250.0_f64.max(top + each * strip.series.len() as f64);
    let y = YAxis::new(&strip.y, strip.series.iter().flat_map(values), bottom - PAD, top);
    let left = y.space();
    let right = canvas.width - space;
    let x = x_axis(strip, left, right);
    shade_noisy(strip, canvas, &x, top, bottom);
    y.draw(canvas, left, right, true);
    y.draw_unit(canvas, left, top - 12.0);
    x.draw(canvas, left, right, bottom);
    x.draw_label(canvas, left, right, bottom);
    for series in &strip.series {
        median(series, canvas, &y, (left, right), unit);
        limit(series, canvas, &y, (left, right), unit);
    }
    let (first, last) = blocks(strip);
    let r = if last - first >= MANY_BLOCKS { 2.0 } else { MARK };
    let step = (right - left) / f64::from((last - first).saturating_add(2));
    for (index, series) in strip.series.iter().enumerate() {
        let middle = (strip.series.len() - 1) as f64 / 2.0;
        let shift = (index as f64 - middle) * 8.0_f64.min(step / 5.0);
        dots(series, canvas, &x, &y, (unit, shift, r));
    }
    margin(strip, canvas, &y, right, (top, bottom, each), &texts);
    bottom + 40.0
}

/// Writes names and numbers of medians at the right, `each` px apart.
fn margin(
    strip: &RunStrip,
    canvas: &mut Canvas,
    y: &YAxis,
    right: f64,
    (top, bottom, each): (f64, f64, f64),
    texts: &Texts,
) {
    let at = |series: &StripSeries| series.median.and_then(|median| y.map.at(median.value));
    let wanted: Vec<f64> = strip.series.iter().map(|series| at(series).unwrap_or(bottom)).collect();
    let x = right + BESIDE;
    let places = spread(&wanted, &vec![each; wanted.len()], top + 6.0, bottom + 15.0);
    let texts = texts.names.iter().zip(&texts.numbers);
    for (((series, (name, numbers)), place), wanted) in strip.series.iter().zip(texts).zip(places).zip(wanted)
    {
        let slot = series.series.slot.class();
        if (place - wanted).abs() > 5.0 && at(series).is_some() {
            canvas.line((right + 16.0, wanted), (x - 2.0, place), &format!("lead {slot}"));
        }
        canvas.lines((x, place + 4.0), Anchor::Start, &format!("n {slot}"), name);
        let below = place + 4.0 + LINE * name.len().max(1) as f64;
        canvas.lines((x, below), Anchor::Start, "am", numbers);
    }
}

/// Draws one row per series, each with a scale of its own.
fn rows(strip: &RunStrip, canvas: &mut Canvas) -> f64 {
    let unit = strip.y.unit;
    let narrow = canvas.is_narrow();
    let widest = strip.series.iter().map(|series| width(&series.series.name, NAME)).fold(0.0, f64::max);
    let names = if narrow { 0.0 } else { (widest + 8.0).min(0.28 * canvas.width) };
    let is_split = is_split(strip, canvas);
    let words = |series: &StripSeries| numbers_width(series, unit, is_split) + 24.0;
    let space = strip.series.iter().map(words).fold(0.0, f64::max).min(0.38 * canvas.width);
    let name_space = if narrow { canvas.width } else { names - 8.0 };
    let texts = Texts::new(strip, (name_space, space - BESIDE), is_split);
    let beside = texts.numbers_height() + 6.0;
    let (step, lower) = match narrow {
        true => (ROW.max(beside) + 4.0 + LINE * texts.name_lines(), 12.0),
        false => {
            let step = ROW.max(beside).max(LINE * texts.name_lines() + 6.0);
            (step, 12.0 + (step - ROW) / 2.0)
        }
    };
    let mut axes: Vec<YAxis> = strip
        .series
        .iter()
        .enumerate()
        .map(|(index, series)| {
            let bottom = 18.0 + (index + 1) as f64 * step - lower;
            YAxis::new(&strip.y, values(series), bottom, bottom - ROW + 18.0)
        })
        .collect();
    // One unit is written above all rows.
    if axes.iter().any(|axis| axis.ticks.unit != axes[0].ticks.unit) {
        axes = axes.into_iter().map(YAxis::with_unit_in_labels).collect();
    }
    let left = names + axes.iter().map(YAxis::space).fold(0.0, f64::max);
    let right = canvas.width - space;
    let x = x_axis(strip, left, right);
    let bottom = 18.0 + strip.series.len() as f64 * step;
    shade_noisy(strip, canvas, &x, 12.0, bottom);
    let (first, last) = blocks(strip);
    let r = if last - first >= MANY_BLOCKS { 2.0 } else { 2.8 };
    let texts = texts.names.iter().zip(&texts.numbers);
    for ((series, y), (name, numbers)) in strip.series.iter().zip(&axes).zip(texts) {
        y.draw(canvas, left, right, true);
        median(series, canvas, y, (left, right), unit);
        limit(series, canvas, y, (left, right), unit);
        dots(series, canvas, &x, y, (unit, 0.0, r));
        let middle = f64::midpoint(y.map.from, y.map.to);
        let class = format!("n {}", series.series.slot.class());
        let above = LINE * name.len().saturating_sub(1) as f64;
        let first = if narrow { y.map.to - 10.0 - above } else { middle + 4.5 - above / 2.0 };
        canvas.lines((0.0, first), Anchor::Start, &class, name);
        let first = middle + 4.0 - LINE / 2.0 * numbers.len().saturating_sub(1) as f64;
        canvas.lines((right + BESIDE, first), Anchor::Start, "am", numbers);
    }
    if let Some(y) = axes.first() {
        y.draw_unit(canvas, left, 9.0);
    }
    x.draw(canvas, left, right, bottom);
    x.draw_label(canvas, left, right, bottom);
    bottom + 40.0
}
