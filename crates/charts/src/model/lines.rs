//! Values over an axis.

use serde::Deserialize;

use super::{Axis, Estimate, Interval, Series, Slot};

/// Lines over an axis: latency or throughput over size, response over load, discovery or fan-out over N, CPU or
/// bytes per sample, history over results.
///
/// One panel, or small multiples with common axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lines {
    /// Axis of x.
    pub x: Axis,
    /// Axis of the values; its label is not drawn.
    pub y: Axis,
    /// Panels in reading order.
    pub panels: Vec<Panel>,
}

/// Lines in one frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// Heading in the colour of its series; `None` for a single panel.
    pub heading: Option<Series>,
    /// Lines, the first at the back.
    pub lines: Vec<Line>,
    /// Labelled vertical lines.
    pub references: Vec<Reference>,
    /// Stretches of x that are shaded, as for noisy results.
    pub shaded: Vec<Interval>,
}

/// One line with its marks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    /// Name and colour. The name is written at the end of the line if `named`, and is in tooltips and the table.
    pub series: Series,
    /// Part of the series, as in `p50` or `batched, 8 KiB`: written on the line, in tooltips and the table; may be
    /// empty.
    pub role: String,
    /// Whether the name of the series is written at the end of the line.
    pub named: bool,
    /// Thickness, dashes and marks.
    pub style: LineStyle,
    /// Points in ascending order of x. A value that cannot be drawn interrupts the line.
    pub points: Vec<Point>,
    /// Band from the line up or down to these values at the same x, as up to p99. Empty: no band.
    pub band: Vec<Point>,
    /// Name of the far edge of the band, as in `p99`; may be empty.
    pub band_name: String,
    /// Single runs: small dots.
    pub runs: Vec<Point>,
}

/// Thickness, dashes and marks of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineStyle {
    /// Thick with marks and whiskers.
    #[default]
    Thick,
    /// Thick and dashed, with marks and whiskers, as for batched samples.
    Dashed,
    /// Thin with small marks.
    Thin,
    /// Thin and grey, without marks, name and rows in the table: another series for comparison.
    Ghost,
    /// Thin and long-dashed, without marks: a fitted law. The role is its text, as in `time = 2.1 ms × N^1.02`.
    Law,
    /// Marks and whiskers that are not joined.
    Marks,
}

/// Value at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// Value with its interval.
    pub y: Estimate,
    /// Whether the mark is hollow: do not compare without reading why.
    pub hollow: bool,
    /// Words after the value in the tooltip; may be empty.
    pub detail: String,
}

impl Point {
    /// Creates a point with a filled mark and no words.
    pub fn new(x: f64, y: Estimate) -> Self {
        Self { x, y, hollow: false, detail: String::new() }
    }
}

/// Labelled vertical line across a panel, dotted, as for a knee or a change point.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Position on the x axis.
    pub at: f64,
    /// Words at its upper end.
    pub label: String,
    /// Colour.
    pub slot: Slot,
}

/// Dashes of a thin line: none for the first of a style and colour, dashes for the second, and one more dot between them for each further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern(usize);

impl Pattern {
    /// Returns the dashes of a line of a panel by its position: they tell it from the lines of the same style and colour before it.
    #[must_use]
    pub fn of(lines: &[Line], number: usize) -> Self {
        let earlier = |line| lines[..number].iter().filter(|of| is_alike(of, line)).count();
        Self(lines.get(number).map_or(0, earlier))
    }

    /// Returns the name, for a sentence.
    #[must_use]
    pub fn name(self) -> String {
        match self.0 {
            0 => "solid".to_owned(),
            1 => "dashed".to_owned(),
            2 => "dash-dotted".to_owned(),
            n => format!("dashed with {} dots", n - 1),
        }
    }

    /// Returns the classes of the line.
    pub(crate) fn class(self) -> String {
        match self.0 {
            0 => "thin".to_owned(),
            1 => "thin dash".to_owned(),
            n => format!("thin {}{}", crate::style::DOTS, n - 1),
        }
    }
}

/// Returns whether lines have the same style and colour.
pub(crate) fn is_alike(one: &Line, other: &Line) -> bool {
    one.style == other.style && one.series.slot.class() == other.series.slot.class()
}
