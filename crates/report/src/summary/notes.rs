//! Findings, verdicts, failures and warnings of the first screen.

use std::collections::{BTreeMap, BTreeSet};

use experiment::gather;
use results::{
    CellResult, Conclusion, Finding, FindingKind, ResultDocument, Run, RunState, SteadyClass, Verdict,
    VerdictKind, WarningKind,
};

use super::line::{Kind, Line, wrapped};
use crate::{
    costs::{self, TablePlace},
    hosts,
    number::count,
    part_data::NoteList,
    progress::of_others,
    system_verdict,
    verdicts::against,
};

/// Maximum number of lines of an item.
const LINES_PER_ITEM: usize = 3;

/// Text of a section.
pub(crate) struct Item {
    kind: Kind,
    /// Text, which may be wrapped.
    pub text: String,
    /// Advice that goes with it.
    pub hint: Option<String>,
    /// Maximum number of lines of the text.
    most: usize,
}

impl Item {
    fn new(kind: Kind, text: impl Into<String>, most: usize) -> Self {
        Self { kind, text: text.into(), hint: None, most }
    }

    fn lines(&self, width: usize) -> Vec<Line> {
        let mut lines = self.begin(width, self.most);
        let hint = self.hint.iter().map(|hint| format!("hint: {hint}"));
        lines.extend(hint.flat_map(|hint| wrapped(Kind::Plain, &hint, width, 4, 1)));
        lines
    }

    /// Returns the text in at most `most` lines.
    fn begin(&self, width: usize, most: usize) -> Vec<Line> {
        wrapped(self.kind, &self.text, width, 2, most)
    }
}

/// Part below the tables: a heading, and items of which the first ones are shown.
pub(crate) struct Section {
    /// Line above the items.
    pub heading: String,
    /// Items, the most important first.
    pub items: Vec<Item>,
    /// Name of an item that is not shown, in the singular.
    pub noun: &'static str,
    /// Short name of each item, to list those that are not shown; may be empty.
    names: Vec<String>,
    /// Lines that it gets before any section gets more.
    pub least: usize,
    /// Lines for which rows of tables are left out.
    pub usual: usize,
    /// Lines for which the picture is left out.
    pub kept: usize,
}

impl From<Section> for NoteList {
    fn from(section: Section) -> Self {
        let items = section.items.into_iter().map(|item| (item.text, item.hint));
        Self { heading: section.heading, items: items.collect() }
    }
}

impl Section {
    fn new(heading: impl Into<String>, noun: &'static str, items: Vec<Item>) -> Self {
        Self { heading: heading.into(), items, noun, names: Vec::new(), least: 4, usual: 5, kept: 4 }
    }

    /// Returns the number of lines of the whole section; 0 without items.
    pub fn lines(&self, width: usize) -> usize {
        let lines = self.items.iter().map(|item| item.lines(width).len()).sum::<usize>();
        if self.items.is_empty() { 0 } else { 2 + lines }
    }

    /// Returns the section within `most` lines: and of the first item at least its beginning. Items that do not fit are counted.
    pub(super) fn within(&self, most: usize, width: usize) -> Vec<Line> {
        if self.items.is_empty() || most < 3 {
            return Vec::new();
        }
        let mut lines = vec![Line::new(Kind::Plain, "")];
        lines.extend(wrapped(Kind::Heading, &self.heading, width, 0, 1));
        for (index, item) in self.items.iter().enumerate() {
            let left = self.items.len() - index;
            // the last item needs no line for the others
            let room = if left == 1 { most } else { most - 1 };
            let whole = item.lines(width);
            if lines.len() + whole.len() <= room {
                lines.extend(whole);
                continue;
            }
            let begun = match room.saturating_sub(lines.len()) {
                some if index == 0 && some > 0 => item.begin(width, some.min(item.most)),
                _ => Vec::new(),
            };
            let shown = if begun.is_empty() { index } else { 1 };
            let others = if shown == 0 { "" } else { "more " };
            lines.extend(begun);
            let names = self.names.get(shown..).unwrap_or_default().join(", ");
            let names = if names.is_empty() { names } else { format!(" ({names})") };
            if self.items.len() > shown {
                let text = format!(
                    "{}: `--full`{names}",
                    count(self.items.len() - shown, &format!("{others}{}", self.noun))
                );
                lines.extend(wrapped(Kind::Plain, &text, width, 2, 1));
            }
            break;
        }
        lines
    }
}

/// Returns the sections in the order in which they are shown; `table` is the place of the table of costs.
pub(crate) fn sections(document: &ResultDocument, table: TablePlace) -> [Section; 5] {
    [failures(document), costs(document, table), verdicts(document), findings(document), warnings(document)]
}

/// Returns which settings matter, a sentence each; without items if the result compares few. They are an
/// answer, and are not cut for others.
pub(crate) fn costs(document: &ResultDocument, table: TablePlace) -> Section {
    let costs = costs::costs(document);
    let over_bases = costs.iter().filter_map(costs::Costs::over_bases).map(|(words, _)| words);
    let words = costs::sentences(&costs, table).into_iter().chain(over_bases);
    let items = words.map(|words| Item::new(Kind::Plain, words, LINES_PER_ITEM)).collect();
    let section = Section::new("Cost of each setting", "sentence", items);
    Section { least: 11, usual: 11, kept: 11, ..section }
}

/// Returns the verdicts of a result, the largest differences first.
pub(crate) fn verdicts(document: &ResultDocument) -> Section {
    verdicts_with(document, headlines)
}

/// Returns the heading of the verdicts, what limits them, and what they say about systems, without each of them.
pub(crate) fn verdicts_in_brief(document: &ResultDocument) -> Section {
    verdicts_with(document, |_| Vec::new())
}

fn verdicts_with(document: &ResultDocument, headlines: fn(&[&Verdict]) -> Vec<String>) -> Section {
    let of = |kind| document.verdicts.iter().filter(move |verdict| verdict.kind == kind).collect::<Vec<_>>();
    let (floors, compared) = (of(VerdictKind::NoiseFloor), of(VerdictKind::Comparison));
    let conclusion = |verdict: &&&Verdict| verdict.answer.as_ref().map(|answer| answer.conclusion.clone());
    let differs = |verdict: &&&Verdict| conclusion(verdict).is_some_and(|conclusion| conclusion.differs());
    let is_equivalent =
        |verdict: &&&Verdict| matches!(conclusion(verdict), Some(Conclusion::Equivalent { .. }));
    let (different, equivalent) =
        (compared.iter().filter(differs).count(), compared.iter().filter(is_equivalent).count());
    let mut items = Vec::new();
    let wrong = floors.iter().filter(differs).count();
    if wrong > 0 {
        let text = format!(
            "CAUTION: {wrong} of {} of the baseline against itself differ: do not rely on differences of that size.",
            count(floors.len(), "comparison")
        );
        items.push(Item::new(Kind::Warning, text, LINES_PER_ITEM));
    }
    let sides = |verdict: &Verdict| (verdict.treatment.cell.clone(), verdict.baseline.cell.clone());
    let mut pairs: Vec<&[&Verdict]> = compared.chunk_by(|left, right| sides(left) == sides(right)).collect();
    let size = |verdicts: &[&Verdict]| {
        let changes = verdicts.iter().filter(differs);
        let change = |verdict: &&&Verdict| verdict.answer.as_ref()?.change_pct;
        changes.filter_map(|verdict| change(&verdict)).map(f64::abs).fold(-1.0, f64::max)
    };
    pairs.sort_by(|left, right| size(right).total_cmp(&size(left)));
    // what is said of a system as a whole comes before what is said of its topics
    let named = |pair: &[&Verdict]| {
        let (treatment, baseline) = sides(pair[0]);
        against(&treatment, &baseline)
    };
    for pair in &pairs {
        let system = system_verdict::line(pair).map(|line| format!("{}: {line}", named(pair)));
        items.extend(system.map(|text| Item::new(Kind::Plain, text, LINES_PER_ITEM)));
    }
    for pair in &pairs {
        let texts = headlines(pair);
        if texts.is_empty() {
            continue;
        }
        let text = format!("{}: {}", named(pair), texts.join("; "));
        items.push(Item::new(Kind::Plain, text, LINES_PER_ITEM));
    }
    let heading = format!(
        "Verdicts on {}: {different} different, {equivalent} equivalent, {} without a claim",
        count(compared.len(), "comparison"),
        compared.len() - different - equivalent
    );
    Section { usual: 6, kept: 6, ..Section::new(heading, "comparison", items) }
}

/// Returns the conclusions on a pair of cells. Many that lack blocks are one.
fn headlines(pair: &[&Verdict]) -> Vec<String> {
    let needs = |verdict: &Verdict| match verdict.answer.as_ref()?.conclusion {
        Conclusion::TooFew { needs } => Some(needs),
        _ => None,
    };
    let (few, others): (Vec<&Verdict>, Vec<&Verdict>) =
        pair.iter().copied().partition(|verdict| needs(verdict).is_some());
    let most = few.iter().filter_map(|verdict| needs(verdict)).max().unwrap_or(0);
    let least = few.iter().filter_map(|verdict| Some(verdict.answer.as_ref()?.n)).min().unwrap_or(0);
    let mut texts: Vec<String> = others.iter().map(|verdict| verdict.headline()).collect();
    match few.len() {
        0..=2 => texts.extend(few.iter().map(|verdict| verdict.headline())),
        n => texts.push(format!(
            "{n} comparisons have too few blocks for any claim: {least} of {most} that are needed"
        )),
    }
    texts
}

/// Returns the findings of a result, the most important first: the main sentence of each.
pub(crate) fn findings(document: &ResultDocument) -> Section {
    let mut findings: Vec<&Finding> = document.findings.iter().collect();
    findings.sort_by_key(|finding| importance(finding.kind));
    let items =
        findings.iter().map(|finding| Item::new(Kind::Plain, finding.headline.clone(), LINES_PER_ITEM));
    Section::new("Findings of these runs", "finding", items.collect())
}

/// Returns the rank of a finding: comparisons first, then limits, then topologies of curves.
const fn importance(kind: FindingKind) -> u8 {
    match kind {
        FindingKind::RttAdded | FindingKind::RttSaved => 0,
        FindingKind::LossWithoutGuarantee
        | FindingKind::LineRate
        | FindingKind::RingHop
        | FindingKind::PipelinedRing
        | FindingKind::ReaderBehind
        | FindingKind::WritersUneven => 1,
        FindingKind::Knee | FindingKind::FallsShort | FindingKind::NoneLossFree => 2,
        FindingKind::BestLossFree | FindingKind::HighestLossFree | FindingKind::NoKnee => 3,
        FindingKind::KneeUnclear | FindingKind::KeepsUp => 4,
        FindingKind::Plateau
        | FindingKind::StillGrows
        | FindingKind::FallsAgain
        | FindingKind::LinkNotFilled => 5,
        FindingKind::BatchingGains | FindingKind::BatchingCosts => 6,
        FindingKind::BatchingFront | FindingKind::BatchingOneBest => 7,
        FindingKind::ScalesLinearly
        | FindingKind::ScalesAsPower
        | FindingKind::ScalesWithBend
        | FindingKind::ScalesIrregularly => 8,
        FindingKind::RttAddedConstant | FindingKind::RttAddedVaries => 9,
        FindingKind::LatencyGrows | FindingKind::LatencyFlat => 10,
        FindingKind::NoLossWithoutGuarantee | FindingKind::WritersEven => 11,
    }
}

/// Returns the runs that failed or are invalid: an item per phase and error.
pub(crate) fn failures(document: &ResultDocument) -> Section {
    let what = |run: &&Run| match &run.failure {
        Some(failure) => {
            let whose = hosts::of_endpoint(document, run);
            format!("failed in phase `{}`{whose}: {}", failure.phase, failure.error)
        }
        None => {
            let why = run.warnings.first().map_or("no reason recorded", |warning| &warning.text);
            format!("invalid: {why}")
        }
    };
    let runs = document.cells.iter().flat_map(|cell| &cell.runs);
    let mut kinds = gather(runs.filter(|run| run.state != RunState::Valid), what, |_, _| true);
    kinds.sort_by_key(|runs| std::cmp::Reverse(runs.len()));
    let items = kinds.iter().map(|runs| {
        let what = what(&runs[0]);
        let hint = runs[0].failure.as_ref().and_then(|failure| failure.hint.as_deref());
        let cells: BTreeSet<&str> = runs.iter().map(|run| run.cell.as_str()).collect();
        let others = match cells.len() {
            1 => String::new(),
            n => format!(" and {}", count(n - 1, "other cell")),
        };
        let cell = document.cells.iter().find(|cell| cell.id == runs[0].cell);
        let remaining = cell.and_then(|cell| of_others(runs[0], &cell.factors));
        let remaining = remaining.map_or_else(String::new, |of| format!(" ({of})"));
        let text = format!("{} of `{}`{others} {what}{remaining}", count(runs.len(), "run"), runs[0].cell);
        Item { hint: hint.map(str::to_owned), ..Item::new(Kind::Failure, text, 2) }
    });
    Section { kept: 5, ..Section::new("Runs that do not count", "failure", items.collect()) }
}

/// Returns the warnings: a line per kind, with the number of its runs and cells.
pub(crate) fn warnings(document: &ResultDocument) -> Section {
    let mut cells: BTreeMap<WarningKind, Vec<&CellResult>> = BTreeMap::new();
    for cell in &document.cells {
        let kinds: BTreeSet<WarningKind> = cell.warnings.iter().map(|warning| warning.kind).collect();
        kinds.into_iter().for_each(|kind| cells.entry(kind).or_default().push(cell));
    }
    let of_all: BTreeSet<WarningKind> = document.warnings.iter().map(|warning| warning.kind).collect();
    let kinds: BTreeSet<WarningKind> = cells.keys().copied().chain(of_all).collect();
    // The head states what noise means, and the runs without values are listed by themselves.
    let is_unsteady = document.cells.iter().any(CellResult::is_mostly_unsteady);
    let kinds = kinds.into_iter().filter(|kind| is_unsteady || *kind != WarningKind::NotSteady);
    let kinds = kinds.filter_map(|kind| Some((kind, meaning(kind)?)));
    let mut names = Vec::new();
    let mut items: Vec<Item> = kinds
        .map(|(kind, meaning)| {
            names.push(name(kind));
            let of_kind = cells.get(&kind).map_or(&[][..], Vec::as_slice);
            let runs = of_kind.iter().flat_map(|cell| cell.valid_runs()).filter(|run| has(run, kind)).count();
            let counted = match (runs, of_kind.len()) {
                (_, 0) => String::new(),
                (0, cells) => format!(" ({})", count(cells, "cell")),
                (runs, cells) => format!(" ({} of {})", count(runs, "run"), count(cells, "cell")),
            };
            Item::new(Kind::Warning, format!("{meaning}{counted}"), 2)
        })
        .collect();
    if let Some(first) = document.experiment.notes.first() {
        names.push("notes".to_owned());
        let others = match document.experiment.notes.len() {
            1 => String::new(),
            n => format!(" ({}: `--full`)", count(n - 1, "more note")),
        };
        items.push(Item::new(Kind::Plain, format!("Plan: {first}{others}"), 2));
    }
    Section { names, ..Section::new("Warnings and notes", "warning", items) }
}

/// Returns the name of a kind of warning as in JSON, with spaces.
fn name(kind: WarningKind) -> String {
    let name = serde_json::to_value(kind).ok();
    let name = name.as_ref().and_then(serde_json::Value::as_str);
    name.unwrap_or_default().replace('_', " ")
}

/// Returns whether a valid run is one of those that a warning of its cell counts.
fn has(run: &Run, kind: WarningKind) -> bool {
    let counted = |of: fn(&results::DeliveryCounts) -> u64| run.counts().any(|counted| of(counted) > 0);
    match kind {
        WarningKind::Loss => counted(|counted| counted.lost),
        WarningKind::BufferDrops => run.udp_buffer_drops.is_some_and(|drops| drops > 0),
        WarningKind::Foreign => counted(|counted| counted.foreign),
        WarningKind::Corrupt => counted(|counted| counted.corrupt),
        WarningKind::Order => counted(|counted| counted.duplicate + counted.out_of_order),
        WarningKind::NotSteady => {
            run.steady_state.values().any(|state| state.verdict == SteadyClass::NoSteadyState)
        }
        kind => run.warnings.iter().any(|warning| warning.kind == kind),
    }
}

/// Returns the meaning of a kind of warning; `None` for runs without values, which are listed as failures, and for noise, of
/// which the head says what it means.
const fn meaning(kind: WarningKind) -> Option<&'static str> {
    Some(match kind {
        WarningKind::RunsFailed
        | WarningKind::RunsInvalid
        | WarningKind::Spread
        | WarningKind::Noisy
        | WarningKind::IdleCpu => return None,
        WarningKind::Loss => "Samples were lost.",
        WarningKind::Groups => "Runs of a cell form groups, so their median may be a value that no run has.",
        WarningKind::LatePings => "Pings that count as lost came back later: `--ping-timeout` waits longer.",
        WarningKind::OtherTraffic => "Counted packets include those of other programs.",
        WarningKind::BufferDrops => "The kernel dropped datagrams at full socket buffers.",
        WarningKind::Buffers => "Socket buffers are smaller than requested.",
        WarningKind::Batching => "Samples were batched differently than requested.",
        WarningKind::MulticastCopies => "More than one copy of each sample was sent by multicast.",
        WarningKind::HandedOver => {
            "Echoes were sent by a thread, not by the listener, so round trips are longer."
        }
        WarningKind::Foreign => "Samples arrived that do not belong to the run.",
        WarningKind::Corrupt => "Samples were damaged.",
        WarningKind::Order => "Samples were duplicated or out of order.",
        WarningKind::FewSamples => "Rates are counts of only a few samples.",
        WarningKind::Tail => "Samples arrived after the measurement and are not in the rate.",
        WarningKind::NotSteady => {
            "Most runs of a cell reached no steady state: its values depend on how long it is measured."
        }
        WarningKind::SenderLimited => "The sender was late: response times do not describe the middleware.",
        WarningKind::BackPressure => "The middleware accepted fewer samples than planned.",
        WarningKind::FewInFlight => "Far fewer samples were in flight than planned.",
        WarningKind::Unsent => "Planned samples were not sent.",
        WarningKind::Search => "A search did not find both bounds, or its trials contradict each other.",
        WarningKind::WritesRefused => "Write calls timed out or were rejected.",
        WarningKind::Incomplete => "A part of the samples or of the result is missing.",
        WarningKind::UncleanExit => "Agents failed after they had reported; the values are complete.",
        WarningKind::Host => "The host is not set up for measurements.",
        WarningKind::Duet => "Absolute values are under duet interference: compare only within this result.",
        WarningKind::OtherExperiment => "Another experiment ran on the host at the same time.",
        WarningKind::Reference => "A reference measurement failed.",
        WarningKind::Mixed => "The experiment was resumed in a changed environment.",
    })
}
