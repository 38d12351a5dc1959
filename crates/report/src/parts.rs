//! Parts of a result as texts and tables, for other forms of a report: the words and numbers of the text.

use experiment::{Figure, Policy};
use results::{CellResult, ConclusionWords, ResultDocument, Verdict, VerdictKind};

use crate::{
    costs, drivers, groups,
    layout::{self, Grid},
    links, published, settings, short_name,
    summary::{self, notes},
};
pub use crate::{
    costs::Span,
    fact::Fact,
    legend::legend,
    number::{count, date, duration},
    overlays::{differences_in_brief as published_differences, sources as published},
    part_data::{DataTable, NoteList},
    result_list::{state, valid_runs},
    shell::command,
    summary::facts,
    system::flow_at_reader,
    system_verdict::{SystemVerdict, of_document as system_verdicts},
};

/// Group of cells that share a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsGroup {
    /// Driver, middleware, transport, and how the reader receives.
    pub title: String,
    /// Effective QoS and settings, and what was requested.
    pub lines: Vec<String>,
}

/// Wraps a paragraph in lines of at most 120 columns; all but the first are indented.
#[must_use]
pub fn wrapped(text: &str) -> String {
    layout::wrap(text, layout::WIDTH, 0)
}

/// Returns a table as text, as wide as its values.
#[must_use]
pub fn table_text(table: &DataTable) -> String {
    Grid::from(table).render()
}

/// Returns the runs that failed or are invalid.
#[must_use]
pub fn failures(document: &ResultDocument) -> NoteList {
    notes::failures(document).into()
}

/// Returns the verdicts, those with the largest differences first.
#[must_use]
pub fn verdicts(document: &ResultDocument) -> NoteList {
    notes::verdicts(document).into()
}

/// Returns the heading of the verdicts, what limits them, and what they say about systems; [`verdict_table`] has each of them.
#[must_use]
pub fn verdicts_in_brief(document: &ResultDocument) -> NoteList {
    notes::verdicts_in_brief(document).into()
}

/// Returns a row for each comparison.
#[must_use]
pub fn verdict_table(document: &ResultDocument) -> DataTable {
    let compared = || document.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison);
    let has_flows = compared().any(|verdict| verdict.flow.is_some());
    let row = |verdict: &Verdict| {
        let ConclusionWords { conclusion, detail, interval, basis } = verdict.words();
        let verdict_words = if detail.is_empty() { conclusion } else { format!("{conclusion}: {detail}") };
        let mut row = vec![verdict.treatment.cell.clone(), verdict.baseline.cell.clone()];
        row.extend(has_flows.then(|| verdict.flow.clone().unwrap_or_default()));
        let metric =
            if verdict.flow.is_none() { verdict.metric_name() } else { verdict.metric.words().to_owned() };
        row.extend([metric, verdict_words, interval, basis]);
        row
    };
    let heads = ["Cell", "Against", "Flow", "Metric", "Verdict", "Interval", "Basis"];
    let heads = heads.into_iter().filter(|head| has_flows || *head != "Flow");
    let columns = heads.map(|head| (head.to_owned(), false)).collect();
    DataTable { title: String::new(), columns, rows: compared().map(row).collect() }
}

/// Returns the first sentence of each finding, the most important first.
#[must_use]
pub fn findings(document: &ResultDocument) -> NoteList {
    notes::findings(document).into()
}

/// Returns the warnings, one per kind.
#[must_use]
pub fn warnings(document: &ResultDocument) -> NoteList {
    notes::warnings(document).into()
}

/// Returns the costs of settings as sentences: the few that matter first, of all drivers; empty if the result compares few profiles.
#[must_use]
pub fn costs_in_words(document: &ResultDocument) -> Vec<String> {
    costs::sentences(&costs::costs(document), costs::TablePlace::Below)
}

/// Returns the costs of settings as a list of sentences; without items if the result compares few profiles.
#[must_use]
pub fn costs(document: &ResultDocument) -> NoteList {
    notes::costs(document, costs::TablePlace::Below).into()
}

/// Returns the costs of settings in at most four sentences, for an answer: the settings with the largest changes, those without a time, and
/// what would not have been shown. Empty if the result compares few profiles.
#[must_use]
pub fn costs_in_brief(document: &ResultDocument) -> Vec<Vec<Span>> {
    costs::brief(&costs::costs(document))
}

/// Returns the name of the measured value that a published figure is beside, without its unit.
#[must_use]
pub fn beside_figure(figure: Figure) -> String {
    let heading = published::heading(figure);
    heading.split(" (").next().unwrap_or(&heading).to_owned()
}

/// Returns the costs of settings, and the tables of the first screen, one per kind of workload, with all rows.
#[must_use]
pub fn tables(document: &ResultDocument) -> Vec<DataTable> {
    let of_costs = costs::costs(document).into_iter().flat_map(|costs| {
        let over_bases = costs.over_bases().map(|(words, grid)| DataTable::new(words, &grid));
        let title = format!("Cost of each setting: {}", costs.title);
        let published = costs.beside_published().into_iter();
        let published = published.map(|(title, grid)| DataTable::new(title, &grid));
        let costs = DataTable::new(title, &costs.table());
        std::iter::once(costs).chain(published).chain(over_bases).collect::<Vec<_>>()
    });
    of_costs.chain(summary::tables(document)).collect()
}

/// Returns the topics of systems that suffer first, with the columns that say whether their deadlines were met. The title says how many
/// rows are left out; `None` without systems.
#[must_use]
pub fn topics_in_brief(document: &ResultDocument) -> Option<DataTable> {
    const MOST_ROWS: usize = 12;
    const COLUMNS: [&str; 5] = ["Missed", "Limit", "Met", "Response p50", "p99"];
    let tables = summary::tables(document);
    let table = tables.iter().find(|table| table.title == summary::TOPICS)?;
    let position = |name: &&str| table.columns.iter().position(|(heading, _)| heading.starts_with(*name));
    let kept: Vec<usize> = std::iter::once(0).chain(COLUMNS.iter().filter_map(position)).collect();
    let row = |row: &Vec<String>| kept.iter().map(|index| row[*index].clone()).collect();
    let title = match table.rows.len().checked_sub(MOST_ROWS) {
        None | Some(0) => String::new(),
        Some(more) => format!("{} in the table of topics.", count(more, "more row")),
    };
    Some(DataTable {
        title,
        columns: std::iter::once(("Driver and topic".to_owned(), false))
            .chain(kept.iter().skip(1).map(|index| table.columns[*index].clone()))
            .collect(),
        rows: table.rows.iter().take(MOST_ROWS).map(row).collect(),
    })
}

/// Returns the conditions that hold for every run.
#[must_use]
pub fn conditions(document: &ResultDocument) -> String {
    settings::conditions(&document.experiment, &settings::runs(document))
}

/// Returns the groups of cells that share a curve, each with its settings.
#[must_use]
pub fn settings_groups(document: &ResultDocument) -> Vec<SettingsGroup> {
    let groups = document.curves();
    let group = |cells: &Vec<&CellResult>| SettingsGroup {
        title: groups::title(document, cells),
        lines: groups::settings(document, cells),
    };
    groups.iter().map(group).collect()
}

/// Returns the support of each QoS policy by the measured drivers, and the remarks of the drivers.
#[must_use]
pub fn policies(document: &ResultDocument) -> DataTable {
    let is_measured = |name: &str| document.cells.iter().any(|cell| cell.factors.driver == name);
    let drivers: Vec<_> = document.drivers.iter().filter(|(name, _)| is_measured(name)).collect();
    let mut columns = vec![("Policy".to_owned(), false)];
    columns.extend(drivers.iter().map(|(name, _)| (short_name(name).to_owned(), false)));
    let row = |policy: &Policy| {
        let support = drivers.iter().map(|(_, driver)| {
            let words = drivers::support_of_ends(driver.support_of_ends(*policy));
            let note = driver.policies.get(policy).and_then(|support| support.note.as_deref());
            note.map_or_else(|| words.clone(), |note| format!("{words}: {note}"))
        });
        std::iter::once(policy.to_string()).chain(support).collect()
    };
    let rows = if drivers.is_empty() { Vec::new() } else { Policy::ALL.iter().map(row).collect() };
    DataTable { title: String::new(), columns, rows }
}

/// Returns the frames on the links of a lab, one table per group; empty if none was dropped or sent late.
#[must_use]
pub fn link_tables(document: &ResultDocument) -> Vec<DataTable> {
    let groups = document.curves();
    let table = |cells: &Vec<&CellResult>| {
        let grid = links::shown(cells)?;
        Some(DataTable::new(groups::title(document, cells), &grid))
    };
    groups.iter().filter_map(table).collect()
}
