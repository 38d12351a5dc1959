//! Words around a chart, which all charts have.

use std::collections::BTreeSet;

use charts::{Chart, ChartKind, Series};
use experiment::{Factors, Workload};
use results::CellResult;

use crate::{
    page::Figure,
    scene::Scene,
    values::{Quantity, bytes, interval_name},
};

/// Words of a chart.
pub(crate) struct Frame<'w> {
    /// Identifier on the page.
    pub id: &'w str,
    /// Name in the navigation.
    pub short: &'static str,
    /// Title: what the chart shows, or its neutral name.
    pub title: String,
    /// Value that it shows.
    pub quantity: Quantity,
    /// Fixed factors and scale, behind the name of the value; may be empty.
    pub conditions: Vec<String>,
    /// Explanation of its marks.
    pub note: String,
    /// Description of the drawing, for screen readers.
    pub drawn: String,
}

impl Frame<'_> {
    /// Returns the chart of these cells, with words that explain their choice; these are empty if they were not chosen.
    pub(crate) fn around(
        self,
        scene: &Scene<'_>,
        (cells, why): (&[&CellResult], &str),
        kind: ChartKind,
    ) -> Figure {
        let runs = scene.runs_per_cell(cells);
        let note = format!("{}{}", self.note, part_shown(scene, cells, why));
        let mut parts = vec![capital(self.quantity.words())];
        parts.extend(self.conditions);
        parts.push(runs.replace(' ', "\u{a0}"));
        Figure {
            id: self.id.to_owned(),
            short: self.short,
            chart: Chart {
                title: self.title,
                better: Some(self.quantity.better()),
                subtitle: parts.join(" · "),
                note,
                description: self.drawn,
                interval_name: interval_name(cells).to_owned(),
                footer: format!("{runs} per cell · {}", scene.footer),
                kind,
            },
        }
    }
}

/// Says how many of the configurations with these workloads a chart shows, and why these; empty if it shows all.
fn part_shown(scene: &Scene<'_>, cells: &[&CellResult], why: &str) -> String {
    let is_shown = |cell: &&CellResult| cells.iter().any(|shown| shown.id == cell.id);
    let has_workload =
        |cell: &&CellResult| cells.iter().any(|shown| shown.factors.workload == cell.factors.workload);
    let count = |of: &dyn Fn(&&CellResult) -> bool| {
        scene.series.iter().filter(|series| series.cells.iter().any(of)).count()
    };
    part_words((count(&is_shown), count(&has_workload)), why)
}

/// Says how many of all configurations are shown, and why these; empty if it is all of them.
pub(crate) fn part_words((shown, all): (usize, usize), why: &str) -> String {
    match shown < all {
        true => format!(" Shows {shown} of {all} configurations{why}; the tables have all."),
        false => String::new(),
    }
}

/// Returns a text with a capital first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Joins texts as in a sentence: `a, b and c`.
pub(crate) fn list(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [begin @ .., last] => format!("{} and {last}", begin.join(", ")),
    }
}

/// Maximum number of series that a sentence names.
pub(crate) const MOST_NAMED: usize = 4;

/// Joins texts as in a sentence: at most this many of them, and the number of the others.
pub(crate) fn first_of(most: usize, mut texts: Vec<String>) -> String {
    let more = texts.len().saturating_sub(most);
    texts.truncate(most);
    texts.extend((more > 0).then(|| format!("{more} more")));
    list(&texts)
}

/// Returns the names of series, as in a sentence.
pub(crate) fn names<T>(all: &[(&Series, T)]) -> String {
    first_of(MOST_NAMED, all.iter().map(|(series, _)| series.name.clone()).collect())
}

/// Returns what is sent: the size of the samples, or the number of flows; `None` without samples.
pub(crate) fn content(factors: &Factors) -> Option<String> {
    match factors.flows.len() {
        _ if factors.workload == Workload::Discovery => None,
        0 => Some(bytes(factors.size_bytes)),
        1 => Some(factors.flows[0].size_words(bytes)),
        flows => Some(format!("{flows} flows")),
    }
}

/// Returns the size, the link and the number of samples of these cells, for a subtitle.
pub(crate) fn sizes_and_n(cells: &[&CellResult], kind: Option<&str>) -> Vec<String> {
    let mut words = Vec::new();
    let contents: BTreeSet<Option<String>> = cells.iter().map(|cell| content(&cell.factors)).collect();
    if contents.len() == 1 {
        words.extend(contents.into_iter().flatten());
    }
    let links: BTreeSet<Option<String>> =
        cells.iter().map(|cell| cell.factors.link.map(|link| link.to_string())).collect();
    if links.len() == 1 {
        let named = links.into_iter().flatten().filter(|link| !link.is_empty());
        words.extend(named.map(|link| format!("link {}", link.replace(',', ", ").replace('=', "\u{a0}"))));
    }
    let counts = || cells.iter().filter_map(|cell| Some(cell.latency.get(kind?)?.n));
    if let (Some(least), Some(most)) = (counts().min(), counts().max()) {
        let number = |n: u64| charts::number::round(n as f64);
        words.push(match least == most {
            true => format!("n\u{a0}=\u{a0}{}", number(most)),
            false => format!("n\u{a0}=\u{a0}{} to {}", number(least), number(most)),
        });
    }
    words
}

/// Returns the numbers of the noisy blocks.
pub(crate) fn noisy(scene: &Scene<'_>) -> Vec<u32> {
    scene.document.blocks.iter().filter(|block| block.noisy).map(|block| block.number).collect()
}

/// Sentence on hollow marks; empty if no cell is doubtful.
pub(crate) fn hollow_note(cells: &[&CellResult]) -> String {
    let lossy = cells.iter().any(|cell| cell.shortfall().pct() > results::MAX_LATENCY_LOSS_PCT);
    let late = cells.iter().any(|cell| cell.is_sender_limited());
    match (lossy, late) {
        (false, false) => String::new(),
        (true, false) => {
            format!(" Hollow: over {} % of the samples are missing.", results::MAX_LATENCY_LOSS_PCT)
        }
        (false, true) => " Hollow: the sender was late in most runs.".to_owned(),
        (true, true) => format!(
            " Hollow: over {} % of the samples are missing, or the sender was late in most runs.",
            results::MAX_LATENCY_LOSS_PCT
        ),
    }
}
