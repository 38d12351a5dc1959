//! Response times of each flow of a mix.

use charts::{Axis, ChartKind, RunStrip, Series, StripSeries};
use results::{CellResult, Metric};

use super::{
    distribution::{OfWorkload, at_one_size, dots, scale, scale_words, strip_note},
    frame::{Frame, capital, noisy, sizes_and_n},
    limits::MOST_SERIES,
};
use crate::{
    page::Figure,
    scene::Scene,
    values::{Quantity, bytes, estimate},
};

/// Returns every run of each flow, by its median and its 99 % response time; empty if no cell has several flows.
pub(crate) fn figures(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let focus = at_one_size(all, false).into_iter();
    let mixed: Vec<(&Series, &CellResult)> = focus.filter(|(_, cell)| cell.factors.flows.len() > 1).collect();
    let metrics = [("flows", "Flows", Metric::ResponseP50), ("flows-p99", "Flows, p99", Metric::ResponseP99)];
    metrics
        .into_iter()
        .filter_map(|(id, short, metric)| of_metric(scene, &mixed, (id, short), metric))
        .collect()
}

fn of_metric(
    scene: &Scene<'_>,
    mixed: &[(&Series, &CellResult)],
    (id, short): (&str, &'static str),
    metric: Metric,
) -> Option<Figure> {
    let (_, first) = mixed.first()?;
    let mut series: Vec<StripSeries> = Vec::new();
    for flow in &first.factors.flows {
        for (of, cell) in mixed {
            let value = |run: &results::Run| run.value_of(metric, Some(&flow.name));
            let name =
                if mixed.len() > 1 { format!("{}, {}", flow.name, of.name) } else { flow.name.clone() };
            let values: Vec<f64> = cell.claimed_runs().filter_map(value).collect();
            series.push(StripSeries {
                series: Series::new(name, of.slot),
                runs: dots(cell, value),
                median: estimate(&values),
            });
        }
    }
    series.retain(|of| of.median.is_some());
    series.truncate(MOST_SERIES);
    if series.is_empty() {
        return None;
    }
    let cells: Vec<&CellResult> = mixed.iter().map(|(_, cell)| *cell).collect();
    let values: Vec<f64> = series.iter().flat_map(|of| of.runs.iter().map(|run| run.value)).collect();
    let scale = scale(&values);
    let quantity = Quantity::Metric(metric);
    let flows = first
        .factors
        .flows
        .iter()
        .map(|flow| format!("{}: {} at {}", flow.name, bytes(flow.size_bytes), flow.load));
    let mut note = strip_note(scene, &cells, &series);
    note.push_str(&format!(" {}.", capital(&flows.collect::<Vec<_>>().join("; "))));
    let mut conditions = vec![scale_words(&scale).to_owned()];
    conditions.extend(sizes_and_n(&cells, None));
    let frame = Frame {
        id,
        short,
        title: format!("Each flow: {}", quantity.words()),
        quantity,
        conditions,
        note,
        drawn: format!(
            "Strip plot of the {} of {} flows: each run as a dot over its block, with the median and its interval.",
            quantity.words(),
            first.factors.flows.len()
        ),
    };
    let y = Axis { unit: quantity.unit(), scale, ..Axis::default() };
    let x_label = "block, in order of measurement".to_owned();
    let strip = RunStrip { x_label, y, series, noisy: noisy(scene) };
    Some(frame.around(scene, &cells, ChartKind::RunStrip(strip)))
}
