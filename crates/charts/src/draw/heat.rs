//! Table of coloured fields.

use crate::{
    axes::tooltip,
    canvas::{Anchor, Canvas},
    model::{Heat, HeatCell, HeatRow, Shade, Slot},
    number::{Prefix, change, drawable, plain, value},
    palette::STRONGEST_FIELD,
    text::{fit, width},
};

/// Height of a row in px.
const ROW: f64 = 24.0;
/// Size of the texts in px.
const SIZE: f64 = 12.0;

/// Draws the chart and returns its height.
pub(crate) fn draw(heat: &Heat, canvas: &mut Canvas) -> f64 {
    let total = canvas.width();
    let prefix = prefix(heat);
    let labels = heat.rows.iter().map(|row| width(&row.label, 12.5)).fold(0.0, f64::max);
    let left = (labels.max(width(&heat.row_label, SIZE)) + 10.0).min(0.38 * total);
    let step = (total - left) / heat.columns.len().max(1) as f64;
    let top = 40.0;
    let unit = if prefix.name.is_empty() { String::new() } else { format!("values in {}", prefix.name) };
    canvas.text((0.0, 12.0), Anchor::Start, "t", &unit);
    let space = total - width(&unit, SIZE) - 12.0;
    canvas.text((total, 12.0), Anchor::End, "t", &fit(&heat.column_label, SIZE, space));
    canvas.text((0.0, top - 8.0), Anchor::Start, "t", &fit(&heat.row_label, SIZE, left - 10.0));
    let mut free = total;
    for (index, column) in heat.columns.iter().enumerate().rev() {
        let text = fit(column, SIZE, step.max(40.0));
        let middle = left + (index as f64 + 0.5) * step;
        let half = width(&text, SIZE) / 2.0;
        let middle = middle.min(total - half);
        if middle + half <= free + 1.0 {
            canvas.text((middle, top - 8.0), Anchor::Middle, "t", &text);
            free = middle - half - 4.0;
        }
    }
    let strengths = Strengths::new(heat);
    for (index, row) in heat.rows.iter().enumerate() {
        let y = top + index as f64 * ROW;
        canvas.text((0.0, y + 16.5), Anchor::Start, "w", &fit(&row.label, 12.5, left - 10.0));
        for (column, cell) in row.cells.iter().take(heat.columns.len()).enumerate() {
            let x = left + column as f64 * step;
            let title = title(heat, row, column, cell);
            field(heat, cell, canvas, (x + 1.0, y + 1.0, x + step - 1.0, y + ROW - 1.0), &strengths, &title);
            let text = text(heat, cell, prefix);
            if width(&text, SIZE) <= step - 3.0 && drawable(cell.value) {
                canvas.text((x + step / 2.0, y + 16.5), Anchor::Middle, "f", &text);
            }
        }
    }
    top + heat.rows.len() as f64 * ROW + 6.0
}

pub(crate) fn prefix(heat: &Heat) -> Prefix {
    match heat.shade {
        Shade::Ratio { .. } => Prefix { factor: 1.0, name: "" },
        Shade::Larger(_) => {
            let values = heat.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.value);
            heat.unit.common_prefix(values.filter(|value| drawable(*value)))
        }
    }
}

/// Returns the text of a field: a value, or a change for a ratio.
pub(crate) fn text(heat: &Heat, cell: &HeatCell, prefix: Prefix) -> String {
    match heat.shade {
        Shade::Ratio { .. } => change(cell.value),
        Shade::Larger(_) => plain(cell.value / prefix.factor),
    }
}

fn title(heat: &Heat, row: &HeatRow, column: usize, cell: &HeatCell) -> String {
    let text = match heat.shade {
        Shade::Ratio { .. } => change(cell.value),
        Shade::Larger(_) => value(cell.value, heat.unit),
    };
    let column = heat.columns.get(column).map_or("", String::as_str);
    let place = if heat.column_label.is_empty() {
        column.to_owned()
    } else {
        format!("{} {column}", heat.column_label)
    };
    tooltip(&[&row.label, &place], &text, &cell.detail)
}

/// Function from values to opacities.
struct Strengths {
    low: f64,
    high: f64,
}

impl Strengths {
    fn new(heat: &Heat) -> Self {
        let cells = heat.rows.iter().flat_map(|row| &row.cells).filter(|cell| !cell.hollow);
        let logs = cells.map(|cell| cell.value).filter(|value| drawable(*value) && *value > 0.0).map(f64::ln);
        let logs: Vec<f64> = match heat.shade {
            Shade::Ratio { .. } => logs.map(f64::abs).chain([0.0, 0.01]).collect(),
            Shade::Larger(_) => logs.collect(),
        };
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high }
    }

    /// Returns colour and opacity of a value; 0 and negative values are pale.
    fn of(&self, shade: Shade, value: f64) -> (Slot, f64) {
        let log = if value > 0.0 { value.ln() } else { self.low };
        let (slot, log) = match shade {
            Shade::Larger(slot) => (slot, log),
            Shade::Ratio { below, above } => (if log < 0.0 { below } else { above }, log.abs()),
        };
        let span = self.high - self.low;
        let share = if span > 0.0 { ((log - self.low) / span).clamp(0.0, 1.0) } else { 0.5 };
        (slot, STRONGEST_FIELD * (0.12 + 0.88 * share))
    }
}

type Corners = (f64, f64, f64, f64);

fn field(heat: &Heat, cell: &HeatCell, canvas: &mut Canvas, at: Corners, strengths: &Strengths, title: &str) {
    let (left, top, right, bottom) = at;
    if !drawable(cell.value) {
        return;
    }
    if cell.hollow {
        canvas.rect((left + 1.0, top + 1.0), (right - 1.0, bottom - 1.0), "empty", title);
        return;
    }
    let (slot, opacity) = strengths.of(heat.shade, cell.value);
    canvas.field((left, top), (right, bottom), &format!("field {}", slot.class()), opacity, title);
}
