//! Latency and throughput over the sample size.

use charts::{Axis, ChartKind, Estimate, Line, LineStyle, Lines, Panel, Point, Scale, Series, Slot, Unit};
use experiment::Workload;
use results::{CellResult, FindingKind, Metric};

use super::{
    distribution::{OfWorkload, cells_of},
    frame::{Frame, MOST_NAMED, first_of, hollow_note, list, names},
    heat,
    limits::{MOST_POINTS, MOST_SERIES, ONE_PANEL, thinned},
    overlay,
};
use crate::{
    page::Figure,
    scene::{Scene, distinct, fewest_endpoints},
    values::{Quantity, bytes, doubt, ends, is_doubtful},
};

/// Ratio of the highest to the lowest value up to which a linear scale shows all of them.
const DECADE: f64 = 10.0;

/// Returns the sizes of these cells.
pub(crate) fn sizes(all: &OfWorkload<'_, '_>) -> Vec<u64> {
    let every = cells_of(all);
    distinct(&every, |cell| cell.factors.size_bytes)
}

/// Returns the axis of the sizes.
pub(crate) fn size_axis(sizes: &[u64], scale: Scale) -> Axis {
    Axis {
        label: "sample size".to_owned(),
        unit: Unit::Bytes,
        scale,
        ticks: thinned(MOST_POINTS, sizes.iter().map(|size| *size as f64).collect()),
    }
}

/// Returns the points of a curve: a value of each cell with one.
pub(crate) fn points<'d>(
    cells: impl Iterator<Item = &'d CellResult>,
    x: impl Fn(&CellResult) -> Option<f64>,
    quantity: Quantity,
) -> Vec<Point> {
    let mut points: Vec<Point> = cells
        .filter_map(|cell| {
            let point = Point::new(x(cell)?, quantity.over_runs(cell)?);
            Some(Point { hollow: is_doubtful(cell), detail: doubt(cell), ..point })
        })
        .collect();
    points.sort_by(|left, right| left.x.total_cmp(&right.x));
    thinned(MOST_POINTS, points)
}

fn size(cell: &CellResult) -> Option<f64> {
    Some(cell.factors.size_bytes as f64)
}

/// Returns round-trip times over the size, or a table of fields with many configurations.
pub(crate) fn latency(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> =
        heat::figure(scene, all, Workload::Latency, "all-latencies").into_iter().collect();
    let sizes = sizes(all);
    if sizes.len() < 2 || all.len() > MOST_SERIES {
        return figures;
    }
    let curve = |cells: &[&CellResult], metric| {
        points(fewest_endpoints(cells).into_iter(), size, Quantity::Metric(metric))
    };
    let line = |(series, cells): &(&'_ Series, Vec<&CellResult>)| {
        let [points, mut band] = [Metric::RttP50, Metric::RttP99].map(|metric| curve(cells, metric));
        band.retain(|of| points.iter().any(|point| point.x == of.x));
        Line {
            series: (*series).clone(),
            role: "p50".to_owned(),
            points,
            band_name: if band.is_empty() { String::new() } else { "p99".to_owned() },
            band,
            ..Line::default()
        }
    };
    let lines: Vec<(&Series, Vec<Line>)> = all.iter().map(|of| (of.0, vec![line(of)])).collect();
    let mut panels = panel_of_each(&lines, &[]);
    for (panel, (_, cells)) in panels.iter_mut().zip(all) {
        // A single panel needs no name.
        panel.heading = panel.heading.take().filter(|_| all.len() > 1);
        panel.lines.extend(match all.len() {
            1 => overlay::lines(cells, overlay::RTT, 1.0),
            _ => overlay::lines_of_panel(cells, overlay::RTT, 1.0),
        });
    }
    let every = cells_of(all);
    let mut note = "Line: p50 with its interval.".to_owned();
    if panels.iter().any(|panel| panel.lines.iter().any(|line| !line.band.is_empty())) {
        note.push_str(" Band: up to p99.");
    }
    if all.len() > 1 {
        note.push_str(" Grey lines: the other configurations.");
    }
    note.push_str(&hollow_note(&every));
    note.push_str(&match all.len() {
        1 => overlay::note(&every),
        _ => overlay::note_of_panels(&panels),
    });
    let figure = |id, title: String, scale: Scale, words: &str| {
        let frame = Frame {
            id,
            short: "Size",
            title,
            quantity: Quantity::Metric(Metric::RttP50),
            conditions: vec![words.to_owned()],
            note: note.clone(),
            drawn: format!(
                "Line plot of the round-trip times of {} over {} sample sizes, {words}: the median with its interval, and a band \
                 up to the 99 % quantile.",
                names(all),
                sizes.len()
            ),
        };
        let y = Axis { unit: Unit::Nanoseconds, scale, ..Axis::default() };
        let kind = ChartKind::Lines(Lines { x: size_axis(&sizes, Scale::Log), y, panels: panels.clone() });
        frame.around(scene, (&every, ""), kind)
    };
    let title = added(scene).unwrap_or_else(|| "Round-trip time over the sample size".to_owned());
    figures.push(figure("latency-over-size", title, Scale::Log, "both axes logarithmic"));
    let own = panels
        .iter()
        .flat_map(|panel| panel.lines.iter().flat_map(|line| line.points.iter().chain(&line.band)));
    if is_within_a_decade(own.map(|point| point.y.value)) {
        let title = "Round-trip time over the sample size, linear".to_owned();
        figures.push(figure("latency-over-size-linear", title, Scale::FromZero, LINEAR));
    }
    figures
}

/// Words for a linear scale of values over sizes.
const LINEAR: &str = "linear from 0, sizes logarithmic";

/// Returns whether a linear scale shows all of these values.
fn is_within_a_decade(values: impl Iterator<Item = f64>) -> bool {
    ends(values).is_none_or(|(low, high)| high < DECADE * low)
}

/// Returns one panel with the lines of a few series, and those of none at the back; of more series a panel for each.
pub(crate) fn panels(all: &[(&Series, Vec<Line>)], back: &[Line]) -> Vec<Panel> {
    if all.len() > ONE_PANEL {
        return panel_of_each(all, back);
    }
    let lines = back.iter().chain(all.iter().flat_map(|(_, lines)| lines)).cloned().collect();
    vec![Panel { lines, ..Panel::default() }]
}

/// Returns a panel for each series: at the back the curves of the others in grey, and those of none.
fn panel_of_each(all: &[(&Series, Vec<Line>)], back: &[Line]) -> Vec<Panel> {
    let panel = |(series, own): &(&Series, Vec<Line>)| {
        let others = all.iter().filter(|(other, _)| other != series).flat_map(|(_, lines)| lines);
        let is_curve = |line: &&Line| matches!(line.style, LineStyle::Thick | LineStyle::Marks);
        let grey = others.filter(is_curve).map(ghost);
        let lines = grey.chain(back.iter().chain(own).cloned()).collect();
        Panel { heading: Some((*series).clone()), lines, ..Panel::default() }
    };
    all.iter().map(panel).collect()
}

/// Returns the line of another series.
fn ghost(line: &Line) -> Line {
    let points = line.points.iter().map(|point| Point::new(point.x, Estimate::exact(point.y.value)));
    let points = points.collect();
    Line { series: line.series.clone(), style: LineStyle::Ghost, points, ..Line::default() }
}

/// Returns a title from the findings on what middleware adds to the round trip of a bare socket.
fn added(scene: &Scene<'_>) -> Option<String> {
    let findings = scene.document.findings.iter().filter(|finding| finding.kind == FindingKind::RttAdded);
    let mut texts = Vec::new();
    for finding in findings {
        let series = scene.series_of(finding.cells.first()?)?;
        let medians = finding.numbers.iter().filter(|(name, _)| name.ends_with("_bytes_ns"));
        let (low, high) = ends(medians.map(|(_, ns)| *ns))?;
        let [low, high] = [low, high].map(results::format_micros);
        let range = if low == high { high } else { format!("{low} to {high}") };
        texts.push(format!("{} {range}\u{a0}µs", series.series.name));
    }
    (1..=3)
        .contains(&texts.len())
        .then(|| format!("Over a bare socket, a round trip takes longer: {}", list(&texts)))
}

/// Returns throughput over the size: logarithmic, and linear if that shows all values.
pub(crate) fn throughput(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> =
        heat::figure(scene, all, Workload::Throughput, "all-throughputs").into_iter().collect();
    let sizes = sizes(all);
    if sizes.len() < 2 || all.len() > MOST_SERIES {
        return figures;
    }
    let every = cells_of(all);
    let ceilings = ceilings(&every);
    let lines: Vec<(&Series, Vec<Line>)> =
        all.iter().map(|(series, cells)| (*series, curves(series, cells))).collect();
    let mut panels = panels(&lines, &ceilings);
    let published = match &mut panels[..] {
        [panel] => {
            panel.lines.extend(overlay::lines(&every, overlay::GOODPUT, 1e6));
            overlay::note(&every)
        }
        each => {
            for (panel, (_, cells)) in each.iter_mut().zip(all) {
                panel.lines.extend(overlay::lines_of_panel(cells, overlay::GOODPUT, 1e6));
            }
            overlay::note_of_panels(each)
        }
    };
    let frame = |id, scale: &str, title: String| Frame {
        id,
        short: "Throughput",
        title,
        quantity: Quantity::Metric(Metric::Goodput),
        conditions: vec![scale.to_owned()],
        note: note(&every, !ceilings.is_empty(), all.len() > ONE_PANEL) + &published,
        drawn: format!(
            "Line plot of the throughput of {} over {} sample sizes, {scale}: the median of the runs with its interval.",
            names(all),
            sizes.len()
        ),
    };
    let chart = |scale: Scale, x: Scale| {
        let y = Axis { unit: Unit::BitsPerSecond, scale, ..Axis::default() };
        ChartKind::Lines(Lines { x: size_axis(&sizes, x), y, panels: panels.clone() })
    };
    let title = filled(scene).unwrap_or_else(|| "Throughput over the sample size".to_owned());
    figures.push(frame("throughput-over-size", "both axes logarithmic", title).around(
        scene,
        (&every, ""),
        chart(Scale::Log, Scale::Log),
    ));
    let measured = every.iter().filter_map(|cell| Quantity::Metric(Metric::Goodput).over_runs(cell));
    if is_within_a_decade(measured.map(|estimate| estimate.value)) || filled(scene).is_some() {
        // Each chart stands alone: as a file it is not below the other one.
        let title = match !ceilings.is_empty() {
            true => "Throughput over the sample size, linear: what is left below the ceiling".to_owned(),
            false => "Throughput over the sample size, linear".to_owned(),
        };
        figures.push(frame("throughput-over-size-linear", LINEAR, title).around(
            scene,
            (&every, ""),
            chart(Scale::FromZero, Scale::Log),
        ));
    }
    figures
}

/// Returns the curves of a series: unbatched, and one for each limit of a batch.
fn curves(series: &Series, cells: &[&CellResult]) -> Vec<Line> {
    let cells = fewest_endpoints(cells);
    let limits = distinct(&cells, |cell| cell.factors.batch_bytes);
    let curve = |limit: u64| {
        let of_limit = cells.iter().copied().filter(move |cell| cell.factors.batch_bytes == limit);
        points(of_limit, size, Quantity::Metric(Metric::Goodput))
    };
    let unbatched = curve(0);
    let mut lines = Vec::new();
    for limit in limits {
        let (mut points, batched) = (curve(limit), limit > 0);
        if batched && let Some(last) = points.last().map(|point| point.x) {
            // Above half of the limit a batch holds one sample: the unbatched curve goes on.
            let next = unbatched.iter().find(|point| point.x > last && 2.0 * point.x > limit as f64);
            points.extend(next.cloned());
        }
        let style = if batched { LineStyle::Dashed } else { LineStyle::Thick };
        let role = if batched { format!("batched, {}", bytes(limit)) } else { String::new() };
        let named = !batched || unbatched.is_empty();
        lines.push(Line { series: series.clone(), role, named, style, points, ..Line::default() });
    }
    lines.sort_by_key(|line| line.style == LineStyle::Thick);
    lines
}

/// Returns what each link can carry of unbatched samples; empty if no link has a known rate.
fn ceilings(cells: &[&CellResult]) -> Vec<Line> {
    let mut lines: Vec<(Option<String>, Line)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.factors.batch_bytes == 0) {
        let Some(ceiling) = cell.link_ceiling else { continue };
        let link = cell.factors.link.map(|link| link.to_string());
        let value = ceiling.goodput_mbps * 1e6;
        let x = cell.factors.size_bytes as f64;
        let line = match lines.iter().position(|(known, _)| *known == link) {
            Some(index) => &mut lines[index].1,
            None => {
                let series = Series::new("link carries", Slot::Ink);
                lines.push((link, Line { series, named: true, style: LineStyle::Thin, ..Line::default() }));
                &mut lines.last_mut().expect("it was pushed").1
            }
        };
        match line.points.iter_mut().find(|point| point.x == x) {
            Some(known) => known.y.value = known.y.value.max(value),
            None => line.points.push(Point::new(x, Estimate::exact(value))),
        }
    }
    let several = lines.len() > 1;
    let finished = lines.into_iter().map(|(link, mut line)| {
        line.points.sort_by(|left, right| left.x.total_cmp(&right.x));
        if let Some(link) = link.filter(|_| several) {
            line.series.name = format!("link {} carries", link.replace(',', ", "));
        }
        line
    });
    finished.collect()
}

/// Returns a title if a link limits throughput at some size.
fn filled(scene: &Scene<'_>) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    for finding in scene.document.findings.iter().filter(|finding| finding.kind == FindingKind::LineRate) {
        let name = &scene.series_of(finding.cells.first()?)?.series.name;
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    (!found.is_empty()).then(|| format!("Large samples fill the link: {}", first_of(MOST_NAMED, found)))
}

fn note(cells: &[&CellResult], has_ceiling: bool, has_ghosts: bool) -> String {
    let mut note = "Mark: median of the runs with its interval.".to_owned();
    if cells.iter().any(|cell| cell.factors.batch_bytes > 0) {
        note.push_str(" Dashed: batched, up to the size from which a batch holds one sample.");
    }
    if has_ghosts {
        note.push_str(" Grey lines: the other configurations.");
    }
    if has_ceiling {
        note.push_str(" Thin: the most payload that UDP over the link can carry; a middleware adds headers.");
    } else if cells.iter().all(|cell| cell.factors.interface == "lo") {
        note.push_str(" No link: the loopback interface has no rate, so a bare socket is the only ceiling.");
    }
    note.push_str(&hollow_note(cells));
    note
}
