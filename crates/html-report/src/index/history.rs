//! Histories of cells over results, and their tested changes.

use std::collections::{BTreeMap, BTreeSet};

use stats::{LevelChange, LevelTest, MOST_TESTED, ReferencedValue, simultaneous_level};

use super::{
    changes,
    result::{CellValue, Content, IndexedResult, cell_words},
};
use crate::values::Quantity;

/// Minimum number of results of a history.
pub(super) const LEAST_RESULTS: usize = 3;
/// Minimum number of changes that may be steps of a slow one.
const LEAST_ONE_WAY: usize = 3;
/// Time in ns before the newest result of a host within which results are of the same night. Of a line that ended earlier, as with a version
/// that was replaced, no change is new.
const ONE_NIGHT_NS: u64 = 12 * 3_600 * 1_000_000_000;
/// Confidence level of all claims of an index together.
const LEVEL: f64 = 0.95;

/// Results in the order of time, and the histories of their cells.
#[derive(Clone, Debug)]
pub struct Index {
    /// Results, the oldest first; those that cannot be loaded at the end.
    pub(super) results: Vec<IndexedResult>,
    /// For each result that is the same as an earlier one, the index of that one.
    pub(super) copies: BTreeMap<usize, usize>,
    /// Histories: those with changes first, then the widest.
    pub(super) histories: Vec<History>,
    /// Number of tested lines, which share the level.
    pub(super) tested: usize,
    /// Minimum number of results for a claim in one of them.
    pub(super) least_for_claim: usize,
}

/// History of a metric of a cell.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub cell: String,
    pub driver: String,
    pub quantity: Quantity,
    /// Lines: a host and a version of the middleware each, in the order of their first results.
    pub lines: Vec<Line>,
}

/// Values of a history on one host with one version of the middleware.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub host: String,
    /// Middleware and version.
    pub middleware: String,
    /// Version alone; empty for a bare socket.
    pub version: String,
    pub points: Vec<Point>,
    pub test: Test,
}

/// Value of a line.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Index of the result.
    pub result: usize,
    pub value: CellValue,
    /// Versions that differ from the result before: kernel, driver, tool.
    pub changed: Vec<String>,
}

/// Test of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// Changes of its level.
    Tested(Vec<Change>),
    /// Changes of its level that may be those of the host: with the host's share deducted, none of them is claimed.
    PerhapsOfHost(Vec<Change>),
    /// There are too few results.
    TooFew,
    /// The results have no reference, so that a change of the host cannot be told from one of the middleware.
    NoReference,
}

/// Change of the level of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// Index of the first point after the change.
    pub point: usize,
    pub change: LevelChange,
    /// Other differences between the two results.
    pub with: Vec<String>,
    /// Whether it would not be found without the newest result of its line, which is of the newest night of the host.
    pub is_new: bool,
}

impl Line {
    pub(super) fn changes(&self) -> &[Change] {
        match &self.test {
            Test::Tested(changes) => changes,
            Test::PerhapsOfHost(_) | Test::TooFew | Test::NoReference => &[],
        }
    }

    /// Returns the changes that are not claimed, because they may be those of the host.
    pub(super) fn perhaps_of_host(&self) -> &[Change] {
        match &self.test {
            Test::PerhapsOfHost(changes) => changes,
            _ => &[],
        }
    }

    /// Returns whether several changes go one way, so that they may be steps of a slow one.
    pub(super) fn goes_one_way(&self) -> bool {
        let changes = self.changes();
        let rises = changes.iter().filter(|change| change.change.ratio > 1.0).count();
        changes.len() >= LEAST_ONE_WAY && (rises == 0 || rises == changes.len())
    }

    /// Returns the logarithm of the ratio of the largest value to the smallest.
    fn width(&self) -> f64 {
        let values = || self.points.iter().map(|point| point.value.estimate.value);
        (values().fold(0.0, f64::max) / values().fold(f64::INFINITY, f64::min)).ln()
    }
}

impl History {
    pub(super) fn changes(&self) -> impl Iterator<Item = (&Line, &Change)> {
        self.lines.iter().flat_map(|line| line.changes().iter().map(move |change| (line, change)))
    }

    /// Returns the size of the largest change, and the width of the widest line.
    fn rank(&self) -> (f64, f64) {
        let largest = self.changes().map(|(_, change)| change.change.ratio.ln().abs()).fold(0.0, f64::max);
        (largest, self.lines.iter().map(Line::width).fold(0.0, f64::max))
    }
}

impl Index {
    /// Creates an index of results in any order.
    #[must_use]
    pub fn new(mut results: Vec<IndexedResult>) -> Self {
        let order = |result: &IndexedResult| {
            let content = result.content.as_ref().ok();
            // Results that cannot be loaded, and those without a date, are at the end.
            (
                content.is_none(),
                content.is_some_and(|of| !of.is_dated),
                content.map_or(0, |of| of.started_unix_ns),
            )
        };
        results.sort_by(|one, other| order(one).cmp(&order(other)).then_with(|| one.name.cmp(&other.name)));
        let copies = copies(&results);
        let mut histories = histories(&results, &copies);
        let (tested, least_for_claim) = test(&results, &mut histories);
        histories.sort_by(|one, other| {
            let (one, other) = (one.rank(), other.rank());
            other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1))
        });
        Self { results, copies, histories, tested, least_for_claim }
    }

    /// Returns whether a result could be loaded.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.results.iter().any(|result| result.content.is_ok())
    }

    pub(super) fn content(&self, result: usize) -> Option<&Content> {
        self.results[result].content.as_ref().ok()
    }

    /// Returns the number of changes in all histories.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.histories.iter().map(|history| history.changes().count()).sum()
    }

    /// Returns the number of changes that are found with the newest results of their lines only: those about which a nightly job
    /// has not told yet.
    #[must_use]
    pub fn new_changes(&self) -> usize {
        let changes = self.histories.iter().flat_map(History::changes);
        changes.filter(|(_, change)| change.is_new).count()
    }
}

/// Returns the results that are the same as an earlier one.
fn copies(results: &[IndexedResult]) -> BTreeMap<usize, usize> {
    let mut known = BTreeMap::new();
    let mut copies = BTreeMap::new();
    for (index, content) in
        results.iter().enumerate().filter_map(|(index, of)| Some((index, of.content.as_ref().ok()?)))
    {
        let identity = (content.started_unix_ns, &content.host, &content.experiment, &content.command_line);
        match known.get(&identity) {
            Some(first) => drop(copies.insert(index, *first)),
            None => drop(known.insert(identity, index)),
        }
    }
    copies
}

/// Returns the histories with at least [`LEAST_RESULTS`] values, untested, in the order of their first values.
fn histories(results: &[IndexedResult], copies: &BTreeMap<usize, usize>) -> Vec<History> {
    let mut places: BTreeMap<(&str, &str, Option<&str>), usize> = BTreeMap::new();
    let mut histories: Vec<History> = Vec::new();
    let mut lines: BTreeMap<(usize, &str, &str, &str), usize> = BTreeMap::new();
    let names = host_names(results);
    let dated = results.iter().enumerate().filter(|(index, _)| !copies.contains_key(index));
    for (index, content) in dated.filter_map(|(index, of)| Some((index, of.content.as_ref().ok()?))) {
        for value in content.values.iter().filter(|_| content.is_dated) {
            let key = (value.key.as_str(), value.metric.name(), value.flow.as_deref());
            let place = *places.entry(key).or_insert_with(|| {
                histories.push(History {
                    cell: String::new(),
                    driver: value.driver.clone(),
                    quantity: Quantity::Metric(value.metric),
                    lines: Vec::new(),
                });
                histories.len() - 1
            });
            let history = &mut histories[place];
            // The newest name: ids of cells may change from plan to plan.
            history.cell = cell_words(value);
            let key = (place, content.host.as_str(), content.machine.as_str(), value.version.as_str());
            let line = *lines.entry(key).or_insert_with(|| {
                let host = names[&(content.host.as_str(), content.machine.as_str())].clone();
                let middleware = format!("{} {}", value.middleware, value.version).trim().to_owned();
                let version = value.version.clone();
                history.lines.push(Line {
                    host,
                    middleware,
                    version,
                    points: Vec::new(),
                    test: Test::TooFew,
                });
                history.lines.len() - 1
            });
            let points = &mut history.lines[line].points;
            let before = points.last().and_then(|point: &Point| results[point.result].content.as_ref().ok());
            let changed =
                before.map_or_else(Vec::new, |before| changes::versions(before, content, &value.driver));
            points.push(Point { result: index, value: value.clone(), changed });
        }
    }
    let results_of = |history: &History| history.lines.iter().map(|line| line.points.len()).sum::<usize>();
    histories.retain(|history| results_of(history) >= LEAST_RESULTS);
    histories
}

/// Returns the name of each host; hosts of the same name with other processors have them in the name.
fn host_names(results: &[IndexedResult]) -> BTreeMap<(&str, &str), String> {
    let contents = results.iter().filter_map(|result| result.content.as_ref().ok());
    let hosts: BTreeSet<(&str, &str)> =
        contents.map(|content| (content.host.as_str(), content.machine.as_str())).collect();
    let name = |(host, machine): &(&str, &str)| match hosts.iter().filter(|(other, _)| other == host).count()
    {
        1 => (*host).to_owned(),
        _ => format!("{host} ({machine})"),
    };
    hosts.iter().map(|host| (*host, name(host))).collect()
}

/// Tests all lines at one level that they share. Returns the number of tested lines, and how many results a claim needs.
fn test(results: &[IndexedResult], histories: &mut [History]) -> (usize, usize) {
    let least = LevelTest::new(LEVEL).least_results();
    let mut values: Vec<Option<Vec<(usize, ReferencedValue)>>> = Vec::new();
    for line in histories.iter_mut().flat_map(|history| &mut history.lines) {
        let referenced = referenced(results, line);
        line.test = if line.points.len() < least {
            Test::TooFew
        } else if referenced.len() < least {
            Test::NoReference
        } else {
            Test::Tested(Vec::new())
        };
        values.push(matches!(line.test, Test::Tested(_)).then_some(referenced));
    }
    let tested = values.iter().flatten().count();
    let newest = newest_of_hosts(results);
    let mut test = LevelTest::new(simultaneous_level(LEVEL, tested));
    let all = histories.iter_mut().flat_map(|history| {
        let driver = history.driver.clone();
        history.lines.iter_mut().map(move |line| (driver.clone(), line))
    });
    for ((driver, line), values) in all.zip(values) {
        let Some(values) = values else { continue };
        let (points, values): (Vec<usize>, Vec<ReferencedValue>) = values.into_iter().unzip();
        let described = |change: LevelChange, is_new: bool| {
            let point = points[change.at];
            let content = |point: usize| results[line.points[point].result].content.as_ref().ok();
            let with = match (content(points[change.at - 1]), content(point)) {
                (Some(before), Some(after)) => changes::differences(before, after, &driver),
                _ => Vec::new(),
            };
            Change { point, change, with, is_new }
        };
        let found = test.changes(&values);
        let last = line.points.last().and_then(|point| results[point.result].content.as_ref().ok());
        let is_last_night = last.is_some_and(|content| {
            newest[&host_of(content)].saturating_sub(content.started_unix_ns) < ONE_NIGHT_NS
        });
        let known = match found.is_empty() || !is_last_night {
            true => found.clone(),
            false => test.changes(&values[..values.len() - 1]),
        };
        let with_news = |change: LevelChange| {
            let is_new = !known.iter().any(|known| is_same(known, &change));
            described(change, is_new)
        };
        let found: Vec<Change> = found.into_iter().map(with_news).collect();
        let alone = |of: ReferencedValue| ReferencedValue { references: Vec::new(), ..of };
        let values: Vec<ReferencedValue> = values.into_iter().map(alone).collect();
        line.test = match found.is_empty() {
            true => match test.changes(&values) {
                changes if changes.is_empty() => Test::Tested(Vec::new()),
                changes => {
                    let changes = changes.into_iter().map(|change| described(change, false));
                    Test::PerhapsOfHost(changes.collect())
                }
            },
            false => Test::Tested(found),
        };
    }
    (tested, test.least_results())
}

/// Returns what tells hosts apart: their names and processors.
fn host_of(content: &Content) -> (&str, &str) {
    (&content.host, &content.machine)
}

/// Returns the time of the newest result of each host, in ns.
fn newest_of_hosts(results: &[IndexedResult]) -> BTreeMap<(&str, &str), u64> {
    let mut newest = BTreeMap::new();
    for content in results.iter().filter_map(|result| result.content.as_ref().ok()).filter(|of| of.is_dated) {
        let known: &mut u64 = newest.entry(host_of(content)).or_default();
        *known = content.started_unix_ns.max(*known);
    }
    newest
}

/// Returns whether changes of a line, found with and without its newest result, are the same: a further result may move the place of one.
fn is_same(one: &LevelChange, other: &LevelChange) -> bool {
    one.at.abs_diff(other.at) < LEAST_RESULTS && (one.ratio > 1.0) == (other.ratio > 1.0)
}

/// Returns the values of a line with references, each with the index of its point.
fn referenced(results: &[IndexedResult], line: &Line) -> Vec<(usize, ReferencedValue)> {
    let content = |point: &Point| results[point.result].content.as_ref().ok();
    let newest = line.points.len().saturating_sub(MOST_TESTED);
    let is_disturbed = line.points[newest..].iter().filter_map(content).any(|content| content.is_noisy);
    let of = |(index, point): (usize, &Point)| {
        let references = &content(point)?.references;
        let wanted = point.value.metric.references(is_disturbed).iter();
        let references =
            wanted.map(|metric| references.get(metric).copied()).collect::<Option<Vec<f64>>>()?;
        let value = point.value.estimate.value;
        (value.is_finite() && value > 0.0).then_some((index, ReferencedValue { value, references }))
    };
    line.points.iter().enumerate().filter_map(of).collect()
}
