//! Readers of a cell, and hops of a ring.

use charts::{Axis, ChartKind, Line, LineStyle, Lines, Panel, Point, Scale, Series, Unit};
use experiment::Workload;
use results::{CellResult, Metric, Run, kind_of_hop};

use super::{
    choice::telling,
    distribution::OfWorkload,
    frame::{Frame, sizes_and_n},
    limits::ONE_PANEL,
};
use crate::{
    page::Figure,
    scene::{Endpoints, Scene},
    values::{Quantity, estimate},
};

/// Maximum number of readers or hops on an axis.
const MOST: usize = 64;

/// Values of the parts of a run, by their names.
type OfParts = fn(&CellResult, &Run) -> Vec<(String, f64)>;

/// Chart of the parts of a cell.
struct Subject {
    id: &'static str,
    short: &'static str,
    title: &'static str,
    quantity: Quantity,
    unit: Unit,
    what: &'static str,
    x_label: &'static str,
    of_parts: OfParts,
}

const SUBJECTS: [(Workload, Subject); 3] = [
    (
        Workload::Latency,
        Subject {
            id: "hops",
            short: "Hops",
            title: "Each hop of the ring",
            quantity: Quantity::Metric(Metric::RttP50),
            unit: Unit::Nanoseconds,
            what: "Median one-way time of a hop",
            x_label: "hop, by the numbers of its nodes",
            of_parts: hops,
        },
    ),
    (
        Workload::Latency,
        Subject {
            id: "echoes",
            short: "Readers",
            title: "The round trip to each reader",
            quantity: Quantity::Metric(Metric::RttP50),
            unit: Unit::Nanoseconds,
            what: "Median round-trip time",
            x_label: "reader that echoes",
            of_parts: echoes,
        },
    ),
    (
        Workload::Throughput,
        Subject {
            id: "readers",
            short: "Readers",
            title: "What each reader received",
            quantity: Quantity::Metric(Metric::Delivered),
            unit: Unit::Percent,
            what: "Delivered samples of a reader, in percent of the mean of all readers",
            x_label: "reader",
            of_parts: readers,
        },
    ),
];

/// Returns the charts of the parts of the cells with the most endpoints.
pub(crate) fn figures(scene: &Scene<'_>) -> Vec<Figure> {
    let figure =
        |(workload, subject): &(Workload, Subject)| subject.figure(scene, &scene.of_workload(*workload));
    SUBJECTS.iter().filter_map(figure).collect()
}

impl Subject {
    fn figure<'s, 'd>(&self, scene: &Scene<'_>, all: &OfWorkload<'s, 'd>) -> Option<Figure> {
        // The largest topology of each series.
        let largest = |(series, cells): &(&'s Series, Vec<&'d CellResult>)| {
            let cell = cells.iter().copied().max_by_key(|cell| {
                (Endpoints::of(&cell.factors).number(), std::cmp::Reverse(cell.factors.size_bytes))
            })?;
            Some((*series, (self.line(series, cell)?, cell)))
        };
        let shown = all.iter().filter_map(largest).collect();
        let (shown, why) =
            telling(scene, shown, (ONE_PANEL, |cell| self.quantity.median(cell)), |(_, cell)| *cell);
        let (_, ((_, names), _)) = shown.iter().max_by_key(|(_, ((_, names), _))| names.len())?;
        let names = names.clone();
        let (lines, cells): (Vec<Line>, Vec<&CellResult>) =
            shown.into_iter().map(|(_, ((line, _), cell))| (line, cell)).unzip();
        let topology = cells[0].factors.topology.to_string();
        let mut conditions = vec![format!("topology {topology}")];
        conditions.extend(sizes_and_n(&cells, None));
        let frame = Frame {
            id: self.id,
            short: self.short,
            title: self.title.to_owned(),
            quantity: self.quantity,
            conditions,
            note: "Small dots: runs. Mark: their median with its interval.".to_owned(),
            drawn: format!(
                "{} for each of {} in their order, with a dot for each run.",
                self.what,
                names.len()
            ),
        };
        let x = Axis { label: self.x_label.to_owned(), scale: Scale::Ordinal(names), ..Axis::default() };
        let y = Axis { unit: self.unit, ..Axis::default() };
        let kind = ChartKind::Lines(Lines { x, y, panels: vec![Panel { lines, ..Panel::default() }] });
        let mut figure = frame.around(scene, (&cells, &why), kind);
        let of_quantity = super::frame::capital(self.quantity.words());
        figure.chart.subtitle = figure.chart.subtitle.replacen(&of_quantity, self.what, 1);
        if self.unit == Unit::Percent {
            // More than the mean is not better.
            figure.chart.better = None;
        }
        Some(figure)
    }

    /// Returns the marks of a cell, and the names of its parts; `None` with fewer than two parts.
    fn line(&self, series: &Series, cell: &CellResult) -> Option<(Line, Vec<String>)> {
        let of_runs: Vec<Vec<(String, f64)>> = cell
            .claimed_runs()
            .map(|run| (self.of_parts)(cell, run))
            .filter(|parts| !parts.is_empty())
            .collect();
        let mut names: Vec<String> = of_runs.first()?.iter().map(|(name, _)| name.clone()).collect();
        names.truncate(MOST);
        if names.len() < 2 {
            return None;
        }
        let (mut points, mut runs) = (Vec::new(), Vec::new());
        for (index, name) in names.iter().enumerate() {
            let of_part =
                |parts: &Vec<(String, f64)>| parts.iter().find(|part| part.0 == *name).map(|part| part.1);
            let values: Vec<f64> = of_runs.iter().filter_map(of_part).collect();
            points.extend(estimate(&values).map(|estimate| Point::new(index as f64, estimate)));
            runs.extend(values.iter().map(|value| Point::new(index as f64, charts::Estimate::exact(*value))));
        }
        let named = true;
        let line =
            Line { series: series.clone(), named, style: LineStyle::Marks, points, runs, ..Line::default() };
        Some((line, names))
    }
}

/// Returns the median one-way time of each hop of a ring in ns.
fn hops(_: &CellResult, run: &Run) -> Vec<(String, f64)> {
    let hops = run.ring().into_iter().flat_map(|ring| &ring.hops).enumerate();
    hops.filter_map(|(index, hop)| {
        let p50 = run.latency.get(&kind_of_hop(index))?.p50_ns?;
        // The names of nodes are long, and end in their numbers.
        let [from, to] = [&hop.writer, &hop.reader].map(|name| name.trim_start_matches("node-"));
        Some((format!("{from} to {to}"), p50 as f64))
    })
    .collect()
}

/// Returns the median round-trip time to each reader in ns, if several echo.
fn echoes(cell: &CellResult, run: &Run) -> Vec<(String, f64)> {
    let of_flow = |flow: &results::FlowRecord| {
        let p50 = flow.latency.get("rtt")?.p50_ns?;
        Some((cell.label(&flow.reader), p50 as f64))
    };
    run.flows.iter().filter_map(of_flow).collect()
}

/// Returns what each reader received in percent of the mean, if there are several.
fn readers(cell: &CellResult, run: &Run) -> Vec<(String, f64)> {
    let mut received: Vec<(&str, f64)> = Vec::new();
    for flow in &run.flows {
        let samples = flow.delivered_in_time as f64;
        match received.iter_mut().find(|(id, _)| *id == flow.reader) {
            Some((_, known)) => *known += samples,
            None => received.push((&flow.reader, samples)),
        }
    }
    let mean = received.iter().map(|(_, samples)| samples).sum::<f64>() / received.len().max(1) as f64;
    if received.len() < 2 || mean <= 0.0 {
        return Vec::new();
    }
    received.into_iter().map(|(id, samples)| (cell.label(id), 100.0 * samples / mean)).collect()
}
