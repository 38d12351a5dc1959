//! Arrangement of small multiples.

use crate::{
    axes::{XAxis, YAxis},
    canvas::{Anchor, Canvas},
    labels::Area,
    model::Series,
    text::{BOLD, LINE, wrap_names},
};

/// Space between columns in px.
const GAP: f64 = 16.0;
/// Space right of the last column in px: half of a mark.
const EDGE: f64 = 5.0;
/// Space below a panel for tick labels in px.
const TICKS: f64 = 27.0;
/// Space above a panel for its heading in px.
const HEADING: f64 = 24.0;
/// Sizes of plots in px: alone, in one row, in several rows, and stacked in a narrow chart.
const HEIGHTS: [f64; 4] = [266.0, 220.0, 150.0, 130.0];

/// Most lines of a heading.
const HEADING_LINES: usize = 6;

/// Frames of panels with common axes.
#[derive(Debug)]
pub(crate) struct Panels {
    /// One frame per panel: inside are marks.
    pub frames: Vec<Area>,
    /// Heading of each panel, in lines, and its class.
    headings: Vec<(Vec<String>, String)>,
    /// Space below the headings.
    above: f64,
    columns: usize,
    left: f64,
}

impl Panels {
    /// Arranges a panel below each heading; `left` is the space for labels of the y axis, `right` that for names at line ends in
    /// each panel, and `above` that above each panel, below its heading. Each panel is `least` px high or higher.
    pub fn new(
        headings: &[Option<&Series>],
        canvas: &Canvas,
        (left, right): (f64, f64),
        above: f64,
        least: f64,
    ) -> Self {
        let count = headings.len();
        let narrow = canvas.is_narrow();
        let columns = match (count, narrow) {
            (0 | 1, _) => 1,
            (2..=4, true) => 1,
            (_, true) | (2 | 4, false) => 2,
            (_, false) => 3,
        };
        let rows = count.div_ceil(columns).max(1);
        let height = match (count, rows) {
            (0 | 1, _) => HEIGHTS[0],
            (_, 1) => HEIGHTS[1],
            (_, _) if narrow && columns == 1 => HEIGHTS[3],
            _ => HEIGHTS[2],
        };
        let height = height.max(least.ceil());
        let wide = (canvas.width - EDGE - left - (columns - 1) as f64 * GAP) / columns as f64;
        let names: Vec<&str> =
            headings.iter().map(|series| series.map_or("", |series| series.name.as_str())).collect();
        // A single column has the whole width.
        let space = if columns == 1 { wide.max(40.0) } else { (wide - right).max(40.0) + GAP - 4.0 };
        let lines = wrap_names(&names, BOLD * 13.0, space, HEADING_LINES);
        let most = lines.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let heading = HEADING + LINE * (most - 1) as f64;
        let class =
            |series: &Option<&Series>| format!("n {}", series.map_or("", |series| series.slot.class()));
        let headings = lines.into_iter().zip(headings.iter().map(class)).collect();
        let step = heading + above + height + TICKS;
        let frame = |index: usize| {
            let (column, row) = ((index % columns) as f64, (index / columns) as f64);
            let from = left + column * (wide + GAP);
            let top = row * step + heading + above;
            Area { left: from, top, right: from + (wide - right).max(40.0), bottom: top + height }
        };
        Self { frames: (0..count.max(1)).map(frame).collect(), headings, above, columns, left }
    }

    /// Draws the axes and headings of all panels.
    pub fn draw(&self, canvas: &mut Canvas, x: &XAxis, y: &YAxis, inset: (f64, f64)) {
        for (index, frame) in self.frames.iter().enumerate() {
            let y = y.onto(frame.bottom, frame.top);
            y.draw(canvas, frame.left, frame.right, index % self.columns == 0);
            let x = x.onto(frame.left + inset.0, frame.right - inset.1);
            x.draw(canvas, frame.left, frame.right, frame.bottom);
            if let Some((lines, class)) = self.headings.get(index) {
                let above = 9.0 + self.above + LINE * lines.len().saturating_sub(1) as f64;
                canvas.lines((frame.left, frame.top - above), Anchor::Start, class, lines);
            }
        }
        if let Some(first) = self.frames.first() {
            y.draw_unit(canvas, self.left, first.top - 12.0 - self.above);
        }
        let last = (self.frames.len() - 1) / self.columns * self.columns;
        let row = &self.frames[last..];
        let (left, right) = (row[0].left, row[row.len() - 1].right);
        x.draw_label(canvas, left, right, self.bottom());
    }

    /// Returns the lower edge of the last row of panels.
    pub fn bottom(&self) -> f64 {
        self.frames.last().map_or(0.0, |frame| frame.bottom)
    }

    /// Returns the height with the labels below the panels.
    pub fn height(&self) -> f64 {
        self.bottom() + 40.0
    }
}
