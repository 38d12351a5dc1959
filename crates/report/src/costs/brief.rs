//! Costs of settings in a few sentences, for an answer.

use experiment::Workload;
use results::{Conclusion, format_effects};
use stats::median;

use super::{
    Column, Costs, Row,
    sentences::{TablePlace, lost_words},
    signed,
};
use crate::number::count;

/// Maximum number of sentences.
const MOST: usize = 4;
/// Number of drivers and topologies up to which each has a sentence of its own.
const MOST_APART: usize = 2;
/// Maximum number of worse settings that a sentence names, and of better ones.
const MOST_WORSE: usize = 2;
const MOST_BETTER: usize = 1;

/// Part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Text.
    pub text: String,
    /// Whether it is a name or a verdict.
    pub is_strong: bool,
}

impl Span {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_strong: false }
    }

    fn strong(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_strong: true }
    }
}

/// Setting with its largest claimed change: for the worse if there is one, so that a gain hides no cost.
struct Changed<'d> {
    of: &'d str,
    setting: &'d str,
    metric: String,
    pct: f64,
    is_better: bool,
}

/// Settings of one driver and topology that are worse and better, those with the largest changes first.
struct Outcome<'d> {
    worse: Vec<Changed<'d>>,
    better: Vec<Changed<'d>>,
    compared: usize,
    /// Number of blocks that claims need, if there are too few.
    needs: Option<u32>,
}

/// Returns the answer: which settings are worse and better, those that lost samples, and the smallest effect that would have been shown.
/// No setting that is left out has a larger change for the worse than one that is named.
pub(crate) fn brief(costs: &[Costs<'_>]) -> Vec<Vec<Span>> {
    let outcomes: Vec<Outcome<'_>> = costs.iter().map(Costs::outcome).collect();
    let mut sentences = match costs.len() {
        0 => return Vec::new(),
        1..=MOST_APART => costs.iter().zip(&outcomes).map(|(costs, of)| alone(&costs.title, of)).collect(),
        _ => together(costs, &outcomes),
    };
    // Nothing is worse than samples that do not arrive.
    sentences.truncate(MOST - 1);
    sentences.extend(lost(costs));
    sentences.extend(limits(costs));
    sentences.truncate(MOST);
    sentences
}

/// Returns the sentence about one driver.
fn alone(title: &str, of: &Outcome<'_>) -> Vec<Span> {
    let settings = count(of.compared, "setting");
    let mut spans = vec![Span::strong(title), Span::plain(": ")];
    if let Some(needs) = of.needs {
        spans.push(Span::plain(format!(
            "too few blocks to show what {settings} cost: at least {needs} are needed."
        )));
        return spans;
    }
    if of.worse.is_empty() && of.better.is_empty() {
        spans.push(Span::plain(format!("none of {settings} is shown to matter.")));
        return spans;
    }
    let mut is_first = true;
    for (all, word, most) in [(&of.worse, "worse", MOST_WORSE), (&of.better, "better", MOST_BETTER)] {
        if all.is_empty() {
            continue;
        }
        let (n, verb) = (all.len(), if all.len() == 1 { "is" } else { "are" });
        spans.push(Span::strong(match is_first {
            true => format!("{n} of {settings} {verb} {word}"),
            false => format!("{n} {verb} {word}"),
        }));
        spans.push(Span::plain(format!(": {}", named(all, most, false))));
        spans.push(Span::plain("; "));
        is_first = false;
    }
    spans.pop();
    spans.push(Span::plain("."));
    spans
}

/// Returns the sentences about many drivers: how many settings of each are worse and better, and the largest changes of all.
fn together(costs: &[Costs<'_>], outcomes: &[Outcome<'_>]) -> Vec<Vec<Span>> {
    let of_driver = |(costs, of): (&Costs<'_>, &Outcome<'_>)| {
        let words = match of.needs {
            Some(needs) => format!("too few blocks, at least {needs} are needed"),
            None => format!("{} worse and {} better of {}", of.worse.len(), of.better.len(), of.compared),
        };
        format!("{}: {words}", costs.title)
    };
    let all: Vec<String> = costs.iter().zip(outcomes).map(of_driver).collect();
    let mut sentences =
        vec![vec![Span::plain(format!("Settings that are shown to matter: {}.", all.join("; ")))]];
    for (word, most, is_better) in [("worse", MOST_WORSE + 1, false), ("better", MOST_BETTER, true)] {
        let changed = outcomes.iter().flat_map(|of| if is_better { &of.better } else { &of.worse });
        let mut changed: Vec<&Changed<'_>> = changed.collect();
        changed.sort_by(|left, right| right.pct.abs().total_cmp(&left.pct.abs()));
        if !changed.is_empty() {
            let named = named(changed, most, true);
            let heading = format!("The largest changes for the {word}");
            sentences.push(vec![Span::strong(heading), Span::plain(format!(": {named}."))]);
        }
    }
    sentences
}

/// Formats the first of these settings, and how many more the table has.
fn named<'c, 'd: 'c>(
    all: impl IntoIterator<Item = &'c Changed<'d>>,
    most: usize,
    has_titles: bool,
) -> String {
    let words = |changed: &Changed<'_>| {
        let of = if has_titles { format!("{} ", changed.of) } else { String::new() };
        format!("{of}{} ({} {})", changed.setting, changed.metric, signed(changed.pct))
    };
    let named: Vec<String> = all.into_iter().map(words).collect();
    TablePlace::Unstated.named(named, most)
}

/// Returns the settings that lost samples, which have no time.
fn lost(costs: &[Costs<'_>]) -> Option<Vec<Span>> {
    let of_driver = |costs: &'_ Costs<'_>| -> Vec<(String, bool)> {
        let is_without_time = |row: &&Row<'_>| {
            !row.is_baseline() && costs.columns.iter().all(|column| row.answer(*column).is_none())
        };
        let is_latency =
            |row: &Row<'_>| row.cells.iter().all(|cell| cell.factors.workload == Workload::Latency);
        let lost = costs.rows.iter().filter(is_without_time);
        lost.filter_map(|row| Some((format!("{} {}", costs.title, lost_words(row)?), is_latency(row))))
            .collect()
    };
    let lost: Vec<(String, bool)> = costs.iter().flat_map(of_driver).collect();
    if lost.is_empty() {
        return None;
    }
    let what = if lost.iter().all(|(_, is_latency)| *is_latency) { "round trips" } else { "samples" };
    let named = TablePlace::Unstated.named(lost.into_iter().map(|(words, _)| words), MOST_WORSE + 1);
    Some(vec![Span::strong("No time"), Span::plain(format!(", because {what} were lost: {named}."))])
}

/// Returns the smallest effect on the first metric that settings without a claim would typically have shown.
fn limits(costs: &[Costs<'_>]) -> Option<Vec<Span>> {
    let column = *costs.first()?.columns.first()?;
    let typical = |costs: &Costs<'_>| {
        let could: Vec<f64> = costs.rows.iter().filter_map(|row| row.could_have_seen(column)).collect();
        median(&could)
    };
    let all: Vec<f64> = costs.iter().filter_map(typical).collect();
    let (low, high) =
        all.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), pct| (low.min(*pct), high.max(*pct)));
    (!all.is_empty()).then(|| {
        vec![Span::plain(format!(
            "Typically, an effect of the others below {} of the {} would not have been shown.",
            format_effects([low, high]),
            costs[0].name(column)
        ))]
    })
}

impl<'d> Costs<'d> {
    fn outcome(&self) -> Outcome<'_> {
        let compared: Vec<&Row<'_>> = self
            .rows
            .iter()
            .filter(|row| {
                !row.is_baseline() && self.columns.iter().any(|column| row.answer(*column).is_some())
            })
            .collect();
        let changed = compared.iter().filter_map(|row| self.changed(row));
        let (mut worse, mut better): (Vec<Changed<'_>>, Vec<Changed<'_>>) =
            changed.partition(|changed| !changed.is_better);
        for all in [&mut worse, &mut better] {
            all.sort_by(|left, right| right.pct.abs().total_cmp(&left.pct.abs()));
        }
        Outcome { worse, better, compared: compared.len(), needs: self.lacking_blocks(&compared) }
    }

    /// Returns a setting with its largest claim; `None` without one that may be large enough to matter.
    fn changed<'r>(&'r self, row: &Row<'r>) -> Option<Changed<'r>> {
        let claim = |column: &Column| {
            let pct = row.claim(*column)?;
            let (Conclusion::Higher { better, .. } | Conclusion::Lower { better, .. }) =
                row.answer(*column)?.conclusion
            else {
                return None;
            };
            Some(Changed {
                of: &self.title,
                setting: row.setting,
                metric: self.name(*column),
                pct,
                is_better: better,
            })
        };
        let claims = self.columns.iter().filter_map(claim);
        claims.max_by(|left, right| {
            right.is_better.cmp(&left.is_better).then(left.pct.abs().total_cmp(&right.pct.abs()))
        })
    }
}
