//! Page about many results.

use super::{charts_of, closed, head, markup::Markup, opened, tables};
use crate::{index::Index, page::plain};

/// Returns the page of an index as one file of HTML. It requests nothing, and every text from a result is inert. The links to
/// the pages of results are relative to it.
#[must_use]
pub fn index_html(index: &Index) -> String {
    let mut out = opened("Results of ddsmark", "Skip to the results");
    let summary: Vec<_> = index.summary().into_iter().map(|sentence| vec![plain(sentence)]).collect();
    out.raw("<header class=\"head\"><div>");
    head::words(
        &mut out,
        &["ddsmark report".to_owned()],
        "What did these results show, and what changed?",
        &summary,
    );
    out.raw("</div></header>\n<main id=\"main\">\n");
    let changes = index.change_table();
    let section = index.section();
    let histories = index.history_table();
    navigation(&mut out, section.is_some(), !changes.rows.is_empty(), !histories.rows.is_empty());
    if !changes.rows.is_empty() {
        out.raw("<section id=\"changes\"><h2>Changes of level</h2>\n");
        tables::of_data(&mut out, "Changes of level, each significant", &changes);
        out.raw("</section>\n");
    }
    // Before the results: a table of many nights is several screens long.
    if let Some(section) = &section {
        charts_of(&mut out, "", section);
    }
    if index.histories_without_chart() > 0 {
        let text = format!(
            "{} without a chart, which have no change or smaller ones, or are less wide.",
            report::parts::count(index.histories_without_chart(), "metric of cells")
        );
        out.element("p", " class=\"note\"", &text);
    }
    let (results, addresses) = index.result_table();
    out.raw("<section id=\"results\"><h2>Results</h2>\n");
    tables::of_links(&mut out, "Results, the newest first", &results, &addresses);
    out.raw("</section>\n");
    if !histories.rows.is_empty() {
        out.raw("<section id=\"histories\"><h2>All histories</h2>\n");
        let summary = report::parts::count(histories.rows.len(), "line");
        tables::folded(&mut out, &summary, "Metrics of cells over the results", &histories);
        out.raw("</section>\n");
    }
    closed(out, &Index::method())
}

fn navigation(out: &mut Markup, has_charts: bool, has_changes: bool, has_histories: bool) {
    let all = [
        (has_changes, "changes", "Changes"),
        (has_charts, "history-1", "Charts"),
        (true, "results", "Results"),
        (has_histories, "histories", "All histories"),
    ];
    out.raw("<nav aria-label=\"Sections\">");
    for (_, target, name) in all.iter().filter(|(is_there, ..)| *is_there) {
        out.element("a", &format!(" href=\"#{target}\""), name);
    }
    out.raw("</nav>\n");
}
