//! First screen of a result: what was measured, one table over all drivers, findings, warnings and next steps.

mod grid;
mod head;
mod line;
mod markdown;
mod next;
pub(crate) mod notes;
mod picture;
mod rows;
mod scale;

use std::collections::BTreeSet;

use results::ResultDocument;

use self::{
    grid::Table,
    line::{Kind, Line, wrapped},
    notes::Section,
};
pub use self::{markdown::markdown, picture::Charset};
use crate::{
    costs::TablePlace,
    fact::Fact,
    number::count,
    part_data::DataTable,
    tables::{self, LOSSY, POOLED},
};
pub(crate) use rows::TOPICS;

/// Maximum number of lines.
const LINES: usize = 40;
/// Default and maximum number of columns.
const WIDTH: u16 = 100;
/// Minimum number of columns that text is wrapped to.
const MIN_WIDTH: u16 = 40;
/// Maximum number of rows of all tables.
const ROWS: usize = 12;
/// Number of rows that all tables keep if there is much to say below them; at least one for each configuration.
const LEAST_ROWS: usize = 4;

/// Options of the first screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenOptions<'o> {
    /// Number of columns of the terminal; `None`: 100. At most 100 are used.
    pub width: Option<u16>,
    /// Whether lines are coloured. The text is the same.
    pub colour: bool,
    /// Directory of the result as the user wrote it, for the commands.
    pub directory: Option<&'o str>,
    /// Characters of a picture of the result; `None`: no picture, as in a pipe. It needs 80 columns.
    pub picture: Option<Charset>,
}

/// Returns the facts of the head without the command; the title first.
#[must_use]
pub fn facts(document: &ResultDocument) -> Vec<Fact> {
    let (kind, title) = head::title(document);
    let title = Fact { is_warning: kind == Kind::Failure, ..Fact::new("Result", title) };
    std::iter::once(title).chain(head::facts(document)).collect()
}

/// Returns the tables with all rows.
pub(crate) fn tables(document: &ResultDocument) -> Vec<DataTable> {
    let tables = rows::tables(document);
    let whole = |table: &Table<'_>| {
        let rows: Vec<_> = table.rows.iter().collect();
        DataTable::new(table.title, &table.grid(&rows))
    };
    tables.iter().map(whole).collect()
}

/// Formats the first screen of a result: at most 40 lines of at most 100 columns.
#[must_use]
pub fn first_screen(document: &ResultDocument, options: ScreenOptions<'_>) -> String {
    let width = usize::from(options.width.unwrap_or(WIDTH).clamp(MIN_WIDTH, WIDTH));
    let head = head::head(document, width);
    let next = next::next(document, options.directory, width);
    let sections = notes::sections(document, TablePlace::InFull);
    let tables = rows::tables(document);
    let room = LINES.saturating_sub(head.len() + next.len());
    let least: usize = sections.iter().map(|section| section.lines(width).min(section.usual)).sum();
    let configurations = tables.iter().map(Table::configurations).sum::<usize>();
    // Where settings are compared, what they cost says more than their rows; and of a system, the topics that suffer
    // first are the first rows.
    let [_, costs, ..] = &sections;
    let has_costs = !costs.items.is_empty();
    let has_topics = tables.iter().any(|table| table.title == TOPICS);
    let least_rows =
        if has_costs || has_topics { LEAST_ROWS } else { configurations.clamp(LEAST_ROWS, ROWS) };
    let mut rows = ROWS;
    let mut table = shown(document, &tables, rows, width);
    while rows > least_rows && table.len() + least > room {
        rows -= 1;
        table = shown(document, &tables, rows, width);
    }
    let mut lines = head;
    let mut room = room.saturating_sub(table.len());
    lines.extend(table);
    let picture = options.picture.map_or_else(Vec::new, |charset| picture::picture(document, charset, width));
    let least: usize = sections.iter().map(|section| section.lines(width).min(section.kept)).sum();
    if !picture.is_empty() && room > least + picture.len() {
        room -= picture.len() + 1;
        lines.push(Line::new(Kind::Plain, ""));
        lines.extend(picture);
    }
    lines.extend(fitted(&sections, room, width));
    lines.extend(next);
    lines.iter().map(|line| line.painted(options.colour)).collect()
}

/// Returns the sections within `room` lines: first a few lines of each, then its usual lines, then the rest.
fn fitted(sections: &[Section], room: usize, width: usize) -> Vec<Line> {
    let mut left = room;
    let mut given = vec![0; sections.len()];
    let limits: [fn(&Section) -> usize; 3] = [|section| section.least, |section| section.usual, |_| LINES];
    for limit in limits {
        for (section, given) in sections.iter().zip(&mut given) {
            let more = section.lines(width).min(limit(section)).saturating_sub(*given).min(left);
            *given += more;
            left -= more;
        }
    }
    sections.iter().zip(given).flat_map(|(section, given)| section.within(given, width)).collect()
}

/// Returns the tables with at most `rows` rows together, and what their values mean.
fn shown(document: &ResultDocument, tables: &[Table<'_>], rows: usize, width: usize) -> Vec<Line> {
    if document.cells.is_empty() {
        return vec![Line::new(Kind::Plain, ""), Line::new(Kind::Plain, "No cell was planned.")];
    }
    let mut lines = Vec::new();
    let mut cells: BTreeSet<&str> = BTreeSet::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut hidden = 0;
    for table in tables {
        let selected = table.select((rows / tables.len()).max(1));
        let rendered = table.render(&selected, width);
        hidden += table.rows.len() - selected.len();
        cells.extend(selected.iter().flat_map(|row| row.cells.iter().copied()));
        lines.push(Line::new(Kind::Plain, ""));
        if tables.len() > 1 && !table.title.is_empty() {
            lines.push(Line::new(Kind::Heading, table.title));
        }
        lines.extend(rendered.lines);
        left_out.extend(rendered.left_out);
    }
    let table: String = lines.iter().map(|line| line.text.as_str()).collect();
    left_out.sort_unstable();
    left_out.dedup();
    lines.extend(wrapped(Kind::Plain, &legend(document, &table), width, 2, 3));
    let mut others = Vec::new();
    if cells.len() < document.cells.len() {
        others.push(count(document.cells.len() - cells.len(), "more cell"));
    } else if hidden > 0 {
        others.push(count(hidden, "more row"));
    }
    if !left_out.is_empty() {
        others.push(format!("no room for {}", left_out.join(", ")));
    }
    if !others.is_empty() {
        lines.extend(wrapped(Kind::Plain, &format!("{}: `--full`", others.join("; ")), width, 2, 2));
    }
    lines
}

/// Returns what the values of a table mean.
fn legend(document: &ResultDocument, table: &str) -> String {
    let runs = document.cells.iter().map(|cell| cell.claimed_runs().count());
    let runs = range(runs.filter(|runs| *runs > 0).map(|runs| runs as u64));
    let plus_minus = if table.contains('±') { ", ± half their range" } else { "" };
    let mut words = match runs.as_deref() {
        Some("1") => vec!["values of 1 run".to_owned()],
        Some(runs) => vec![format!("medians of {runs} runs{plus_minus}")],
        None => vec!["no valid run".to_owned()],
    };
    let n = |kind| {
        let all = document.cells.iter().filter_map(|cell| cell.latency.get(kind));
        range(all.map(|latency| latency.n)).map_or_else(String::new, |n| format!(" (n = {n})"))
    };
    if table.contains("RTT") {
        words.push(format!("RTT: round trip{}", n("rtt")));
    }
    if document.cells.iter().any(|cell| cell.factors.is_pipelined()) {
        words.push("with several samples in flight, it includes their wait for each other".to_owned());
        words.push("sample-hop: time per sample and hop".to_owned());
    }
    if table.contains("Response") {
        words.push(format!("response: from the planned time to the arrival{}", n("response")));
    }
    if table.contains("Published") {
        words.push("published: of other hosts, RTT/2 doubled; sources: `--full`".to_owned());
    }
    if table.contains(" + ") {
        words.push("CPU: writer + reader".to_owned());
    }
    if table.contains("n/a") {
        let clocks = document.cells.iter().any(tables::has_clock_error);
        let reason = if clocks {
            "n/a: too few samples, or below the error of the clocks"
        } else {
            "n/a: too few samples"
        };
        words.push(reason.to_owned());
    }
    if table.contains(POOLED) {
        words.push(format!("{POOLED}: of all runs together, since a run has too few samples"));
    }
    if table.contains(LOSSY) {
        words.push(format!("{LOSSY}: over {} % missing", results::MAX_LATENCY_LOSS_PCT));
    }
    let text = words.join("; ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect::<String>())
}

fn range(values: impl Iterator<Item = u64>) -> Option<String> {
    let (least, most) = values.fold((u64::MAX, 0), |(least, most), n| (least.min(n), most.max(n)));
    match least {
        u64::MAX => None,
        least if least == most => Some(least.to_string()),
        least => Some(format!("{least} to {most}")),
    }
}
