//! Response times and missed deadlines of each flow of a mix.

use std::cmp::Reverse;

use charts::{Axis, ChartKind, RunStrip, Scale, Series, StripSeries, Unit};
use experiment::Flow;
use results::{CellFlow, CellResult, Metric, Run, Strain};

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

/// Metrics with the identifier and the short name of their charts.
const METRICS: [(&str, &str, Metric); 3] = [
    ("flows-missed", "Missed", Metric::Missed),
    ("flows", "Flows", Metric::ResponseP50),
    ("flows-p99", "Flows, p99", Metric::ResponseP99),
];

/// Multiple of the highest value of a flow up to which its limit is drawn.
const FAR_ABOVE: f64 = 10.0;

/// Returns the limit of a metric of a flow in the unit of charts: of its missed deadlines, and of its 99 % response time the deadline.
fn limit(flow: &Flow, metric: Metric) -> Option<f64> {
    let deadline = flow.deadline?;
    match metric {
        Metric::Missed => Some(deadline.limit_pct()),
        Metric::ResponseP99 => Some(deadline.deadline_ns as f64),
        _ => None,
    }
}

/// Formats the limit of a metric of a flow.
fn limit_words(flow: &Flow, metric: Metric) -> Option<String> {
    let limit = limit(flow, metric)?;
    Some(match metric {
        Metric::Missed => format!("limit {}\u{a0}%", results::format_value(limit)),
        _ => format!("deadline {}", charts::number::value(limit, Unit::Nanoseconds)),
    })
}

/// Cells of a mix with their series, and the flows in the order in which they are shown.
struct Mix<'s, 'd> {
    cells: Vec<(&'s Series, &'d CellResult)>,
    flows: Vec<&'d Flow>,
    /// Number of flows of the plan.
    all: usize,
}

/// Returns every run of each flow, by its missed deadlines, its median and its 99 % response time; empty if no cell has several flows.
pub(crate) fn figures(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let focus = at_one_size(all, false).into_iter();
    let cells: Vec<(&Series, &CellResult)> = focus.filter(|(_, cell)| cell.factors.flows.len() > 1).collect();
    let Some(mix) = Mix::new(cells) else { return Vec::new() };
    METRICS.iter().filter_map(|(id, short, metric)| mix.figure(scene, (id, short), *metric)).collect()
}

impl<'s, 'd> Mix<'s, 'd> {
    /// Returns the flows of these cells, those that suffer first at the top if they have deadlines; of equal flows, the one that suffers
    /// most. `None` without cells.
    fn new(cells: Vec<(&'s Series, &'d CellResult)>) -> Option<Self> {
        let planned: &'d [Flow] = &cells.first()?.1.factors.flows;
        let strain = |flow: &Flow| {
            let flows = cells.iter().flat_map(|(_, cell)| cell.paced.iter().flat_map(|paced| &paced.flows));
            flows.filter(|values| values.name == flow.name).map(CellFlow::strain).max().unwrap_or_default()
        };
        let worst = planned.chunk_by(Flow::is_in_group_of).filter_map(|flows| {
            flows.iter().map(|flow| (strain(flow), flow)).max_by_key(|(strain, _)| *strain)
        });
        let mut worst: Vec<(Strain, &Flow)> = worst.collect();
        if planned.iter().any(|flow| flow.deadline.is_some()) {
            worst.sort_by_key(|(strain, _)| Reverse(*strain));
        }
        let flows = worst.into_iter().map(|(_, flow)| flow).collect();
        Some(Self { cells, flows, all: planned.len() })
    }

    /// Returns the series of a flow: a row for each cell with values.
    fn series(&self, flow: &Flow, metric: Metric) -> Vec<StripSeries> {
        let of_cell = |(of, cell): &(&Series, &CellResult)| {
            let value = |run: &Run| run.observed(metric, Some(&flow.name));
            let driver = if self.cells.len() > 1 { format!(", {}", of.name) } else { String::new() };
            let values: Vec<f64> = cell.claimed_runs().filter_map(value).collect();
            // The dots of all runs are shown, but no median of the quick ones alone.
            let is_complete = cell.values_of(metric, Some(&flow.name)).is_some();
            let median = estimate(&values)?;
            let runs = dots(cell, value);
            let highest =
                runs.iter().map(|run| run.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
            // One that is far above all runs would leave no room for their differences.
            let limit = limit(flow, metric).filter(|limit| *limit <= FAR_ABOVE * highest);
            Some(StripSeries {
                series: Series::new(format!("{}{driver}", flow.name), of.slot),
                runs,
                median: is_complete.then_some(median),
                limit,
            })
        };
        self.cells.iter().filter_map(of_cell).collect()
    }

    fn figure(&self, scene: &Scene<'_>, (id, short): (&str, &'static str), metric: Metric) -> Option<Figure> {
        let known = self.flows.iter().map(|flow| (*flow, self.series(flow, metric)));
        let mut shown: Vec<(&Flow, Vec<StripSeries>)> =
            known.filter(|(_, series)| !series.is_empty()).collect();
        shown.truncate((MOST_SERIES / self.cells.len()).max(1));
        let values: Vec<f64> = shown
            .iter()
            .flat_map(|(_, series)| series)
            .flat_map(|of| of.runs.iter().map(|run| run.value))
            .collect();
        let is_missed = metric == Metric::Missed;
        if shown.is_empty() || (is_missed && values.iter().all(|value| *value == 0.0)) {
            return None;
        }
        let cells: Vec<&CellResult> = self.cells.iter().map(|(_, cell)| *cell).collect();
        let scale = if is_missed { Scale::FromZero } else { scale(&values) };
        let quantity = Quantity::Metric(metric);
        // What all flows have in common is said once.
        let limits: Vec<Option<String>> = shown.iter().map(|(flow, _)| limit_words(flow, metric)).collect();
        let common = limits.first().filter(|first| limits.iter().all(|limit| limit == *first)).cloned();
        let words = shown.iter().zip(&limits).map(|((flow, _), limit)| {
            let limit = limit.as_ref().filter(|_| common.is_none());
            let limit = limit.map_or_else(String::new, |limit| format!(", {limit}"));
            format!("{}: {} at {}{limit}", flow.name, flow.size_words(bytes), flow.load)
        });
        let words = capital(&words.collect::<Vec<_>>().join("; "));
        let (part, title) = match shown.len() {
            n if n == self.all => (String::new(), format!("Each flow: {}", quantity.words())),
            n => (
                format!(" {n} of {} flows: those that suffer first, and of equal ones the worst.", self.all),
                format!("The flows that suffer first: {}", quantity.words()),
            ),
        };
        let series: Vec<StripSeries> = shown.into_iter().flat_map(|(_, series)| series).collect();
        let note = format!("{}{part} {words}.", strip_note(scene, &cells, &series));
        let mut conditions = vec![scale_words(&scale).to_owned()];
        conditions.extend(sizes_and_n(&cells, None));
        conditions.extend(common.flatten());
        let frame = Frame {
            id,
            short,
            title,
            quantity,
            conditions,
            note,
            drawn: format!(
                "Strip plot of the {} of {} flows: each run as a dot over its block, with the median and its interval.",
                quantity.words(),
                self.all
            ),
        };
        let y = Axis { unit: quantity.unit(), scale, ..Axis::default() };
        let strip = RunStrip { y, series, noisy: noisy(scene) };
        Some(frame.around(scene, (&cells, ""), ChartKind::RunStrip(strip)))
    }
}
