//! Table of coloured fields.

use crate::{
    axes::tooltip,
    canvas::{Anchor, Canvas},
    model::{Heat, HeatCell, HeatRow},
    number::{Prefix, drawable, plain, value},
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
    let total = canvas.width;
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
            if !drawable(cell.value) {
                continue;
            }
            let title = title(heat, row, column, cell);
            if cell.hollow {
                canvas.rect((x + 2.0, y + 2.0), (x + step - 2.0, bottom - 2.0), "empty", &title);
            } else {
                let class = format!("field {}", heat.slot.class());
                let corners = [(x + 1.0, y + 1.0), (x + step - 1.0, bottom - 1.0)];
                canvas.field(corners, &class, strengths.of(cell.value), &title);
            }
            let text = plain(cell.value / prefix.factor);
            if width(&text, SIZE) <= step - 3.0 {
                canvas.text((x + step / 2.0, f64::midpoint(y, bottom) + 4.5), Anchor::Middle, "f", &text);
            }
        }
    }
    bottom + 6.0
}

/// Returns one unit for the values of all fields.
pub(crate) fn prefix(heat: &Heat) -> Prefix {
    let values = heat.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.value);
    heat.unit.common_prefix(values.filter(|value| drawable(*value)))
}

fn title(heat: &Heat, row: &HeatRow, column: usize, cell: &HeatCell) -> String {
    let column = heat.columns.get(column).map_or("", String::as_str);
    let place = if heat.column_label.is_empty() {
        column.to_owned()
    } else {
        format!("{} {column}", heat.column_label)
    };
    tooltip(&[&row.label, &place], &value(cell.value, heat.unit), &cell.detail)
}

/// Function from values to opacities.
struct Strengths {
    low: f64,
    high: f64,
}

impl Strengths {
    fn new(heat: &Heat) -> Self {
        let cells = heat.rows.iter().flat_map(|row| &row.cells).filter(|cell| !cell.hollow);
        let values = cells.map(|cell| cell.value).filter(|value| drawable(*value) && *value > 0.0);
        let logs: Vec<f64> = values.map(f64::ln).collect();
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high }
    }

    /// Returns the opacity of a value; 0 and negative values are pale.
    fn of(&self, value: f64) -> f64 {
        let log = if value > 0.0 { value.ln() } else { self.low };
        let span = self.high - self.low;
        let share = if span > 0.0 { ((log - self.low) / span).clamp(0.0, 1.0) } else { 0.5 };
        STRONGEST_FIELD * (0.12 + 0.88 * share)
    }
}
