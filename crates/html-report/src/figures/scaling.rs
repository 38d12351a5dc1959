//! Values over the number of endpoints, with the laws that findings state.

use std::collections::BTreeSet;

use charts::{Axis, ChartKind, Estimate, Line, LineStyle, Lines, Point, Scale, Series, prose};
use experiment::Workload;
use results::{CellResult, Finding, GrowthLaw, Metric};

use super::{
    choice::telling,
    distribution::{self, OfWorkload, cells_of},
    frame::{Frame, capital, hollow_note, names, sizes_and_n},
    limits::{MOST_SERIES, ONE_PANEL},
    sizes::{panels, points},
};
use crate::{
    page::Figure,
    scene::{Endpoints, Scene, distinct},
    values::{Quantity, doubt, is_doubtful},
};

/// Identifier of a chart, and the value that it shows.
type Subject = (&'static str, Quantity);

/// Returns charts over the numbers of readers, writers and nodes.
pub(crate) fn figures(scene: &Scene<'_>) -> Vec<Figure> {
    let subjects = |workload| match workload {
        Workload::Throughput => {
            vec![("sample-time", Quantity::SampleTime), ("goodput", Quantity::Metric(Metric::Goodput))]
        }
        _ => vec![
            ("rtt", Quantity::Metric(Metric::RttP50)),
            ("sample-hop", Quantity::Metric(Metric::SampleHop)),
        ],
    };
    let mut figures = Vec::new();
    for workload in [Workload::Latency, Workload::Throughput] {
        let all = scene.of_workload(workload);
        let every = cells_of(&all);
        for axis in axes(&every) {
            for subject in subjects(workload) {
                figures.extend(over_endpoints(scene, &all, axis, subject));
            }
        }
    }
    figures
}

/// Returns charts of discovery over the number of participants; every run with one number of them.
pub(crate) fn discovery(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let every = cells_of(all);
    let matched = Quantity::Metric(Metric::AllMatched);
    let Some(axis) = axes(&every).into_iter().next() else {
        let focus: Vec<(&Series, &CellResult)> =
            all.iter().filter_map(|(series, cells)| Some((*series, *cells.first()?))).collect();
        return distribution::runs(scene, &focus, matched, "runs-of-discovery").into_iter().collect();
    };
    let subjects =
        [("matched", matched), ("packets", Quantity::PacketsUntilMatched), ("memory", Quantity::Memory)];
    subjects.into_iter().filter_map(|subject| over_endpoints(scene, all, axis, subject)).collect()
}

/// Returns the kinds of endpoints of which there are several numbers; each with any number.
fn axes(cells: &[&CellResult]) -> Vec<Endpoints> {
    let all = distinct(cells, |cell| Endpoints::of(&cell.factors));
    let mut axes: Vec<Endpoints> = Vec::new();
    for endpoints in &all {
        let same = |other: &&Endpoints| other.noun() == endpoints.noun();
        if all.iter().filter(same).count() > 1 && !axes.iter().any(|axis| same(&axis)) {
            axes.push(*endpoints);
        }
    }
    axes
}

fn over_endpoints(
    scene: &Scene<'_>,
    all: &OfWorkload<'_, '_>,
    axis: Endpoints,
    (id, quantity): Subject,
) -> Option<Figure> {
    let on_axis = |cell: &&CellResult| {
        let endpoints = Endpoints::of(&cell.factors);
        // A pair is on both axes of a mesh.
        endpoints.noun() == axis.noun() || (cell.factors.topology.is_pair() && axis.noun() == "writers")
    };
    let every: Vec<&CellResult> = cells_of(all).into_iter().filter(on_axis).collect();
    let size = distinct(&every, |cell| cell.factors.size_bytes).into_iter().next();
    let mut shown: Vec<(&Series, Vec<&CellResult>)> = Vec::new();
    for (series, cells) in all {
        let mut cells: Vec<&CellResult> = cells.iter().copied().filter(on_axis).collect();
        cells.retain(|cell| Some(cell.factors.size_bytes) == size && cell.factors.batch_bytes == 0);
        let values = cells.iter().filter(|cell| quantity.over_runs(cell).is_some()).count();
        if values > 1 {
            shown.push((*series, cells));
        }
    }
    // Most differs with the most endpoints.
    let (shown, why) =
        telling(scene, shown, (MOST_SERIES, |cell| quantity.median(cell)), |cells| cells[cells.len() - 1]);
    let cells = cells_of(&shown);
    if cells.is_empty() {
        return None;
    }
    let number = |cell: &CellResult| Some(f64::from(Endpoints::of(&cell.factors).number()));
    let mut all_lines: Vec<(&Series, Vec<Line>)> = Vec::new();
    let mut has_laws = false;
    for (series, cells) in &shown {
        let mut lines = Vec::new();
        let points = points(cells.iter().copied(), number, quantity);
        if let Some(law) = law(scene, cells, &points, quantity) {
            has_laws = true;
            lines.push(Line {
                series: (*series).clone(),
                role: law.0,
                style: LineStyle::Law,
                points: law.1,
                ..Line::default()
            });
        }
        lines.push(Line {
            series: (*series).clone(),
            named: true,
            // The law is the line.
            style: LineStyle::Marks,
            points,
            runs: runs(cells, number, quantity),
            ..Line::default()
        });
        all_lines.push((series, lines));
    }
    let every_line = || all_lines.iter().flat_map(|(_, lines)| lines);
    let values: Vec<f64> =
        every_line().flat_map(|line| line.points.iter().map(|point| point.y.value)).collect();
    if !has_laws {
        let marks = all_lines.iter_mut().flat_map(|(_, lines)| lines);
        marks.for_each(|line| line.style = LineStyle::Thick);
    }
    let noun = axis.noun();
    let ticks: Vec<f64> =
        distinct(&cells, |cell| Endpoints::of(&cell.factors).number()).into_iter().map(f64::from).collect();
    let scale = distribution::scale(&values);
    let mut note = "Small dots: runs. Mark: their median with its interval.".to_owned();
    if has_laws {
        note.push_str(" Long dashes: the fitted law.");
    }
    if all_lines.len() > ONE_PANEL {
        note.push_str(" Grey lines: the other configurations.");
    }
    note.push_str(&hollow_note(&cells));
    let names = names(&shown);
    let mut conditions = vec![distribution::scale_words(&scale).to_owned()];
    conditions.extend(sizes_and_n(&cells, None));
    let id = format!("{id}-over-{noun}");
    let frame = Frame {
        id: &id,
        short: "Scaling",
        title: format!("{} over the number of {noun}", capital(quantity.words())),
        quantity,
        conditions,
        note,
        drawn: format!(
            "Line plot of {} of {names} over the number of {noun}, with a dot for each run.",
            quantity.words()
        ),
    };
    let x = Axis { label: format!("number of {noun}"), scale: Scale::Log, ticks, ..Axis::default() };
    let y = Axis { unit: quantity.unit(), scale, ..Axis::default() };
    let kind = ChartKind::Lines(Lines { x, y, panels: panels(&all_lines, &[]) });
    Some(frame.around(scene, (&cells, &why), kind))
}

/// Returns a small dot for each counted run.
fn runs(cells: &[&CellResult], x: impl Fn(&CellResult) -> Option<f64>, quantity: Quantity) -> Vec<Point> {
    let of_cell = |cell: &&CellResult| {
        let (x, hollow, detail) = (x(cell), is_doubtful(cell), doubt(cell));
        let values = cell.claimed_runs().filter_map(|run| quantity.of(cell, run)).collect::<Vec<_>>();
        let dots = values.into_iter().filter_map(move |value| {
            Some(Point { x: x?, y: Estimate::exact(value), hollow, detail: detail.clone() })
        });
        dots.collect::<Vec<_>>()
    };
    cells.iter().flat_map(of_cell).collect()
}

/// Returns the law that a finding states for these cells, as text and as points; `None` without one.
fn law(
    scene: &Scene<'_>,
    cells: &[&CellResult],
    points: &[Point],
    quantity: Quantity,
) -> Option<(String, Vec<Point>)> {
    let ids: BTreeSet<&str> = cells.iter().map(|cell| cell.id.as_str()).collect();
    let is_of = |finding: &&Finding| finding.cells.iter().all(|id| ids.contains(id.as_str()));
    let growths = scene.document.findings.iter().filter(is_of).filter_map(|finding| finding.growth.as_ref());
    let growth = growths.into_iter().find(|growth| {
        Quantity::of_growth(growth.value) == Some(quantity) && growth.law != GrowthLaw::None
    })?;
    let known: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y.value)).collect();
    let mean = |of: &dyn Fn(f64, f64) -> f64| {
        known.iter().map(|(x, y)| of(*x, *y)).sum::<f64>() / known.len() as f64
    };
    // A law states the growth only; its height is that of the medians.
    let raised = |shape: &dyn Fn(f64) -> f64| {
        let level = mean(&|x, y| y - shape(x));
        sampled(&known, |x| level + shape(x))
    };
    let points = match growth.law {
        GrowthLaw::Power { exponent } => {
            let level = mean(&|x, y| y.ln() - exponent.value * x.ln());
            sampled(&known, |x| (level + exponent.value * x.ln()).exp())
        }
        GrowthLaw::Linear { slope } => raised(&|x| slope.value * x),
        GrowthLaw::Bends { at, before, after } => {
            raised(&|x| before.value * x.min(at) + after.value * (x - at).max(0.0))
        }
        GrowthLaw::None => return None,
    };
    Some((prose(&growth.words), points))
}

/// Share of the lowest measured value down to which a law is drawn.
const LEAST_OF_LOWEST: f64 = 0.7;

/// Returns a law as points so close to each other that it has no corner on a logarithmic axis.
fn sampled(known: &[(f64, f64)], law: impl Fn(f64) -> f64) -> Vec<Point> {
    const STEPS: i32 = 48;
    // The axis is that of the values: a line through few of them can be far below at its ends.
    let lowest = known.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
    let positions = || known.iter().map(|(x, _)| *x);
    let (first, last) = (positions().fold(f64::INFINITY, f64::min), positions().fold(0.0, f64::max));
    let at = |step| first * (last / first).powf(f64::from(step) / f64::from(STEPS));
    let points = (0..=STEPS).map(at).map(|x| (x, law(x))).filter(|(_, y)| *y >= LEAST_OF_LOWEST * lowest);
    points.map(|(x, y)| Point::new(x, Estimate::exact(y))).collect()
}
