//! Words on lines.

use crate::{
    canvas::{Anchor, Canvas, Position},
    labels::{Area, Occupied},
    model::{Line, LineStyle},
    text::{fit, width},
};

/// Size of the words in px.
const SIZE: f64 = 12.0;
/// Height of their box in px.
const HEIGHT: f64 = 13.0;

/// Most points of a line that are tried.
const MOST_POINTS: usize = 80;

/// Line that gets words.
#[derive(Debug)]
pub(crate) struct LabelledLine<'a> {
    pub line: &'a Line,
    /// Number of these points among what labels should not cover.
    pub number: usize,
    pub text: &'a str,
    pub points: Vec<Position>,
}

/// Writes each text once, on the line and at the place where it covers least.
///
/// A text that lines of several series share is grey; others have the colour of their line.
pub(crate) fn draw_labels(
    lines: &[LabelledLine<'_>],
    canvas: &mut Canvas,
    frame: Area,
    occupied: &mut Occupied,
) {
    let mut written: Vec<&str> = Vec::new();
    for LabelledLine { line, text, .. } in lines {
        let is_law = line.style == LineStyle::Law;
        if text.is_empty() || line.style == LineStyle::Ghost || (written.contains(text) && !is_law) {
            continue;
        }
        let alike: Vec<&LabelledLine<'_>> = lines
            .iter()
            .filter(|other| other.text == *text && other.line.style != LineStyle::Ghost)
            .filter(|other| !is_law || std::ptr::eq(other.line, *line))
            .collect();
        let own: Vec<usize> = alike.iter().map(|line| line.number).collect();
        written.push(text);
        let is_shared = alike.iter().any(|other| other.line.series.name != line.series.name);
        let class = if is_shared { "am".to_owned() } else { format!("an {}", line.series.slot.class()) };
        let text = fit(text, SIZE, frame.right - frame.left);
        let places: Vec<Area> =
            alike.iter().flat_map(|line| places(&line.points, width(&text, SIZE), frame)).collect();
        if let Some(best) = occupied.place(&places, frame, &own) {
            canvas.text((best.left, best.bottom - 3.0), Anchor::Start, &class, &text);
        }
    }
}

/// Returns boxes above and below the points of a line and the middles between them.
fn places(points: &[Position], wide: f64, frame: Area) -> Vec<Area> {
    let middles = points.windows(2).map(|pair| {
        let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
        (f64::midpoint(x1, x2), f64::midpoint(y1, y2))
    });
    let all: Vec<Position> = middles.chain(points.iter().copied()).collect();
    let mut places = Vec::new();
    for (x, y) in all.iter().copied().step_by(all.len().div_ceil(MOST_POINTS).max(1)) {
        let left = (x - wide / 2.0).min(frame.right - wide).max(frame.left + 2.0);
        let (before, after) = ((x - wide - 9.0).max(frame.left + 2.0), (x + 9.0).min(frame.right - wide));
        let beside = [(before, y - HEIGHT - 1.0), (after, y + 2.0)];
        let over = [y - HEIGHT - 6.0, y + 6.0, y - HEIGHT - 12.0, y + 12.0].map(|top| (left, top));
        places.extend(beside.into_iter().chain(over).map(|corner| Area::at(corner, wide, HEIGHT)));
    }
    places
}
