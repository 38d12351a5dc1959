//! Response times and delivered rates over the planned rate.

use charts::{
    Axis, ChartKind, Estimate, Line, LineStyle, Lines, Panel, Point, Reference, Scale, Series, Slot, Unit,
};
use results::{CellResult, Finding, FindingKind, Metric};

use super::{
    choice::telling,
    distribution::{OfWorkload, cells_of, kept},
    frame::{Frame, hollow_note, list, names, sizes_and_n},
    heat,
    limits::{MOST_SERIES, ONE_PANEL},
    sizes::{panels, points},
};
use crate::{page::Figure, scene::Scene, values::Quantity};

/// Share of the plan that counts as all of it.
const KEPT: f64 = 0.99;

/// Returns the planned rate of a cell in samples/s.
fn planned(cell: &CellResult) -> Option<f64> {
    cell.paced.as_ref()?.planned_sps
}

/// Returns the cells of each series at one size: the smallest.
fn at_one_size<'s, 'd>(all: &OfWorkload<'s, 'd>) -> Vec<(&'s Series, Vec<&'d CellResult>)> {
    let least = cells_of(all).iter().map(|cell| cell.factors.size_bytes).min();
    kept(all, |cell| Some(cell.factors.size_bytes) == least)
}

/// Returns whether a series has at least two loads.
fn has_loads(all: &OfWorkload<'_, '_>) -> bool {
    let loads = |cells: &[&CellResult]| {
        let rates = cells.iter().filter_map(|cell| planned(cell)).map(f64::to_bits);
        rates.collect::<std::collections::BTreeSet<_>>().len()
    };
    all.iter().any(|(_, cells)| loads(cells) > 1)
}

/// Returns response times over the planned rate, with the knees.
pub(crate) fn response(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> =
        heat::figure(scene, all, experiment::Workload::Paced, "all-loads").into_iter().collect();
    let all = at_one_size(all);
    if !has_loads(&all) || all.len() > MOST_SERIES {
        return figures;
    }
    let curve =
        |cells: &[&CellResult], metric| points(cells.iter().copied(), planned, Quantity::Metric(metric));
    let lines = |(series, cells): &(&Series, Vec<&CellResult>)| {
        let tail = Line {
            series: (*series).clone(),
            role: "p99".to_owned(),
            style: LineStyle::Thin,
            points: curve(cells, Metric::ResponseP99),
            ..Line::default()
        };
        let points = curve(cells, Metric::ResponseP50);
        let (role, named) = ("p50".to_owned(), true);
        vec![tail, Line { series: (*series).clone(), role, named, points, ..Line::default() }]
    };
    let lines: Vec<(&Series, Vec<Line>)> = all.iter().map(|of| (of.0, lines(of))).collect();
    let mut panels = panels(&lines, &[]);
    let last = panels.len() - 1;
    for (index, (series, cells)) in all.iter().enumerate() {
        panels[index.min(last)].references.extend(knee(scene, series, cells));
    }
    let cells = cells_of(&all);
    let mut note = "Thick: p50 with its interval. Thin: p99.".to_owned();
    if finding(scene, &[FindingKind::Knee], &cells).is_some() {
        note.push_str(
            " Dotted: the knee, the highest load whose 99 % time stays within twice that of the lowest load.",
        );
    }
    if finding(scene, &[FindingKind::KneeUnclear], &cells).is_some() {
        note.push_str(
            " Where a knee is missing, it is unclear: runs disagree, or too few loads can be compared.",
        );
    }
    note.push_str(&hollow_note(&cells));
    let mut conditions = vec!["from the planned time to the arrival".to_owned(), "logarithmic".to_owned()];
    conditions.extend(sizes_and_n(&cells, None));
    let frame = Frame {
        id: "load",
        short: "Load",
        title: title(scene, &all).unwrap_or_else(|| "Response time over the planned rate".to_owned()),
        quantity: Quantity::Metric(Metric::ResponseP50),
        conditions,
        note,
        drawn: format!(
            "Line plot of the response times of {} over the planned rate: the median with its interval and the 99 % \
             quantile; times are logarithmic.",
            names(&all)
        ),
    };
    let x = Axis { label: "planned rate".to_owned(), unit: Unit::SamplesPerSecond, ..Axis::default() };
    let y = Axis { unit: Unit::Nanoseconds, scale: Scale::Log, ..Axis::default() };
    figures.push(frame.around(scene, (&cells, ""), ChartKind::Lines(Lines { x, y, panels })));
    figures
}

/// Returns the first finding of one of these kinds about one of these cells.
fn finding<'d>(scene: &Scene<'d>, kinds: &[FindingKind], cells: &[&CellResult]) -> Option<&'d Finding> {
    let is_of = |finding: &&Finding| cells.iter().any(|cell| finding.cells.contains(&cell.id));
    scene.document.findings.iter().filter(|finding| kinds.contains(&finding.kind)).find(is_of)
}

/// Returns the knee of these cells, if it is clear.
fn knee(scene: &Scene<'_>, series: &Series, cells: &[&CellResult]) -> Option<Reference> {
    let at = *finding(scene, &[FindingKind::Knee], cells)?.numbers.get("knee_sps")?;
    let label = format!("knee {}", charts::number::value(at, Unit::SamplesPerSecond));
    Some(Reference { at, label, slot: series.slot })
}

/// Returns a title from the findings on knees; `None` unless each series has one.
fn title(scene: &Scene<'_>, all: &[(&Series, Vec<&CellResult>)]) -> Option<String> {
    let of_series = |(series, cells): &(&Series, Vec<&CellResult>)| {
        let finding = finding(scene, &[FindingKind::Knee, FindingKind::NoKnee], cells)?;
        let rate =
            |key| finding.numbers.get(key).map(|sps| charts::number::value(*sps, Unit::SamplesPerSecond));
        Some(match finding.kind {
            FindingKind::Knee => format!("{} slows down above {}", series.name, rate("knee_sps")?),
            _ => format!("{} keeps its pace up to {}", series.name, rate("highest_sps")?),
        })
    };
    let texts: Option<Vec<String>> = all.iter().map(of_series).collect();
    let texts = texts.filter(|texts| (1..=3).contains(&texts.len()))?;
    Some(list(&texts))
}

/// Returns delivered over planned rates, if a load was not kept up with.
pub(crate) fn delivered(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let all = at_one_size(all);
    if !has_loads(&all) {
        return Vec::new();
    }
    let quantity = Quantity::Metric(Metric::Delivered);
    // Rates differ most at the highest load.
    let (all, why) =
        telling(scene, all, (ONE_PANEL, |cell| quantity.median(cell)), |cells| cells[cells.len() - 1]);
    let curves: Vec<(&Series, Vec<Point>)> = all
        .iter()
        .map(|(series, cells)| (*series, points(cells.iter().copied(), planned, quantity)))
        .collect();
    let is_short = |point: &Point| point.y.value < KEPT * point.x;
    if !curves.iter().any(|(_, points)| points.iter().any(is_short)) {
        return Vec::new();
    }
    let highest = curves.iter().flat_map(|(_, points)| points).map(|point| point.x).fold(0.0, f64::max);
    let ideal = |x: f64| Point::new(x, Estimate::exact(x));
    let mut lines = vec![Line {
        series: Series::new("plan", Slot::Ink),
        role: "as planned".to_owned(),
        style: LineStyle::Law,
        points: vec![ideal(0.0), ideal(highest)],
        ..Line::default()
    }];
    let line = |(series, points): (&Series, Vec<Point>)| Line {
        series: series.clone(),
        named: true,
        points,
        ..Line::default()
    };
    lines.extend(curves.into_iter().map(line));
    let cells = cells_of(&all);
    let frame = Frame {
        id: "delivered",
        short: "Delivered",
        title: "Delivered over planned rate".to_owned(),
        quantity,
        conditions: sizes_and_n(&cells, None),
        note: format!("Long dashes: all that was planned.{}", hollow_note(&cells)),
        drawn: format!(
            "Line plot of the delivered rate of {} over the planned rate, both from 0.",
            names(&all)
        ),
    };
    let axis = Axis { unit: Unit::SamplesPerSecond, ..Axis::default() };
    let kind = ChartKind::Lines(Lines {
        x: Axis { label: "planned rate".to_owned(), ..axis.clone() },
        y: axis,
        panels: vec![Panel { lines, ..Panel::default() }],
    });
    vec![frame.around(scene, (&cells, &why), kind)]
}
