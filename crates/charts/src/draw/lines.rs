//! Lines over an axis, in one panel or small multiples.

use crate::{
    axes::{XAxis, YAxis, tooltip},
    canvas::{Canvas, Position},
    draw::{
        line_labels::{LabelledLine, draw_labels},
        marks::{EndName, MARK, SAMPLE, end_names, extent, names_height, names_space, whisker},
        panels::Panels,
        references,
    },
    labels::{Area, Occupied},
    model::{Axis, Line, LineStyle, Lines, Panel, Pattern, Point, Scale, Unit, is_alike},
    number::estimate,
};

/// Distance of marks of neighbouring series at the same x in px.
const DODGE: f64 = 4.0;

/// Draws the chart and returns its height.
pub(crate) fn draw(lines: &Lines, canvas: &mut Canvas) -> f64 {
    let y = YAxis::new(&lines.y, lines.panels.iter().flat_map(y_values), 290.0, 24.0);
    let names = lines.panels.iter().flat_map(|panel| end_lines(panel).map(|line| &line.series));
    let share = if lines.panels.len() > 1 { 0.14 } else { 0.32 };
    let beside = if has_samples(lines) { SAMPLE } else { 0.0 };
    let right = match names_space(names, canvas.width, share, beside) {
        space if lines.panels.len() > 1 && space <= 12.0 => 0.0,
        space => space,
    };
    let of_names = |panel| names_height(end_lines(panel).map(|line| &line.series), right - beside);
    let least = lines.panels.iter().map(of_names).fold(0.0, f64::max);
    let inset = inset(lines);
    // Without space for labels above first: the widths are final, and say how much is needed.
    let headings: Vec<_> = lines.panels.iter().map(|panel| panel.heading.as_ref()).collect();
    let panels = Panels::new(&headings, canvas, (y.space(), right), 0.0, least);
    let frame = panels.frames[0];
    let x_values = lines.panels.iter().flat_map(x_values);
    let x = XAxis::new(&lines.x, x_values, frame.left + inset.0, frame.right - inset.1);
    let rows = lines.panels.iter().zip(&panels.frames).map(|(panel, frame)| {
        let map = x.map.onto(frame.left + inset.0, frame.right - inset.1);
        references::label_rows(panel, &map, canvas)
    });
    let above = references::space(rows.max().unwrap_or(0));
    let panels = Panels::new(&headings, canvas, (y.space(), right), above, least);
    let frame = panels.frames[0];
    let y = YAxis::with_map(&lines.y, y.map.onto(frame.bottom, frame.top));
    for (panel, frame) in lines.panels.iter().zip(&panels.frames) {
        let map = x.map.onto(frame.left + inset.0, frame.right - inset.1);
        references::shade(panel, canvas, &map, *frame);
    }
    panels.draw(canvas, &x, &y, inset);
    for (index, (panel, frame)) in lines.panels.iter().zip(&panels.frames).enumerate() {
        let plot = Plot {
            chart: lines,
            names: right,
            x: x.onto(frame.left + inset.0, frame.right - inset.1),
            y: y.onto(frame.bottom, frame.top),
            frame: *frame,
        };
        plot.draw(panel, canvas, index == 0);
    }
    panels.height()
}

/// Returns the space between the edges of a frame and the ends of the x axis: marks do not touch the edges.
fn inset(lines: &Lines) -> (f64, f64) {
    match lines.x.scale {
        Scale::FromZero => (0.0, 2.0),
        Scale::Ordinal(_) => (0.0, 0.0),
        Scale::Linear | Scale::Log => (4.0, 4.0),
    }
}

/// Lines whose name is written at their end.
fn end_lines(panel: &Panel) -> impl Iterator<Item = &Line> {
    let is_heading =
        |line: &Line| panel.heading.as_ref().is_some_and(|heading| heading.name == line.series.name);
    panel.lines.iter().filter(move |line| {
        line.named && !line.series.name.is_empty() && line.style != LineStyle::Ghost && !is_heading(line)
    })
}

fn all_points(panel: &Panel) -> impl Iterator<Item = &Point> {
    panel.lines.iter().flat_map(|line| line.points.iter().chain(&line.band).chain(&line.runs))
}

fn y_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    all_points(panel).flat_map(|point| extent(&point.y))
}

fn x_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    all_points(panel).map(|point| point.x).chain(panel.references.iter().map(|reference| reference.at))
}

/// Returns the classes of a line of a panel by its position; empty if its marks are not joined.
fn class(lines: &[Line], number: usize) -> String {
    let class = match lines[number].style {
        LineStyle::Thick => "ln",
        LineStyle::Dashed => "ln dash",
        LineStyle::Thin => return Pattern::of(lines, number).class(),
        LineStyle::Ghost => "ghost",
        LineStyle::Law => "law",
        LineStyle::Marks => "",
    };
    class.to_owned()
}

/// Returns the classes of the piece of a line that is drawn beside its name: dashes tell it from other lines. Empty if colour does.
fn sample(lines: &[Line], number: usize) -> String {
    let line = &lines[number];
    let is_dashed = match line.style {
        LineStyle::Dashed => true,
        LineStyle::Thin => lines.iter().filter(|other| is_alike(other, line)).count() > 1,
        _ => false,
    };
    if is_dashed { class(lines, number) } else { String::new() }
}

fn has_samples(lines: &Lines) -> bool {
    let in_panel = |panel: &Panel| {
        (0..panel.lines.len()).any(|number| {
            let is_named = end_lines(panel).any(|line| std::ptr::eq(line, &panel.lines[number]));
            is_named && !sample(&panel.lines, number).is_empty()
        })
    };
    lines.panels.iter().any(in_panel)
}

/// One panel with its axes.
struct Plot<'a> {
    chart: &'a Lines,
    /// Space for names at the right in px.
    names: f64,
    x: XAxis,
    y: YAxis,
    frame: Area,
}

impl Plot<'_> {
    fn draw(&self, panel: &Panel, canvas: &mut Canvas, first: bool) {
        let mut occupied = Occupied::default();
        let shifts = self.shifts(panel);
        for line in &panel.lines {
            self.band(line, canvas);
        }
        let mut labelled = Vec::new();
        let mut ends = Vec::new();
        for (number, (line, shift)) in panel.lines.iter().zip(&shifts).enumerate() {
            let pieces = self.pieces(&line.points, *shift);
            self.line(line, &pieces, canvas, *shift, &class(&panel.lines, number));
            for piece in &pieces {
                occupied.line(piece, 2 * number);
            }
            let points = pieces.concat();
            if let Some(end) =
                points.last().filter(|_| end_lines(panel).any(|named| std::ptr::eq(named, line)))
            {
                ends.push(EndName { series: &line.series, end: *end, sample: sample(&panel.lines, number) });
            }
            let edge = self.pieces(&line.band, 0.0).concat();
            occupied.line(&edge, 2 * number + 1);
            labelled.push(LabelledLine { line, number: 2 * number, text: &line.role, points });
            labelled.push(LabelledLine { line, number: 2 * number + 1, text: &line.band_name, points: edge });
        }
        references::draw(panel, canvas, &self.x.map, self.frame);
        for (line, shift) in panel.lines.iter().zip(&shifts) {
            self.marks(line, canvas, *shift);
        }
        end_names(canvas, &ends, (self.frame.right, self.names), (self.frame.top, self.frame.bottom));
        labelled.retain(|label| first || label.line.style == LineStyle::Law);
        draw_labels(&labelled, canvas, self.frame, &mut occupied);
    }

    /// Returns how far each line is moved to the right, so that whiskers of several series do not lie on each other.
    fn shifts(&self, panel: &Panel) -> Vec<f64> {
        let has_interval = |line: &&Line| {
            matches!(line.style, LineStyle::Thick | LineStyle::Dashed | LineStyle::Marks)
                && line.points.iter().any(|point| point.y.interval.is_some())
        };
        let mut names: Vec<&str> = Vec::new();
        for line in panel.lines.iter().filter(has_interval) {
            if !names.contains(&line.series.name.as_str()) {
                names.push(&line.series.name);
            }
        }
        let is_dodged =
            matches!(self.chart.x.scale, Scale::Log | Scale::Ordinal(_)) && (2..=6).contains(&names.len());
        let middle = names.len().saturating_sub(1) as f64 / 2.0;
        let shift = |line: &Line| match names.iter().position(|name| *name == line.series.name) {
            Some(place) if is_dodged => (place as f64 - middle) * DODGE,
            _ => 0.0,
        };
        panel.lines.iter().map(shift).collect()
    }

    /// Returns the position of a point.
    fn at(&self, point: &Point, value: f64, shift: f64) -> Option<Position> {
        let x = self.x.map.at(point.x)? + shift;
        Some((x.clamp(self.frame.left, self.frame.right), self.y.map.at(value)?))
    }

    /// Returns lines of points, interrupted where a point cannot be drawn.
    fn pieces(&self, points: &[Point], shift: f64) -> Vec<Vec<Position>> {
        let mut pieces = vec![Vec::new()];
        for point in points {
            match (self.at(point, point.y.value, shift), pieces.last_mut()) {
                (Some(at), Some(piece)) => piece.push(at),
                _ => pieces.push(Vec::new()),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Draws the band between the line and its far edge, interrupted where one of them cannot be drawn.
    fn band(&self, line: &Line, canvas: &mut Canvas) {
        let slot = line.series.slot.class();
        let mut pieces: Vec<(Vec<Position>, Vec<Position>)> = vec![Default::default()];
        for point in &line.points {
            let near = self.at(point, point.y.value, 0.0);
            let far = line.band.iter().find(|far| far.x == point.x);
            match (near, far.and_then(|far| self.at(far, far.y.value, 0.0)), pieces.last_mut()) {
                (Some(near), Some(far), Some(piece)) => {
                    piece.0.push(near);
                    piece.1.push(far);
                }
                _ => pieces.push(Default::default()),
            }
        }
        for (near, mut far) in pieces {
            canvas.path(&far, &format!("thin {slot}"));
            far.reverse();
            canvas.area(&[near, far].concat(), &format!("band {slot}"));
        }
    }

    /// Draws a line of this class with its whiskers.
    fn line(&self, line: &Line, pieces: &[Vec<Position>], canvas: &mut Canvas, shift: f64, class: &str) {
        let slot = line.series.slot;
        if has_marks(line.style) {
            for point in &line.points {
                if let Some((x, _)) = self.at(point, point.y.value, shift) {
                    whisker(canvas, &self.y.map, x, point.y, slot);
                }
            }
        }
        for piece in pieces.iter().filter(|_| !class.is_empty()) {
            canvas.path(piece, &format!("{class} {}", slot.class()));
        }
    }

    fn marks(&self, line: &Line, canvas: &mut Canvas, shift: f64) {
        let slot = line.series.slot;
        for run in &line.runs {
            if let Some(at) = self.at(run, run.y.value, shift) {
                let class = if run.hollow { "second" } else { "run" };
                canvas.mark(slot, at, 2.0, class, &self.title(line, "run", run));
            }
        }
        let r = match line.style {
            LineStyle::Thin => 1.8,
            style if has_marks(style) => MARK,
            _ => return,
        };
        for point in &line.points {
            if let Some(at) = self.at(point, point.y.value, shift) {
                let class = if point.hollow { "hol" } else { "mk" };
                canvas.mark(slot, at, r, class, &self.title(line, &line.role, point));
            }
        }
        for point in &line.band {
            if let Some(at) = self.at(point, point.y.value, 0.0) {
                canvas.mark(slot, at, 1.6, "mk", &self.title(line, &line.band_name, point));
            }
        }
    }

    fn title(&self, line: &Line, role: &str, point: &Point) -> String {
        let place = place_text(&self.chart.x, point.x);
        tooltip(&[&line.series.name, role, &place], &estimate(point.y, self.chart.y.unit), &point.detail)
    }
}

/// Returns the position of a point as text: a number without a unit gets the label of the axis.
fn place_text(axis: &Axis, x: f64) -> String {
    let text = XAxis::text(axis, x);
    match (&axis.scale, axis.unit) {
        (Scale::Ordinal(_), _) => text,
        (_, Unit::Count) if !axis.label.is_empty() => format!("{} {text}", axis.label),
        _ => text,
    }
}

fn has_marks(style: LineStyle) -> bool {
    matches!(style, LineStyle::Thick | LineStyle::Dashed | LineStyle::Marks)
}
