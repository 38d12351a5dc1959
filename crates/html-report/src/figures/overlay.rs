//! Published figures beside measured values.

use charts::{Estimate, Line, LineStyle, Point, Series, Slot};
use results::{CellResult, ResultDocument};

/// Returns a line for each system with published figures of a metric over the size. `metric` is the path of the measured
/// value; `factor` converts its unit to that of the chart.
pub(crate) fn lines(cells: &[&CellResult], metric: &str, factor: f64) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for cell in cells {
        for value in cell.published.iter().filter(|value| value.metric == metric) {
            let role = match value.batch_bytes {
                0 => "published".to_owned(),
                bytes => format!("published, batched {}", crate::values::bytes(bytes)),
            };
            let x = cell.factors.size_bytes as f64;
            let point = Point::new(x, Estimate::exact(value.converted * factor));
            match lines.iter_mut().find(|line| line.series.name == value.system && line.role == role) {
                Some(line) => {
                    // Several drivers have the same figure beside them.
                    if line.points.iter().all(|known| known.x != x) {
                        line.points.push(point);
                    }
                }
                None => lines.push(Line {
                    series: Series::new(&value.system, Slot::Ink),
                    role,
                    named: value.batch_bytes == 0,
                    style: LineStyle::Thin,
                    points: vec![point],
                    ..Line::default()
                }),
            }
        }
    }
    for line in &mut lines {
        line.points.sort_by(|left, right| left.x.total_cmp(&right.x));
    }
    lines
}

/// Returns a sentence about published figures; empty without them.
pub(crate) fn note(cells: &[&CellResult]) -> String {
    match cells.iter().any(|cell| !cell.published.is_empty()) {
        true => " Thin and black: published figures of other hosts.".to_owned(),
        false => String::new(),
    }
}

/// Returns the sources of the published figures of a result, and what differs, one text each.
pub(crate) fn sources(document: &ResultDocument) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for table in &document.experiment.published {
        let text = format!("{}: {} {}", table.system, table.source, table.note);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}
