//! Published figures beside measured values.

mod bars;

pub(crate) use bars::bars;
use charts::{Estimate, Line, LineStyle, Panel, Point, Series, Slot, Unit};
use experiment::Figure;
use results::{CellResult, MeasuredValue, PublishedValue};

use super::frame::list;
use crate::scene::Endpoints;

/// Path of the value that curves of latency over the size have.
pub(crate) const RTT: &str = "latency.rtt.p50_ns";
/// Path of the value that curves of throughput over the size have.
pub(crate) const GOODPUT: &str = "throughput.goodput_mbps";
/// Beginning of the roles of lines of published figures.
const PUBLISHED: &str = "published";

/// Returns a line for each system with published figures of a metric over the size. `metric` is the path of the measured
/// value; `factor` converts its unit to that of the chart.
pub(crate) fn lines(cells: &[&CellResult], metric: &str, factor: f64) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for cell in cells {
        for value in cell.published.iter().filter(|value| value.metric == metric) {
            let role = match value.batch_bytes {
                0 => PUBLISHED.to_owned(),
                bytes => format!("{PUBLISHED}, batched {}", crate::values::bytes(bytes)),
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

/// Value with published figures beside it.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'d> {
    /// Path of the measured value.
    metric: &'d str,
    /// Kind of the published figures.
    pub figure: Figure,
}

impl<'d> Subject<'d> {
    /// Returns the value that most of these cells have beside a published figure, of several that of `curve`; `None` if no cell has one.
    pub(crate) fn of_most(cells: &[&'d CellResult], curve: &str) -> Option<Self> {
        let mut all: Vec<(Self, usize)> = Vec::new();
        for value in cells.iter().flat_map(|cell| &cell.published) {
            if !all.iter().any(|(of, _)| of.metric == value.metric) {
                let of = Self { metric: &value.metric, figure: value.figure };
                all.push((of, cells.iter().filter(|cell| of.measured(cell).is_some()).count()));
            }
        }
        all.retain(|(_, cells)| *cells > 0);
        all.into_iter().rev().max_by_key(|(of, cells)| (*cells, of.metric == curve)).map(|(of, _)| of)
    }

    /// Returns the published figures of a cell.
    pub(crate) fn published(self, cell: &CellResult) -> impl Iterator<Item = &PublishedValue> {
        cell.published.iter().filter(move |value| value.metric == self.metric)
    }

    /// Returns the measured value of a cell; `None` without a published figure or without a run that has the value.
    pub(crate) fn measured(self, cell: &CellResult) -> Option<&MeasuredValue> {
        self.published(cell).find_map(|value| value.measured.as_ref())
    }

    /// Returns the unit of charts.
    pub(crate) const fn unit(self) -> Unit {
        match self.figure {
            Figure::Goodput => Unit::BitsPerSecond,
            Figure::Delivered => Unit::SamplesPerSecond,
            Figure::Lost => Unit::Percent,
            Figure::Rtt(_) | Figure::HalfRtt(_) | Figure::HopMean | Figure::TwoHopsPerSample => {
                Unit::Nanoseconds
            }
        }
    }

    /// Converts a value of a result to the unit of charts.
    pub(crate) fn in_unit(self, value: f64) -> f64 {
        if self.figure == Figure::Goodput { value * 1e6 } else { value }
    }
}

/// Returns the name of a system with published figures, without what the chart says: that they are latencies or throughputs.
pub(crate) fn system(value: &PublishedValue) -> String {
    let parts = value.system.split(", ").filter(|part| !["latency", "throughput"].contains(part));
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns what tells a cell apart from others of its series, behind the name of the series: its batches, and the number of endpoints if
/// that varies.
pub(crate) fn told_apart_by(cell: &CellResult, has_endpoints: bool) -> String {
    let endpoints = Endpoints::of(&cell.factors).words().filter(|_| has_endpoints);
    let limit = cell.factors.batch_bytes;
    let batched = (limit > 0).then(|| format!("batched {}", crate::values::bytes(limit)));
    endpoints.into_iter().chain(batched).map(|words| format!(", {words}")).collect()
}

/// Like [`lines`], without names, for which a panel of each series has no room: [`note_of_panels`] has them.
pub(crate) fn lines_of_panel(cells: &[&CellResult], metric: &str, factor: f64) -> Vec<Line> {
    lines(cells, metric, factor).into_iter().map(|line| Line { named: false, ..line }).collect()
}

/// Returns a sentence about the published figures in each of these panels; empty without them. Where a panel has several thin lines, the
/// pattern of each is named.
pub(crate) fn note_of_panels(panels: &[Panel]) -> String {
    let beside = |panel: &Panel| {
        let published: Vec<(usize, &Line)> =
            panel.lines.iter().enumerate().filter(|(_, line)| line.role.starts_with(PUBLISHED)).collect();
        let thin = panel.lines.iter().filter(|line| is_thin(line)).count();
        let name = |(number, line): &(usize, &Line)| match thin {
            1 => line.series.name.clone(),
            _ => {
                let batched = line.role.strip_prefix(PUBLISHED).unwrap_or_default();
                format!(
                    "{}{batched} ({})",
                    line.series.name,
                    charts::Pattern::of(&panel.lines, *number).name()
                )
            }
        };
        let names: Vec<String> = published.iter().map(name).collect();
        let heading = panel.heading.as_ref().map_or("", |series| series.name.as_str());
        (!names.is_empty()).then(|| format!("{} beside {heading}", list(&names)))
    };
    let known: Vec<String> = panels.iter().filter_map(beside).collect();
    if known.is_empty() {
        return String::new();
    }
    format!(" Thin, in the colour of text: published figures of other hosts, {}.", known.join(", "))
}

fn is_thin(line: &Line) -> bool {
    line.style == LineStyle::Thin && line.series.slot == Slot::Ink
}

/// Returns a sentence about published figures; empty without them.
pub(crate) fn note(cells: &[&CellResult]) -> String {
    match cells.iter().any(|cell| !cell.published.is_empty()) {
        true => " Thin, in the colour of text: published figures of other hosts.".to_owned(),
        false => String::new(),
    }
}
