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
    let mut body = Markup::default();
    if !changes.rows.is_empty() {
        body.section("changes", "", "Changes of level", "Changes");
        tables::of_data(&mut body, "Changes of level, each significant", &changes);
        body.section_end();
    }
    // Before the results: a table of many nights is several screens long.
    if let Some(section) = &section {
        charts_of(&mut body, "", section);
    }
    if index.histories_without_chart() > 0 {
        let text = format!(
            "{} without a chart, which have no change or smaller ones, or are less wide.",
            report::parts::count(index.histories_without_chart(), "metric of cells")
        );
        body.element("p", " class=\"note\"", &text);
    }
    let (results, addresses) = index.result_table();
    body.section("results", "", "Results", "Results");
    tables::of_links(&mut body, "Results, the newest first", &results, &addresses);
    body.section_end();
    if !histories.rows.is_empty() {
        body.section("histories", "", "All histories", "All histories");
        let summary = report::parts::count(histories.rows.len(), "line");
        tables::folded(&mut body, &summary, "Metrics of cells over the results", &histories);
        body.section_end();
    }
    out.navigated(&body);
    closed(out, &Index::method())
}
