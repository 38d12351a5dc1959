//! Charts of histories.

use std::collections::{BTreeMap, BTreeSet};

use charts::{
    Axis, Chart, ChartKind, Estimate, Interval, Line as Drawn, LineStyle, Lines, Panel, Point as Mark,
    Reference, Scale, Series, Slot, number,
};
use stats::median;

use super::{
    gaps::Gaps,
    history::{Change, History, Index, Line},
    tables::{day, time, unsigned},
};
use crate::{
    figures::frame::capital,
    page::{Figure, Section, slot},
    scene::number_of_runs,
    values::interval_name_of,
};

/// Maximum number of charts; all histories are in the table.
const MOST_CHARTS: usize = 12;
/// Maximum number of lines of a chart, one for each colour.
const MOST_LINES: usize = 4;
/// Number of results from which on the marks of a line are small.
const MANY_RESULTS: usize = 40;

impl Index {
    /// Returns the charts of the first histories, under a heading; `None` without a history.
    pub(crate) fn section(&self) -> Option<Section> {
        let shown = self.histories.iter().take(MOST_CHARTS).enumerate();
        let figures: Vec<Figure> = shown.map(|(place, history)| self.figure(place, history)).collect();
        (!figures.is_empty()).then_some(Section { heading: "How did it change over time?", figures })
    }

    /// Returns the number of histories without a chart.
    pub(crate) fn histories_without_chart(&self) -> usize {
        self.histories.len().saturating_sub(MOST_CHARTS)
    }

    fn figure(&self, place: usize, history: &History) -> Figure {
        let mut lines: Vec<&Line> = history.lines.iter().collect();
        // Lines with changes first, then the longest; drawn in the order of time.
        lines.sort_by_key(|line| std::cmp::Reverse((line.changes().len(), line.points.len())));
        let left_out = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        lines.sort_by_key(|line| line.points.first().map(|point| point.result));
        let results: BTreeSet<usize> =
            lines.iter().flat_map(|line| line.points.iter().map(|point| point.result)).collect();
        let places: BTreeMap<usize, usize> =
            results.iter().enumerate().map(|(place, result)| (*result, place)).collect();
        let axis = TimeAxis { places: &places, names: self.names(&results) };
        let names = line_names(&lines);
        let mut panel = Panel::default();
        for (index, (line, name)) in lines.iter().zip(names).enumerate() {
            let series = Series::new(name, slot(index));
            panel.lines.extend(levels(line, &axis, &series));
            panel.lines.push(self.line(line, &axis, &series));
            panel.references.extend(change_marks(line, &axis, series.slot));
        }
        let mut marks = version_marks(&lines);
        let has_versions = !marks.is_empty();
        let gaps: Vec<(&Line, Gaps)> =
            lines.iter().filter_map(|line| Some((*line, self.gaps(line)?))).collect();
        marks.extend(gaps.iter().flat_map(|(line, gaps)| gap_marks(line, gaps)));
        panel.references.extend(grey_marks(marks, &axis));
        let noisy =
            results.iter().filter(|result| self.content(**result).is_some_and(|content| content.is_noisy));
        let noisy: Vec<Interval> = noisy
            .map(|result| Interval { low: places[result] as f64 - 0.5, high: places[result] as f64 + 0.5 })
            .collect();
        let all_noisy = noisy.len() == results.len();
        let mut note = notes(history, &lines, has_versions, left_out);
        if let Some((_, gaps)) = gaps.first() {
            note.push_str(&format!(
                " Missing: no result here, although the others follow every {}.",
                gaps.every()
            ));
        }
        if all_noisy {
            note.push_str(" All results are noisy.");
        } else if !noisy.is_empty() {
            note.push_str(" Shaded: more than half of the blocks were noisy.");
            panel.shaded = noisy;
        }
        let runs: Vec<usize> =
            lines.iter().flat_map(|line| line.points.iter().map(|point| point.value.runs)).collect();
        let count = report::parts::count(results.len(), "result");
        let shown = number_of_runs(runs.iter().copied()).unwrap_or_default();
        let y = Axis { unit: history.quantity.unit(), scale: Scale::Linear, ..Axis::default() };
        let x =
            Axis { label: "result".to_owned(), scale: Scale::Ordinal(axis.names.clone()), ..Axis::default() };
        let host = common(&lines, |line| &line.host).map_or_else(String::new, |host| format!(", {host}"));
        let chart = Chart {
            title: self.title(history),
            better: Some(history.quantity.better()),
            subtitle: format!(
                "{} \u{b7} median of {shown} \u{b7} {count}{host} \u{b7} {}",
                capital(history.quantity.words()),
                self.span(&results)
            ),
            note,
            description: format!(
                "Line chart of the {} of {} over {count} in the order of time, one line for each host and version.",
                history.quantity.words(),
                history.cell
            ),
            interval_name: interval_name_of(runs.iter().copied()).to_owned(),
            footer: format!("{count}{host}, {}", self.span(&results)),
            kind: ChartKind::Lines(Lines { x, y, panels: vec![panel] }),
        };
        Figure { id: format!("history-{}", place + 1), short: "Charts", chart }
    }

    /// Returns a title: what changed, else the neutral name.
    fn title(&self, history: &History) -> String {
        let name = format!("{}: {}", history.cell, history.quantity.words());
        let changes: Vec<(&Line, &Change)> = history.changes().collect();
        match &changes[..] {
            [] => name,
            [(line, change)] => {
                let verb = if change.change.ratio > 1.0 { "rose" } else { "fell" };
                format!(
                    "{name} {verb} by {} on {}",
                    unsigned(change.change.ratio),
                    day(self.started(line, change.point))
                )
            }
            all => format!("{name} changed {} times", all.len()),
        }
    }

    /// Returns the days of results, with the time if two are of the same day.
    fn names(&self, results: &BTreeSet<usize>) -> Vec<String> {
        let starts: Vec<u64> = results
            .iter()
            .filter_map(|result| self.content(*result))
            .map(|content| content.started_unix_ns)
            .collect();
        let days: BTreeSet<String> = starts.iter().map(|start| day(*start)).collect();
        let is_day = days.len() == starts.len();
        starts.iter().map(|start| if is_day { day(*start) } else { time(*start) }).collect()
    }

    fn span(&self, results: &BTreeSet<usize>) -> String {
        let day = |result: Option<&usize>| {
            result
                .and_then(|result| self.content(*result))
                .map_or_else(String::new, |of| day(of.started_unix_ns))
        };
        let span = match (day(results.first()), day(results.last())) {
            (first, last) if first == last => first,
            (first, last) => format!("{first} to {last}"),
        };
        // A date is not divided at the end of a line.
        span.replace('-', "\u{2011}")
    }

    fn gaps(&self, line: &Line) -> Option<Gaps> {
        let starts: Vec<u64> = (0..line.points.len()).map(|point| self.started(line, point)).collect();
        Gaps::between(&starts)
    }

    fn line(&self, line: &Line, axis: &TimeAxis<'_>, series: &Series) -> Drawn {
        let point = |point: &super::history::Point| {
            let content = self.content(point.result);
            let mut words = vec![self.results[point.result].name.clone()];
            words.extend(content.is_some_and(|of| of.is_noisy).then(|| "noisy".to_owned()));
            Mark {
                hollow: point.value.is_doubtful,
                detail: words.join("; "),
                ..Mark::new(axis.place(point.result), point.value.estimate)
            }
        };
        let style = if axis.names.len() > MANY_RESULTS { LineStyle::Thin } else { LineStyle::Thick };
        let points = line.points.iter().map(point).collect();
        Drawn { series: series.clone(), named: !series.name.is_empty(), style, points, ..Drawn::default() }
    }
}

/// Axis of results in the order of time.
struct TimeAxis<'a> {
    places: &'a BTreeMap<usize, usize>,
    names: Vec<String>,
}

impl TimeAxis<'_> {
    fn place(&self, result: usize) -> f64 {
        self.places.get(&result).map_or(f64::NAN, |place| *place as f64)
    }
}

/// Returns the median level of each stretch of a line with changes.
fn levels(line: &Line, axis: &TimeAxis<'_>, series: &Series) -> Vec<Drawn> {
    if line.changes().is_empty() {
        return Vec::new();
    }
    let mut bounds = vec![0];
    bounds.extend(line.changes().iter().map(|change| change.point));
    bounds.push(line.points.len());
    let level = |part: &[usize]| {
        let points = &line.points[part[0]..part[1]];
        let value = median(&points.iter().map(|point| point.value.estimate.value).collect::<Vec<_>>())?;
        let ends = [points.first()?.result, points.last()?.result];
        let points = ends.map(|result| Mark::new(axis.place(result), Estimate::exact(value))).to_vec();
        Some(Drawn { series: series.clone(), style: LineStyle::Ghost, points, ..Drawn::default() })
    };
    bounds.windows(2).filter_map(level).collect()
}

fn change_marks(line: &Line, axis: &TimeAxis<'_>, slot: Slot) -> Vec<Reference> {
    let mark = |change: &Change| Reference {
        at: axis.place(line.points[change.point].result) - 0.5,
        label: number::change(change.change.ratio),
        slot,
    };
    line.changes().iter().map(mark).collect()
}

/// Returns a result and words where the kernel, the driver or the tool is another one, and where a further host or version begins.
fn version_marks(lines: &[&Line]) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let changed = line.points.iter().filter(|point| !point.changed.is_empty());
        all.extend(changed.map(|point| (point.result, point.changed.join(", "))));
        if let (Some(first), true) = (line.points.first(), index > 0) {
            let mut words = Vec::new();
            if lines[..index].iter().all(|other| other.host != line.host) {
                words.push(format!("host {}", line.host));
            }
            if lines[..index].iter().all(|other| other.version != line.version) {
                words.push(format!("version {}", line.version));
            }
            all.extend((!words.is_empty()).then(|| (first.result, words.join(", "))));
        }
    }
    all
}

/// Returns each result of a line that follows a gap, and how many are missing.
fn gap_marks(line: &Line, gaps: &Gaps) -> Vec<(usize, String)> {
    gaps.before
        .iter()
        .map(|(point, missing)| (line.points[*point].result, format!("{missing} missing")))
        .collect()
}

/// Returns grey marks with these words in front of these results.
fn grey_marks(mut marks: Vec<(usize, String)>, axis: &TimeAxis<'_>) -> Vec<Reference> {
    marks.sort();
    marks.dedup();
    let mark = |(result, label)| Reference { at: axis.place(result) - 0.5, label, slot: Slot::S0 };
    marks.into_iter().map(mark).collect()
}

/// Returns what tells the lines of a chart apart; empty for a single line.
fn line_names(lines: &[&Line]) -> Vec<String> {
    let host = common(lines, |line| &line.host).is_none();
    let version = common(lines, |line| &line.version).is_none();
    let name = |line: &&Line| {
        let parts = [host.then_some(&line.host), version.then_some(&line.version)];
        parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
    };
    lines.iter().map(name).collect()
}

/// Returns the text that all lines have in common.
fn common<'l>(lines: &[&'l Line], of: impl Fn(&'l Line) -> &'l String) -> Option<&'l String> {
    let first = of(lines.first()?);
    lines.iter().all(|line| of(line) == first).then_some(first)
}

fn notes(history: &History, lines: &[&Line], has_versions: bool, left_out: usize) -> String {
    let mut notes = vec!["Dot: a result; bar: interval over its runs.".to_owned()];
    if history.changes().next().is_some() {
        notes.push(
            "Dotted line with a percentage: a change of level that is significant; grey: levels.".to_owned(),
        );
    }
    if has_versions {
        notes.push("Grey dotted line: another host, version, kernel or driver from here on.".to_owned());
    }
    if lines.iter().any(|line| line.points.iter().any(|point| point.value.is_doubtful)) {
        notes.push("Hollow: samples are missing, or the sender was late.".to_owned());
    }
    if left_out > 0 {
        notes.push(format!("{} more in the table of histories.", report::parts::count(left_out, "line")));
    }
    notes.join(" ")
}
