//! Windows of runs over time.

use crate::{
    axes::{XAxis, YAxis, tooltip},
    canvas::{Anchor, Canvas, Position},
    labels::Area,
    model::{Axis, Interval, Scale, Timeline, TimelinePanel, Unit, Window},
    number::{Beside, value},
    scale::{Kind, Map},
    text::{BOLD, LINE, width, wrap_names},
};

/// Words for a shaded stretch.
pub(crate) const NO_SAMPLE: &str = "no sample arrived";
/// Above this number of windows in a panel, stems are one element without tooltips.
const MANY_WINDOWS: usize = 150;
/// Heights of a panel in px: alone, and with others.
const HEIGHTS: [f64; 2] = [190.0, 92.0];
/// Space above a panel in px.
const HEADING: f64 = 24.0;
/// Space between panels in px.
const GAP: f64 = 12.0;
/// Size of names in px.
const NAME: f64 = BOLD * 13.0;
/// Most lines of a name.
const HEADING_LINES: usize = 4;

/// Draws the chart and returns its height.
pub(crate) fn draw(timeline: &Timeline, canvas: &mut Canvas) -> f64 {
    let height = HEIGHTS[usize::from(timeline.panels.len() > 1)];
    let values = timeline.panels.iter().flat_map(|panel| &panel.windows);
    let values = values.flat_map(|window| [Some(window.value), window.longest]).flatten();
    let y = YAxis::new(&timeline.y, values, height, 0.0);
    let (left, right) = (y.space(), canvas.width - 14.0);
    let axis = Axis {
        label: "time since the start of the measurement".to_owned(),
        unit: Unit::Nanoseconds,
        scale: Scale::Linear,
        ticks: vec![],
    };
    let x = XAxis::with_map(&axis, Map::between(Kind::Linear, times(timeline), left, right));
    let names: Vec<&str> = timeline.panels.iter().map(|panel| panel.series.name.as_str()).collect();
    let names = wrap_names(&names, NAME, right - left, HEADING_LINES);
    let mut bottom = 0.0;
    for (panel, name) in timeline.panels.iter().zip(&names) {
        let above =
            HEADING + LINE * heading_lines(timeline, panel, name, right - left).saturating_sub(1) as f64;
        let top = bottom + above + if bottom > 0.0 { GAP } else { 0.0 };
        canvas.lines(
            (left, top - above + 16.0),
            Anchor::Start,
            &format!("n {}", panel.series.slot.class()),
            name,
        );
        bottom = top + height;
        let y = y.onto(bottom, top);
        let plot = Plot { x: &x, y: &y, unit: timeline.y.unit, frame: Area { left, top, right, bottom } };
        plot.draw(panel, canvas);
    }
    y.draw_unit(canvas, left, 13.0);
    x.draw(canvas, left, right, bottom);
    x.draw_label(canvas, left, right, bottom);
    bottom + 40.0
}

/// Returns the number of lines above a panel: those of its name, and one more if its longest value has no space behind them.
fn heading_lines(timeline: &Timeline, panel: &TimelinePanel, name: &[String], space: f64) -> usize {
    let longest = longest_text(panel, timeline.y.unit).map_or(0.0, |text| width(&text, 12.0));
    let last = name.last().map_or(0.0, |line| width(line, NAME));
    let is_beside = longest == 0.0 || last + 12.0 + longest <= space;
    name.len().max(1) + usize::from(!is_beside)
}

/// Returns the longest value of a panel and its time.
fn longest_text(panel: &TimelinePanel, unit: Unit) -> Option<String> {
    let known = panel.windows.iter().filter_map(|window| Some((window.longest?, window)));
    let (longest, window) = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let time = value(f64::midpoint(window.start, window.end), Unit::Nanoseconds);
    Some(format!("longest {}, at {time}", value(longest, unit)))
}

/// Returns the first and last time.
fn times(timeline: &Timeline) -> (f64, f64) {
    let windows = timeline.panels.iter().flat_map(|panel| &panel.windows);
    let gaps = timeline.panels.iter().flat_map(|panel| &panel.gaps);
    let times = windows.flat_map(|window| [window.start, window.end]);
    let times =
        times.chain(gaps.flat_map(|gap| [gap.low, gap.high])).filter_map(|time| Kind::Linear.place(time));
    let hull = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (at.min(low), at.max(high)));
    if hull.0 <= hull.1 { hull } else { (0.0, 1.0) }
}

struct Plot<'a> {
    x: &'a XAxis,
    y: &'a YAxis,
    unit: Unit,
    frame: Area,
}

impl Plot<'_> {
    fn draw(&self, panel: &TimelinePanel, canvas: &mut Canvas) {
        let Area { left, top, right, bottom } = self.frame;
        let slot = panel.series.slot;
        self.gaps(panel, canvas);
        self.y.draw(canvas, left, right, true);
        canvas.line((left, bottom), (right, bottom), "ax");
        self.stems(panel, canvas);
        for piece in self.pieces(panel) {
            canvas.path(&piece, &format!("ln {}", slot.class()));
        }
        if panel.windows.len() <= MANY_WINDOWS {
            self.dots(panel, canvas);
        }
        // At the end of the heading, where it covers no mark.
        let longest = longest_text(panel, self.unit).unwrap_or_default();
        canvas.text((right, top - 8.0), Anchor::End, &format!("an {}", slot.class()), &longest);
    }

    fn gaps(&self, panel: &TimelinePanel, canvas: &mut Canvas) {
        let Area { top, right, bottom, .. } = self.frame;
        for gap in &panel.gaps {
            if let Some((from, to)) = self.x.map.ends(Some(*gap)) {
                let times = Beside::new(gap.high, Unit::Nanoseconds).interval(*gap);
                let title = tooltip(&[&panel.series.name, &times], NO_SAMPLE, "");
                canvas.rect((from, top), (to.max(from + 1.0).min(right), bottom), "nf", &title);
            }
        }
    }

    /// Returns the position of a window.
    fn at(&self, window: &Window, value: f64) -> Option<Position> {
        Some((self.x.map.at(f64::midpoint(window.start, window.end))?, self.y.map.at(value)?))
    }

    fn stems(&self, panel: &TimelinePanel, canvas: &mut Canvas) {
        let stem = |window: &Window| {
            let (x, high) = self.at(window, window.longest?)?;
            Some((x, self.y.map.at(window.value).unwrap_or(self.frame.bottom), high))
        };
        canvas
            .verticals(panel.windows.iter().filter_map(stem), &format!("stem {}", panel.series.slot.class()));
    }

    fn dots(&self, panel: &TimelinePanel, canvas: &mut Canvas) {
        for window in &panel.windows {
            let highest = window.longest.unwrap_or(window.value);
            let Some(at) = self.at(window, highest) else { continue };
            let time = value(f64::midpoint(window.start, window.end), Unit::Nanoseconds);
            let text = match window.longest {
                Some(longest) => {
                    format!(
                        "median {}, longest {}",
                        value(window.value, self.unit),
                        value(longest, self.unit)
                    )
                }
                None => value(window.value, self.unit),
            };
            let title = tooltip(&[&panel.series.name, &time], &text, "");
            let (class, r) = if window.longest.is_some() { ("mk", 1.7) } else { ("bar", 1.1) };
            canvas.mark(panel.series.slot, at, r, class, &title);
        }
    }

    /// Returns the line through the windows: interrupted at gaps, and between windows further apart than half of their
    /// length.
    /// A window alone is as long as it lasted. Without longest values, each window is a step.
    fn pieces(&self, panel: &TimelinePanel) -> Vec<Vec<Position>> {
        let mut pieces: Vec<Vec<(&Window, Position)>> = Vec::new();
        let mut before: Option<&Window> = None;
        for window in &panel.windows {
            let Some(at) = self.at(window, window.value) else {
                before = None;
                continue;
            };
            let follows = before.is_some_and(|before| {
                let touches = (window.start - before.end).abs() <= 0.5 * (window.end - window.start).abs();
                let is_between =
                    |gap: &Interval| gap.high > before.start && gap.low < window.end && gap.high > gap.low;
                touches && !panel.gaps.iter().any(is_between)
            });
            match pieces.last_mut() {
                Some(piece) if follows => piece.push((window, at)),
                _ => pieces.push(vec![(window, at)]),
            }
            before = Some(window);
        }
        let is_steps = panel.windows.iter().all(|window| window.longest.is_none());
        let path = |piece: Vec<(&Window, Position)>| match piece.as_slice() {
            steps if is_steps => steps.iter().flat_map(|step| self.step(step)).collect(),
            [alone] => self.step(alone),
            _ => piece.iter().map(|(_, at)| *at).collect(),
        };
        pieces.into_iter().map(path).collect()
    }

    /// Returns the start and the end of a window.
    fn step(&self, (window, at): &(&Window, Position)) -> Vec<Position> {
        [window.start, window.end].iter().filter_map(|time| Some((self.x.map.at(*time)?, at.1))).collect()
    }
}
