//! Labelled vertical lines and shaded stretches of a panel.

use crate::{
    canvas::{Anchor, Canvas},
    labels::Area,
    model::{Panel, Reference},
    scale::Map,
    text::{fit, width},
};

/// Size of labels in px.
const SIZE: f64 = 12.0;
/// Height of a row of labels above a panel in px.
const ROW: f64 = 15.0;
/// Most rows of labels above a panel. Further labels are only in tooltips.
const MOST_ROWS: usize = 3;

/// Returns the number of rows of labels above a panel with this map of x.
pub(crate) fn label_rows(panel: &Panel, x: &Map, canvas: &Canvas) -> usize {
    let mut rows = Rows::default();
    for Reference { at, label, .. } in &panel.references {
        if let Some(x) = x.at(*at) {
            rows.place(label, x, canvas.width);
        }
    }
    rows.taken.iter().filter(|row| !row.is_empty()).count()
}

/// Rows of labels above a panel.
#[derive(Debug, Default)]
struct Rows {
    /// Stretches of each row, from the lowest, that have labels.
    taken: [Vec<(f64, f64)>; MOST_ROWS],
}

impl Rows {
    /// Takes a place for a label above `x`, and returns its text, its middle and its row; `None` if there is no space.
    fn place(&mut self, label: &str, x: f64, total: f64) -> Option<(String, f64, usize)> {
        let text = fit(label, SIZE, total);
        let half = width(&text, SIZE) / 2.0;
        let middle = x.min(total - half).max(half);
        let (from, to) = (middle - half - 6.0, middle + half + 6.0);
        let is_free = |row: &Vec<(f64, f64)>| row.iter().all(|(left, right)| to <= *left || from >= *right);
        let row = self.taken.iter().position(is_free).filter(|_| !text.is_empty())?;
        self.taken[row].push((from, to));
        Some((text, middle, row))
    }
}

/// Returns the space in px that rows of labels need above a panel.
pub(crate) fn space(rows: usize) -> f64 {
    if rows == 0 { 0.0 } else { rows as f64 * ROW }
}

/// Shades the stretches of a panel.
pub(crate) fn shade(panel: &Panel, canvas: &mut Canvas, x: &Map, frame: Area) {
    for (from, to) in panel.shaded.iter().filter_map(|stretch| x.ends(Some(*stretch))) {
        canvas.rect((from, frame.top), (to, frame.bottom), "noisy", "noisy");
    }
}

/// Draws the lines of a panel with their labels.
pub(crate) fn draw(panel: &Panel, canvas: &mut Canvas, x: &Map, frame: Area) {
    let mut rows = Rows::default();
    for Reference { at, label, slot } in &panel.references {
        let Some(x) = x.at(*at) else { continue };
        let slot = slot.class();
        canvas.rule((x, frame.top - 4.0), (x, frame.bottom), &format!("knee {slot}"), label);
        if let Some((text, middle, row)) = rows.place(label, x, canvas.width) {
            let at = (middle, frame.top - 8.0 - row as f64 * ROW);
            canvas.text(at, Anchor::Middle, &format!("an {slot}"), &text);
        }
    }
}
