//! Table of coloured fields.

use crate::{
    axes::tooltip,
    canvas::{Anchor, Canvas},
    model::{Heat, HeatCell, HeatRow, Shade, Slot},
    number::{Prefix, change, drawable, plain, value},
    palette::STRONGEST_FIELD,
    text::{LINE, widest, width, wrap, wrap_names},
};

/// Height of a row in px.
const ROW: f64 = 24.0;
/// Size of the texts in px.
const SIZE: f64 = 12.0;
/// Size of the names of rows in px.
const NAME: f64 = 12.5;
/// Most lines of a name.
const MOST_LINES: usize = 6;

/// Draws the chart and returns its height.
pub(crate) fn draw(heat: &Heat, canvas: &mut Canvas) -> f64 {
    let total = canvas.width();
    let prefix = prefix(heat);
    let labels = heat.rows.iter().map(|row| width(&row.label, NAME)).fold(0.0, f64::max);
    let left = (labels.max(width(&heat.row_label, SIZE)) + 10.0).min(0.38 * total);
    let step = (total - left) / heat.columns.len().max(1) as f64;
    let unit = if prefix.name.is_empty() { String::new() } else { format!("values in {}", prefix.name) };
    canvas.text((0.0, 12.0), Anchor::Start, "t", &unit);
    let column_label = wrap(&heat.column_label, SIZE, (total - width(&unit, SIZE) - 12.0).max(0.5 * total));
    canvas.lines((total, 12.0), Anchor::End, "t", &column_label);
    let columns: Vec<&str> = heat.columns.iter().map(String::as_str).collect();
    let columns = wrap_names(&columns, SIZE, (step - 4.0).max(40.0), MOST_LINES);
    let row_label = wrap(&heat.row_label, SIZE, left - 10.0);
    let lines = columns.iter().map(Vec::len).max().unwrap_or(0).max(row_label.len()).max(1);
    let top = 26.0 + LINE * (column_label.len().max(1) - 1 + lines) as f64;
    let begin = |lines: &[String]| top - 8.0 - LINE * lines.len().saturating_sub(1) as f64;
    canvas.lines((0.0, begin(&row_label)), Anchor::Start, "t", &row_label);
    let mut free = total;
    for (index, column) in columns.iter().enumerate().rev() {
        let middle = left + (index as f64 + 0.5) * step;
        let half = widest(column, SIZE) / 2.0;
        let middle = middle.min(total - half);
        if middle + half <= free + 1.0 {
            canvas.lines((middle, begin(column)), Anchor::Middle, "t", column);
            free = middle - half - 4.0;
        }
    }
    let strengths = Strengths::new(heat);
    let names: Vec<&str> = heat.rows.iter().map(|row| row.label.as_str()).collect();
    let names = wrap_names(&names, NAME, left - 10.0, MOST_LINES);
    let mut bottom = top;
    for (row, name) in heat.rows.iter().zip(&names) {
        let y = bottom;
        let more = LINE * name.len().saturating_sub(1) as f64;
        bottom += ROW.max(10.0 + LINE + more);
        canvas.lines((0.0, y + 16.5), Anchor::Start, "w", name);
        for (column, cell) in row.cells.iter().take(heat.columns.len()).enumerate() {
            let x = left + column as f64 * step;
            let title = title(heat, row, column, cell);
            field(heat, cell, canvas, (x + 1.0, y + 1.0, x + step - 1.0, bottom - 1.0), &strengths, &title);
            let text = text(heat, cell, prefix);
            if width(&text, SIZE) <= step - 3.0 && drawable(cell.value) {
                canvas.text((x + step / 2.0, f64::midpoint(y, bottom) + 4.5), Anchor::Middle, "f", &text);
            }
        }
    }
    bottom + 6.0
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
