//! One file per type of chart: data to elements.

mod bars;
mod forest;
mod heat;
mod line_labels;
mod lines;
mod marks;
mod panels;
mod percentiles;
mod references;
mod strip;
mod timeline;
mod trials;

pub(crate) use heat::prefix as heat_prefix;
pub(crate) use marks::bar;
pub(crate) use percentiles::MOST_RUNS;
pub(crate) use timeline::NO_SAMPLE;

use crate::{
    canvas::{Anchor, Canvas},
    model::{Axis, ChartKind, Scale},
    number::drawable,
};

/// Height of a chart without values in px.
const EMPTY: f64 = 120.0;

/// Draws a chart and returns its height in px; without values, words that say so.
pub(crate) fn draw(kind: &ChartKind, canvas: &mut Canvas) -> f64 {
    if !has_values(kind) {
        let middle = (canvas.width / 2.0, EMPTY / 2.0);
        canvas.text(middle, Anchor::Middle, "t", "No values to draw");
        return EMPTY;
    }
    match kind {
        ChartKind::Forest(chart) => forest::draw(chart, canvas),
        ChartKind::RunStrip(chart) => strip::draw(chart, canvas),
        ChartKind::Percentiles(chart) => percentiles::draw(chart, canvas),
        ChartKind::Lines(chart) => lines::draw(chart, canvas),
        ChartKind::Timeline(chart) => timeline::draw(chart, canvas),
        ChartKind::Bars(chart) => bars::draw(chart, canvas),
        ChartKind::Heat(chart) => heat::draw(chart, canvas),
        ChartKind::Trials(chart) => trials::draw(chart, canvas),
    }
}

fn has_values(kind: &ChartKind) -> bool {
    let on = |axis: &Axis, value: f64| drawable(value) && (axis.scale != Scale::Log || value > 0.0);
    match kind {
        ChartKind::Forest(chart) => {
            chart.rows.iter().any(|row| drawable(row.ratio.value) && row.ratio.value > 0.0)
        }
        ChartKind::RunStrip(chart) => chart.series.iter().any(|series| !series.runs.is_empty()),
        ChartKind::Percentiles(chart) => chart.series.iter().any(|series| {
            let mut points = series.median.iter().chain(&series.pooled).chain(series.runs.iter().flatten());
            points.any(|point| (0.0..1.0).contains(&point.quantile) && on(&chart.y, point.estimate.value))
        }),
        ChartKind::Lines(chart) => chart.panels.iter().flat_map(|panel| &panel.lines).any(|line| {
            let mut points = line.points.iter().chain(&line.runs);
            points.any(|point| on(&chart.x, point.x) && on(&chart.y, point.y.value))
        }),
        ChartKind::Timeline(chart) => {
            let mut windows = chart.panels.iter().flat_map(|panel| &panel.windows);
            windows.any(|window| drawable(window.start) && drawable(window.end) && on(&chart.y, window.value))
        }
        ChartKind::Bars(chart) => {
            let mut bars = chart.groups.iter().flat_map(|group| &group.bars);
            bars.any(|bar| drawable(bar.total.value) || bar.parts.iter().any(|part| drawable(*part)))
        }
        ChartKind::Heat(chart) => {
            chart.rows.iter().flat_map(|row| &row.cells).any(|cell| drawable(cell.value))
        }
        ChartKind::Trials(chart) => {
            chart.searches.iter().flat_map(|search| &search.trials).any(|trial| on(&chart.y, trial.load))
        }
    }
}
