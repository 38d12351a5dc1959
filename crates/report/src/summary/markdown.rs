//! A result as Markdown, for a comment on a pull request: the parts of the first screen, without a terminal's limits.

use std::fmt::Write as _;

use results::ResultDocument;

use super::{head, legend, notes, notes::Section, rows};
use crate::{
    costs::{self, TablePlace},
    markdown::text,
    number::count,
};

/// Maximum number of rows of a table.
const ROWS: usize = 60;
/// Maximum number of items of a section.
const ITEMS: usize = 20;

/// Formats a result as GitHub-flavoured Markdown: a title, what was measured and where, one table per kind of
/// workload, and findings, verdicts, failures and warnings as lists.
#[must_use]
pub fn markdown(document: &ResultDocument) -> String {
    let mut markdown = format!("### {}\n\n", text(&head::title(document).1));
    for fact in head::command(document).into_iter().chain(head::facts(document)) {
        let _ = writeln!(markdown, "- {}", text(&fact.to_string()));
    }
    if document.cells.is_empty() {
        markdown.push_str("\nNo cell was planned.\n");
    }
    let tables = rows::tables(document);
    let mut shown = String::new();
    for table in &tables {
        if tables.len() > 1 && !table.title.is_empty() {
            let _ = writeln!(shown, "\n**{}**", table.title);
        }
        let selected = table.select(ROWS);
        let _ = write!(shown, "\n{}", table.grid(&selected).markdown());
        if selected.len() < table.rows.len() {
            let _ = writeln!(shown, "\n{} not shown.", count(table.rows.len() - selected.len(), "more row"));
        }
    }
    if !document.cells.is_empty() {
        let legend = legend(document, &shown);
        let _ = writeln!(markdown, "{shown}\n{}.", text(&legend));
    }
    for costs in costs::costs(document) {
        let _ = write!(
            markdown,
            "\n**Cost of each setting: {}**\n\n{}",
            text(&costs.title),
            costs.table().markdown()
        );
        for (title, table) in costs.beside_published() {
            let (title, meaning) = (text(&title), text(costs::BESIDE_PUBLISHED));
            let _ = write!(markdown, "\n**{title}**\n\n{}\n{meaning}\n", table.markdown());
        }
        if let Some((words, table)) = costs.over_bases() {
            let _ = write!(markdown, "\n{}\n\n{}", text(&words), table.markdown());
        }
    }
    for section in notes::sections(document, TablePlace::Above) {
        markdown.push_str(&list(&section));
    }
    markdown
}

/// Formats a section as a list; empty without items.
fn list(section: &Section) -> String {
    if section.items.is_empty() {
        return String::new();
    }
    let mut markdown = format!("\n**{}**\n\n", text(&section.heading));
    for item in section.items.iter().take(ITEMS) {
        let hint = item.hint.as_ref().map_or_else(String::new, |hint| format!(" Hint: {}", text(hint)));
        let _ = writeln!(markdown, "- {}{hint}", text(&item.text));
    }
    if section.items.len() > ITEMS {
        let noun = format!("more {}", section.noun);
        let _ = writeln!(markdown, "- {}", count(section.items.len() - ITEMS, &noun));
    }
    markdown
}
