//! Published figures beside measured values.

use charts::{
    Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Estimate, Line, LineStyle, Point, Series, Slot, Unit,
};
use experiment::Figure as Figures;
use results::{CellResult, MeasuredValue, Metric, PublishedValue};

use super::{
    distribution::OfWorkload,
    frame::{capital, sizes_and_n},
    limits::MOST_SERIES,
};
use crate::{
    page::Figure,
    scene::{Scene, distinct},
    values::{Quantity, bytes, interval_name},
};

/// Path of the value that curves of latency over the size have.
pub(crate) const RTT: &str = "latency.rtt.p50_ns";
/// Path of the value that curves of throughput over the size have.
pub(crate) const GOODPUT: &str = "throughput.goodput_mbps";
/// Maximum number of cells with bars.
const MOST_GROUPS: usize = 12;
/// Maximum number of published values beside a measured one.
const MOST_PUBLISHED: usize = 3;

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
            let system = system(value);
            let x = cell.factors.size_bytes as f64;
            let point = Point::new(x, Estimate::exact(value.converted * factor));
            match lines.iter_mut().find(|line| line.series.name == system && line.role == role) {
                Some(line) => {
                    // Several drivers have the same figure beside them.
                    if line.points.iter().all(|known| known.x != x) {
                        line.points.push(point);
                    }
                }
                None => lines.push(Line {
                    series: Series::new(system, Slot::Ink),
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

/// Returns the name of a system with published figures, without what the chart says: that they are latencies or throughputs.
fn system(value: &PublishedValue) -> String {
    let parts = value.system.split(", ").filter(|part| !["latency", "throughput"].contains(part));
    parts.collect::<Vec<_>>().join(", ")
}

/// Like [`lines`], without names, for which a panel of each series has no room: [`note_of_panels`] has them.
pub(crate) fn lines_of_panel(cells: &[&CellResult], metric: &str, factor: f64) -> Vec<Line> {
    lines(cells, metric, factor).into_iter().map(|line| Line { named: false, ..line }).collect()
}

/// Returns a sentence about the published figures of a metric beside each series; empty without them.
pub(crate) fn note_of_panels(all: &OfWorkload<'_, '_>, metric: &str) -> String {
    let beside = |(series, cells): &(&Series, Vec<&CellResult>)| {
        let lines = lines(cells, metric, 1.0);
        let names: Vec<&str> = lines.iter().map(|line| line.series.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} beside {}", names.join(" and "), series.name))
    };
    let known: Vec<String> = all.iter().filter_map(beside).collect();
    if known.is_empty() {
        return String::new();
    }
    format!(" Thin and black: published figures of other hosts, {}.", known.join(", "))
}

/// Returns a sentence about published figures; empty without them.
pub(crate) fn note(cells: &[&CellResult]) -> String {
    match cells.iter().any(|cell| !cell.published.is_empty()) {
        true => " Thin and black: published figures of other hosts.".to_owned(),
        false => String::new(),
    }
}

/// Returns published figures beside measured values as bars, if the curves of these cells do not show them. `curve` is the path of the
/// value that curves over the size have.
pub(crate) fn bars(scene: &Scene<'_>, all: &OfWorkload<'_, '_>, id: &str, curve: &str) -> Option<Figure> {
    let every = || all.iter().flat_map(|(series, cells)| cells.iter().map(move |cell| (*series, *cell)));
    let values = || every().flat_map(|(_, cell)| &cell.published);
    let sizes = distinct(&every().map(|(_, cell)| cell).collect::<Vec<_>>(), |cell| cell.factors.size_bytes);
    let is_shown = sizes.len() > 1 && all.len() <= MOST_SERIES && values().any(|value| value.metric == curve);
    if is_shown {
        return None;
    }
    // One value: that which most cells have beside a measured one.
    let beside = |metric: &str| {
        let is_beside = |value: &&PublishedValue| value.metric == metric && value.measured.is_some();
        every().filter(|(_, cell)| cell.published.iter().any(|value| is_beside(&value))).count()
    };
    let mut metrics: Vec<(&str, Figures)> = Vec::new();
    for value in values() {
        if !metrics.iter().any(|(metric, _)| *metric == value.metric) {
            metrics.push((&value.metric, value.figure));
        }
    }
    let (metric, figure) = metrics.into_iter().rev().max_by_key(|(metric, _)| beside(metric))?;
    let of_cell = |(series, cell): (&Series, &'_ CellResult)| {
        let known: Vec<&PublishedValue> =
            cell.published.iter().filter(|value| value.metric == metric).collect();
        let measured = known.iter().find_map(|value| value.measured.as_ref());
        measured.map(|measured| group(series, cell, measured, &known, sizes.len() > 1))
    };
    let shown: Vec<(&CellResult, BarGroup)> = every()
        .filter_map(|(series, cell)| Some((cell, of_cell((series, cell))?)))
        .take(MOST_GROUPS)
        .collect();
    let cells: Vec<&CellResult> = shown.iter().map(|(cell, _)| *cell).collect();
    if cells.is_empty() {
        return None;
    }
    let words = match figure {
        Figures::Goodput => Quantity::Metric(Metric::Goodput).words().to_owned(),
        Figures::Delivered => Quantity::Metric(Metric::Delivered).words().to_owned(),
        _ => report::parts::beside_figure(figure),
    };
    let (runs, intervals) = (scene.runs_per_cell(&cells), interval_name(&cells));
    let mut conditions = vec![capital(&words)];
    conditions.extend(sizes_and_n(&cells, None));
    conditions.push(runs.clone());
    let part = match beside(metric) {
        all if all > cells.len() => format!(" Shows {} of {all} cells; the tables have all.", cells.len()),
        _ => String::new(),
    };
    let is_lower = figure.is_time() || figure == Figures::Lost;
    Some(Figure {
        id: id.to_owned(),
        short: "Published",
        chart: Chart {
            title: format!("Measured and published: {words}"),
            better: Some(if is_lower { Better::Less } else { Better::More }),
            subtitle: conditions.join(" \u{b7} "),
            note: format!(
                "In colour: the median of the runs; whisker: {intervals}. Black: published values of other hosts, \
                 which claim nothing about this one.{part}"
            ),
            description: format!(
                "Bars from 0 of the measured and the published {words} of {} cells.",
                cells.len()
            ),
            interval_name: intervals.to_owned(),
            footer: format!("{runs} per cell \u{b7} {}", scene.footer),
            kind: ChartKind::Bars(Bars {
                x: Axis { label: words, unit: unit(figure), ..Axis::default() },
                group_label: if sizes.len() > 1 { "sample size".to_owned() } else { String::new() },
                parts: Vec::new(),
                groups: shown.into_iter().map(|(_, group)| group).collect(),
            }),
        },
    })
}

/// Returns the bars of a cell: its own, and what was published.
fn group(
    series: &Series,
    cell: &CellResult,
    measured: &MeasuredValue,
    published: &[&PublishedValue],
    has_sizes: bool,
) -> BarGroup {
    let factor = published.first().map_or(1.0, |value| factor(value.figure));
    let MeasuredValue { median, min, max, ci_low, ci_high, .. } = *measured;
    let (low, high) = ci_low.zip(ci_high).unwrap_or((min, max));
    let bar = |series: Series, total: Estimate| Bar { series, parts: vec![total.value], total };
    let own = Estimate::within(median * factor, low * factor, high * factor);
    let mut bars = vec![bar(series.clone(), own)];
    bars.extend(published.iter().take(MOST_PUBLISHED).map(|value| {
        let series = Series::new(format!("{}, published", value.system), Slot::Ink);
        bar(series, Estimate::exact(value.converted * factor))
    }));
    let label = if has_sizes { bytes(cell.factors.size_bytes) } else { String::new() };
    BarGroup { label, bars }
}

const fn unit(figure: Figures) -> Unit {
    match figure {
        Figures::Goodput => Unit::BitsPerSecond,
        Figures::Delivered => Unit::SamplesPerSecond,
        Figures::Lost => Unit::Percent,
        Figures::Rtt(_) | Figures::HalfRtt(_) | Figures::HopMean | Figures::TwoHopsPerSample => {
            Unit::Nanoseconds
        }
    }
}

/// Returns what converts a value of a result to the unit of charts.
fn factor(figure: Figures) -> f64 {
    if figure == Figures::Goodput { 1e6 } else { 1.0 }
}
