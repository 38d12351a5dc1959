//! Published figures beside measured values.

use std::collections::BTreeMap;

use charts::{
    Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Estimate, Line, LineStyle, Panel, Point, Series,
    Slot, Unit,
};
use experiment::Figure as Figures;
use results::{CellResult, MeasuredValue, Metric, PublishedValue};

use super::{
    distribution::OfWorkload,
    frame::{capital, list, sizes_and_n},
    limits::MOST_SERIES,
};
use crate::{
    page::Figure,
    scene::{Endpoints, Scene, distinct},
    values::{Quantity, bytes, interval_name},
};

/// Path of the value that curves of latency over the size have.
pub(crate) const RTT: &str = "latency.rtt.p50_ns";
/// Path of the value that curves of throughput over the size have.
pub(crate) const GOODPUT: &str = "throughput.goodput_mbps";
/// Beginning of the roles of lines of published figures.
const PUBLISHED: &str = "published";
/// Maximum number of cells with bars.
const MOST_CELLS: usize = 12;

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

/// Returns the name of a system with published figures, without what the chart says: that they are latencies or throughputs.
fn system(value: &PublishedValue) -> String {
    let parts = value.system.split(", ").filter(|part| !["latency", "throughput"].contains(part));
    parts.collect::<Vec<_>>().join(", ")
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
    let mut shown: Vec<ComparedCell<'_>> = Vec::new();
    for (series, cell) in every() {
        let known: Vec<&PublishedValue> =
            cell.published.iter().filter(|value| value.metric == metric).collect();
        if let Some(measured) = known.iter().find_map(|value| value.measured.as_ref()) {
            shown.push((cell, own(series, cell, measured, factor(figure)), known));
        }
    }
    shown.truncate(MOST_CELLS);
    let cells: Vec<&CellResult> = shown.iter().map(|(cell, ..)| *cell).collect();
    if cells.is_empty() {
        return None;
    }
    shown.sort_by_key(|(cell, ..)| cell.factors.size_bytes);
    let systems: Vec<String> = distinct_systems(shown.iter().flat_map(|(_, _, known)| known));
    let (common, names) = told_apart(&systems);
    let names: BTreeMap<&str, &str> =
        systems.iter().map(String::as_str).zip(names.iter().map(String::as_str)).collect();
    let groups = groups(&shown, &names, sizes.len() > 1);
    let words = match figure {
        Figures::Goodput => Quantity::Metric(Metric::Goodput).words().to_owned(),
        Figures::Delivered => Quantity::Metric(Metric::Delivered).words().to_owned(),
        _ => report::parts::beside_figure(figure),
    };
    let (runs, intervals) = (scene.runs_per_cell(&cells), interval_name(&cells));
    let mut conditions = vec![capital(&words)];
    conditions.extend(sizes_and_n(&cells, None));
    conditions.push(runs.replace(' ', "\u{a0}"));
    conditions.push(format!("published: {common}"));
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
                "In colour: the median of the runs; whisker: {intervals}. In the colour of text: published values of other hosts, \
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
                groups,
            }),
        },
    })
}

/// Returns the bar of a measured value. `factor` converts its unit to that of the chart.
fn own(series: &Series, cell: &CellResult, measured: &MeasuredValue, factor: f64) -> Bar {
    // Cells of a series are told apart by what varies within it.
    let mut name = series.name.clone();
    if let Some(endpoints) = Endpoints::of(&cell.factors).words() {
        name.push_str(&format!(", {endpoints}"));
    }
    if cell.factors.batch_bytes > 0 {
        name.push_str(&format!(", batched {}", bytes(cell.factors.batch_bytes)));
    }
    let MeasuredValue { median, min, max, ci_low, ci_high, .. } = *measured;
    let (low, high) = ci_low.zip(ci_high).unwrap_or((min, max));
    bar(Series::new(name, series.slot), Estimate::within(median * factor, low * factor, high * factor))
}

fn bar(series: Series, total: Estimate) -> Bar {
    Bar { series, parts: vec![total.value], total }
}

/// Cell with its bar and the published values beside it.
type ComparedCell<'d> = (&'d CellResult, Bar, Vec<&'d PublishedValue>);

/// Returns the measured values of each size, and below them what was published: each value once, although several cells have it beside
/// them, and at the end those that do not depend on the size.
fn groups(shown: &[ComparedCell<'_>], names: &BTreeMap<&str, &str>, has_sizes: bool) -> Vec<BarGroup> {
    let published = |cells: &[ComparedCell<'_>]| {
        let mut bars: Vec<Bar> = Vec::new();
        for value in cells.iter().flat_map(|(_, _, known)| known) {
            let name = names.get(system(value).as_str()).copied().unwrap_or(&value.system);
            let total = Estimate::exact(value.converted * factor(value.figure));
            let of = bar(Series::new(name, Slot::Ink), total);
            if !bars.contains(&of) {
                bars.push(of);
            }
        }
        bars
    };
    let of_sizes: Vec<(&[ComparedCell<'_>], Vec<Bar>)> = shown
        .chunk_by(|(one, ..), (other, ..)| one.factors.size_bytes == other.factors.size_bytes)
        .map(|cells| (cells, published(cells)))
        .collect();
    let mut of_any = of_sizes.first().map_or_else(Vec::new, |(_, bars)| bars.clone());
    of_any.retain(|bar| of_sizes.iter().all(|(_, bars)| bars.contains(bar)));
    let mut groups = Vec::new();
    for (cells, bars) in &of_sizes {
        let size = bytes(cells[0].0.factors.size_bytes);
        let measured = cells.iter().map(|(_, bar, _)| bar.clone()).collect();
        let own = if has_sizes { size.clone() } else { "measured".to_owned() };
        groups.push(BarGroup { label: own, bars: measured });
        let bars: Vec<Bar> = bars.iter().filter(|bar| !of_any.contains(bar)).cloned().collect();
        if !bars.is_empty() {
            groups.push(BarGroup { label: format!("{size}, published"), bars });
        }
    }
    if !of_any.is_empty() {
        groups.push(BarGroup { label: "published".to_owned(), bars: of_any });
    }
    groups
}

/// Returns the systems of these values, each once.
fn distinct_systems<'v>(values: impl Iterator<Item = &'v &'v PublishedValue>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        let system = system(value);
        if !all.contains(&system) {
            all.push(system);
        }
    }
    all
}

/// Words that a name does not end with.
const JOINING: [&str; 6] = ["on", "with", "of", "in", "for", "by"];

/// Returns what the names of systems have in common, and what tells each of them apart: parts between commas that all have, and the first
/// words of their first parts. The rest of a name that is common as a whole is `published`.
fn told_apart(systems: &[String]) -> (String, Vec<String>) {
    let parts: Vec<Vec<&str>> = systems.iter().map(|system| system.split(", ").collect()).collect();
    let in_all = |part: &&str| parts.iter().all(|other| other.contains(part));
    let mut common: Vec<String> = Vec::new();
    let mut rests: Vec<Vec<String>> = parts
        .iter()
        .map(|parts| parts.iter().filter(|part| !in_all(part)).map(|part| (*part).to_owned()).collect())
        .collect();
    common.extend(
        parts.first().into_iter().flatten().filter(|part| in_all(part)).map(|part| (*part).to_owned()),
    );
    let words = |rest: &Vec<String>| -> Vec<String> {
        rest.first().map_or_else(Vec::new, |part| part.split(' ').map(ToOwned::to_owned).collect())
    };
    let first: Vec<Vec<String>> = rests.iter().map(words).collect();
    let shortest = first.iter().map(Vec::len).min().unwrap_or(0);
    let mut shared = (0..shortest).take_while(|&at| first.iter().all(|of| of[at] == first[0][at])).count();
    // A number says nothing without the word in front of it.
    let is_number =
        |of: &Vec<String>| of.get(shared).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    if shared > 0 && first.iter().any(is_number) {
        shared -= 1;
    }
    while shared > 0 && JOINING.contains(&first[0][shared - 1].as_str()) {
        shared -= 1;
    }
    if shared > 0 {
        common.insert(0, first[0][..shared].join(" "));
        for (rest, words) in rests.iter_mut().zip(&first) {
            match words.get(shared..).filter(|words| !words.is_empty()) {
                Some(words) => rest[0] = words.join(" "),
                None => _ = rest.remove(0),
            }
        }
    }
    let name = |rest: Vec<String>| if rest.is_empty() { "published".to_owned() } else { rest.join(", ") };
    let common = if common.is_empty() { "of several systems".to_owned() } else { common.join(", ") };
    (common, rests.into_iter().map(name).collect())
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

#[cfg(test)]
mod tests {
    use super::told_apart;

    fn apart(systems: &[&str]) -> (String, Vec<String>) {
        told_apart(&systems.iter().map(|system| (*system).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn common_part_of_systems_is_said_once() {
        let (common, names) = apart(&["A on X, 1 reader, low", "A on X, 1 reader, high", "A on Y, 1 reader"]);
        assert_eq!(
            (common.as_str(), names),
            ("A, 1 reader", ["on X, low", "on X, high", "on Y"].map(str::to_owned).to_vec())
        );
        let (common, names) = apart(&["Old Big 6.0", "Old Small 3.0"]);
        assert_eq!((common.as_str(), names), ("Old", ["Big 6.0", "Small 3.0"].map(str::to_owned).to_vec()));
        assert_eq!(apart(&["Old 1.0, rate"]), ("Old 1.0, rate".to_owned(), vec!["published".to_owned()]));
        let (common, names) = apart(&["A study, setup 1", "A study, setup 2, again"]);
        assert_eq!(
            (common.as_str(), names),
            ("A study", ["setup 1", "setup 2, again"].map(str::to_owned).to_vec())
        );
        let (common, names) = apart(&["One", "Another"]);
        assert_eq!(
            (common.as_str(), names),
            ("of several systems", ["One", "Another"].map(str::to_owned).to_vec())
        );
        let (common, names) = apart(&["Old 1.0", "Old 1.0, batched"]);
        assert_eq!(
            (common.as_str(), names),
            ("Old 1.0", ["published", "batched"].map(str::to_owned).to_vec())
        );
    }
}
