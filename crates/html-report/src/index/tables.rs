//! Words and tables of an index, the same in text and on its page.

use charts::{Interval, number};
use report::parts::{self, DataTable};
use stats::MOST_TESTED;

use super::history::{Change, History, Index, LEAST_RESULTS, Line, Test};
use crate::figures::frame::{capital, list};

/// Maximum number of hosts that a sentence names.
const MOST_NAMED: usize = 4;

impl Index {
    /// Returns the number of results, their dates and hosts, and what changed: at most four sentences.
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        let all = self.results.len();
        let contents: Vec<_> = (0..all).filter_map(|result| self.content(result)).collect();
        let mut dates: Vec<String> =
            contents.iter().filter(|of| of.is_dated).map(|of| day(of.started_unix_ns)).collect();
        dates.dedup();
        let mut hosts: Vec<String> = contents.iter().map(|of| of.host.clone()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let on = match hosts.len() {
            0 => String::new(),
            1..=MOST_NAMED => format!(" on {}", list(&hosts)),
            n => format!(" on {n} hosts"),
        };
        let when = match &dates[..] {
            [] => String::new(),
            [day] => format!(" of {day}"),
            [first, .., last] => format!(", from {first} to {last}"),
        };
        let mut sentences = vec![format!("{}{on}{when}.", capital(&parts::count(contents.len(), "result")))];
        let unreadable = all - contents.len();
        if unreadable + self.copies.len() > 0 {
            let mut texts = Vec::new();
            if unreadable > 0 {
                texts.push(format!("{unreadable} cannot be loaded"));
            }
            if !self.copies.is_empty() {
                let copies = if self.copies.len() == 1 {
                    "1 is a copy".to_owned()
                } else {
                    format!("{} are copies", self.copies.len())
                };
                texts.push(format!("{copies}, which count once"));
            }
            sentences.push(format!("{}.", capital(&list(&texts))));
        }
        let lines = || self.histories.iter().flat_map(|history| &history.lines);
        if self.histories.is_empty() {
            sentences
                .push(format!("No cell has a value in {LEAST_RESULTS} results, so there is no history."));
        } else if self.tested == 0 {
            let reason = match lines().any(|line| line.test == Test::NoReference) {
                true => "its results lack the reference",
                false => "it has too few results",
            };
            sentences.push(format!("No history is tested for changes: {reason}."));
        } else {
            let found = self.changes();
            let of = format!(
                "{}, each of a metric of a cell on one host",
                parts::count(self.tested, "tested line")
            );
            let needs = format!("; a claim takes at least {} results", self.least_for_claim);
            // A step between two versions is drawn, and tested by nothing here.
            let apart = match self.histories.iter().any(|history| history.lines.len() > 1) {
                true => "; hosts and versions are not compared with each other: `ddsmark compare` does that",
                false => "",
            };
            sentences.push(match found {
                0 => format!("No change was found in {of}{needs}{apart}."),
                _ => format!(
                    "{} found in {of}{apart}.",
                    capital(&format!(
                        "{} {}",
                        parts::count(found, "change"),
                        if found == 1 { "was" } else { "were" }
                    ))
                ),
            });
            let largest =
                self.histories.first().and_then(|history| Some((history, history.changes().max_by(size)?)));
            if let Some((history, (line, change))) = largest {
                sentences.push(format!("The largest: {}.", self.change_words(history, line, change)));
            }
            sentences.extend(self.new_change_words());
            let masked_lines = lines().filter(|line| !line.perhaps_of_host().is_empty()).count();
            if let Some((history, line, change)) = self.largest_perhaps_of_host() {
                sentences.push(format!(
                    "The values of {} changed, but the reference of the host scatters so much that the host may be the cause: {}.",
                    parts::count(masked_lines, "line"),
                    self.change_words(history, line, change)
                ));
            }
            let slow = lines().filter(|line| line.goes_one_way()).count();
            if slow > 0 {
                sentences.push(format!(
                    "All changes of {} go in one direction: these may be steps of a slow change, whose dates say little.",
                    parts::count(slow, "line")
                ));
            }
        }
        sentences
    }

    /// Returns the largest of the changes that may be those of the host.
    fn largest_perhaps_of_host(&self) -> Option<(&History, &Line, &Change)> {
        let lines = self.histories.iter().flat_map(|of| of.lines.iter().map(move |line| (of, line)));
        let changes =
            lines.flat_map(|(of, line)| line.perhaps_of_host().iter().map(move |change| (of, line, change)));
        changes.max_by(|one, other| size(&(one.1, one.2), &(other.1, other.2)))
    }

    /// Describes a change in a sentence without its full stop.
    fn change_words(&self, history: &History, line: &Line, change: &Change) -> String {
        let verb = if change.change.ratio > 1.0 { "rose" } else { "fell" };
        let size = unsigned(change.change.ratio);
        let since = day(self.started(line, change.point));
        let words = format!("the {} of `{}` {verb} by {size}", history.quantity.words(), history.cell);
        format!("{words} on {since}")
    }

    /// Returns the start of the result of a point.
    pub(super) fn started(&self, line: &Line, point: usize) -> u64 {
        self.content(line.points[point].result).map_or(0, |content| content.started_unix_ns)
    }

    /// Returns the table of results, the newest first and those without a date last, and the address of the page of each.
    pub(crate) fn result_table(&self) -> (DataTable, Vec<Option<&str>>) {
        let columns = [
            "Result",
            "Started (UTC)",
            "Experiment",
            "Question",
            "Answer",
            "Host",
            "Kernel",
            "Middleware",
            "Valid runs",
            "State",
        ];
        let columns = columns.map(|name| (name.to_owned(), name == "Valid runs")).to_vec();
        let none = || "-".to_owned();
        let row = |(index, result): (usize, &super::IndexedResult)| {
            let name = result.name.clone();
            match &result.content {
                Err(error) => {
                    let mut row = vec![name];
                    row.extend((0..8).map(|_| none()));
                    row.push(format!("cannot be loaded: {error}"));
                    row
                }
                Ok(of) => vec![
                    name,
                    time(of.started_unix_ns),
                    of.experiment.clone(),
                    of.question.clone(),
                    of.answer.clone(),
                    of.host.clone(),
                    of.kernel.clone(),
                    of.versions.join(", "),
                    of.valid.clone(),
                    self.state(index),
                ],
            }
        };
        // Those that cannot be loaded have no date, and are last.
        let is_dated = |(_, result): &(usize, &super::IndexedResult)| {
            result.content.as_ref().is_ok_and(|of| of.is_dated)
        };
        let dated = self.results.iter().enumerate().filter(is_dated).count();
        let newest_first = || {
            let all = self.results.iter().enumerate();
            all.clone().take(dated).rev().chain(all.skip(dated))
        };
        let table =
            DataTable { title: "Results".to_owned(), columns, rows: newest_first().map(row).collect() };
        (table, newest_first().map(|(_, result)| result.link.as_deref()).collect())
    }

    /// Returns the state of a result as text, and why it is in no history.
    fn state(&self, result: usize) -> String {
        let Some(content) = self.content(result) else { return String::new() };
        let mut words = content.state.clone();
        if content.is_noisy {
            words.push_str("; noisy");
        }
        if !content.is_dated {
            words.push_str("; its clock was not set, or jumped: in no history");
        }
        if let Some(first) = self.copies.get(&result) {
            words.push_str(&format!("; the same as {}: counted once", self.results[*first].name));
        }
        words
    }

    /// Returns the table of changes, the largest of each history first.
    pub(crate) fn change_table(&self) -> DataTable {
        let columns =
            ["Cell", "Metric", "Host", "Middleware", "Since (UTC)", "Change", "Interval", "Differs, too"];
        let columns = columns.map(|name| (name.to_owned(), matches!(name, "Change" | "Interval"))).to_vec();
        let row = |history: &History, line: &Line, change: &Change| {
            let with = match &change.with[..] {
                [] => "nothing that is recorded".to_owned(),
                with => with.join("; "),
            };
            vec![
                history.cell.clone(),
                history.quantity.words().to_owned(),
                line.host.clone(),
                line.middleware.clone(),
                time(self.started(line, change.point)),
                number::change(change.change.ratio),
                change.change.interval.map_or_else(|| "-".to_owned(), |of| interval(of.low, of.high)),
                with,
            ]
        };
        let all = self.histories.iter();
        let rows =
            all.flat_map(|history| history.changes().map(move |(line, change)| row(history, line, change)));
        DataTable { title: "Changes of level".to_owned(), columns, rows: rows.collect() }
    }

    /// Returns a sentence about the changes that are new, the largest first.
    fn new_change_words(&self) -> Option<String> {
        let all = self.histories.iter().flat_map(|history| history.changes().map(move |of| (history, of)));
        let mut new: Vec<_> = all.filter(|(_, (_, change))| change.is_new).collect();
        new.sort_by(|(_, one), (_, other)| size(other, one));
        let named = new.iter().take(MOST_NAMED);
        let mut texts: Vec<String> =
            named.map(|(history, (line, change))| self.change_words(history, line, change)).collect();
        if new.len() > MOST_NAMED {
            texts.push(format!("{} more", new.len() - MOST_NAMED));
        }
        (!new.is_empty()).then(|| format!("New, found with the newest result only: {}.", list(&texts)))
    }

    /// Returns the table of all lines: those with changes first, then the widest histories.
    pub(crate) fn history_table(&self) -> DataTable {
        let columns = [
            "Cell",
            "Metric",
            "Host",
            "Middleware",
            "Results",
            "Newest",
            "Interval",
            "Smallest to largest",
            "Changes",
        ];
        let is_number =
            |name: &str| matches!(name, "Results" | "Newest" | "Interval" | "Smallest to largest");
        let columns = columns.map(|name| (name.to_owned(), is_number(name))).to_vec();
        let row = |history: &History, line: &Line| {
            let unit = history.quantity.unit();
            let values = || line.points.iter().map(|point| point.value.estimate.value);
            let ends =
                Interval { low: values().fold(f64::INFINITY, f64::min), high: values().fold(0.0, f64::max) };
            let newest = line.points.last().map(|point| point.value.estimate);
            // One unit for the row.
            let shown = number::Beside::new(newest.map_or(ends.high, |of| of.value), unit);
            let text = |change: &Change| {
                let since = day(self.started(line, change.point));
                format!("{} from {since}", number::change(change.change.ratio))
            };
            let listed = |changes: &[Change]| changes.iter().map(text).collect::<Vec<_>>().join("; ");
            let changes = match &line.test {
                Test::TooFew => "too few results to test".to_owned(),
                Test::NoReference => "not tested: no reference".to_owned(),
                Test::Tested(changes) if changes.is_empty() => "none found".to_owned(),
                Test::Tested(changes) => listed(changes),
                Test::PerhapsOfHost(changes) => format!("perhaps of the host: {}", listed(changes)),
            };
            vec![
                history.cell.clone(),
                history.quantity.words().to_owned(),
                line.host.clone(),
                line.middleware.clone(),
                line.points.len().to_string(),
                newest.map_or_else(String::new, |of| shown.value(of.value)),
                newest.and_then(|of| of.interval).map_or_else(|| "-".to_owned(), |of| shown.interval(of)),
                shown.interval(ends),
                changes,
            ]
        };
        let all = self.histories.iter();
        let rows = all.flat_map(|history| history.lines.iter().map(move |line| row(history, line)));
        DataTable { title: "Histories".to_owned(), columns, rows: rows.collect() }
    }

    /// Returns how changes are tested, and what a line of a history is.
    pub(crate) fn method() -> Vec<String> {
        vec![
            "A history has the results with the same factors and conditions. Each host, and each version of the middleware, is a line \
             of its own, and lines are never compared: `ddsmark compare` does that."
                .to_owned(),
            format!(
                "A change is claimed if it is significant for any share of the host's change that the reference shows. All lines \
                 share an error rate of 5 %: with probability 95 %, no claimed change is false. It takes at least {} results on each \
                 side; of longer histories, the newest {MOST_TESTED} results are tested. The time of a change is that of the first \
                 result after it, and may be off by some results.",
                stats::LEAST_STRETCH
            ),
        ]
    }

    /// Returns the index as text, without the table of results: the summary, the changes, and how they are tested.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = parts::wrapped(&self.summary().join(" "));
        let changes = self.change_table();
        if !changes.rows.is_empty() {
            text.push('\n');
            text.push_str(&parts::table_text(&changes));
            text.push('\n');
            text.push_str(&parts::wrapped(&Self::method()[1]));
        }
        text
    }
}

fn size(one: &(&Line, &Change), other: &(&Line, &Change)) -> std::cmp::Ordering {
    let of = |(_, change): &(&Line, &Change)| change.change.ratio.ln().abs();
    of(one).total_cmp(&of(other))
}

/// Returns the size of a change without its sign, as in `48.7 %`.
pub(super) fn unsigned(ratio: f64) -> String {
    number::change(ratio).trim_start_matches(['+', '\u{2212}']).to_owned()
}

fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", number::change(low), number::change(high))
}

/// Returns the day of a time in UTC.
pub(super) fn day(unix_ns: u64) -> String {
    let date = parts::date(unix_ns);
    date.get(..10).unwrap_or(&date).to_owned()
}

/// Returns a time in UTC, accurate to the minute.
pub(super) fn time(unix_ns: u64) -> String {
    let date = parts::date(unix_ns).replace('T', " ");
    date.get(..16).unwrap_or(&date).to_owned()
}
