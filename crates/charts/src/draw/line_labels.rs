//! Words on lines.

use crate::{
    canvas::{Anchor, Canvas, Position},
    labels::{Area, Occupied},
    model::{Line, LineStyle},
    text::{widest, wrap_names},
};

/// Size of the words in px.
const SIZE: f64 = 12.0;
/// Height of a line of them in px.
const HEIGHT: f64 = 13.0;
/// Maximum number of lines of words.
const MOST_LINES: usize = 2;

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
        // Words that are shortened can lose the number for which they are there.
        let wrapped = wrap_names(&[text], SIZE, frame.right - frame.left - 2.0, MOST_LINES).swap_remove(0);
        let size = (widest(&wrapped, SIZE), wrapped.len() as f64 * HEIGHT);
        let places: Vec<Area> = alike.iter().flat_map(|line| places(&line.points, size, frame)).collect();
        if let Some(best) = occupied.place(&places, frame, &own) {
            let baselines = (1..).map(|number| best.top + f64::from(number) * HEIGHT - 3.0);
            for (line, y) in wrapped.iter().zip(baselines) {
                canvas.text((best.left, y), Anchor::Start, &class, line.trim_end());
            }
        }
    }
}

/// Returns boxes of this size above and below the points of a line and the middles between them.
fn places(points: &[Position], (wide, high): (f64, f64), frame: Area) -> Vec<Area> {
    let middles = points.windows(2).map(|pair| {
        let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
        (f64::midpoint(x1, x2), f64::midpoint(y1, y2))
    });
    let all: Vec<Position> = middles.chain(points.iter().copied()).collect();
    let mut places = Vec::new();
    for (x, y) in all.iter().copied().step_by(all.len().div_ceil(MOST_POINTS).max(1)) {
        let left = (x - wide / 2.0).min(frame.right - wide).max(frame.left + 2.0);
        let (before, after) = ((x - wide - 9.0).max(frame.left + 2.0), (x + 9.0).min(frame.right - wide));
        let beside = [(before, y - high - 1.0), (after, y + 2.0)];
        let over = [y - high - 6.0, y + 6.0, y - high - 12.0, y + 12.0].map(|top| (left, top));
        places.extend(beside.into_iter().chain(over).map(|corner| Area::at(corner, wide, high)));
    }
    places
}
