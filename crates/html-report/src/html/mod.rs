//! A page as HTML.

mod head;
mod index;
mod markup;
mod tables;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use charts::{better_words, prose, stylesheet};

use crate::page::{Page, Section};
pub use index::index_html;
use markup::{Markup, escaped};

/// Layout of the page; the colours and marks are those of charts.
const STYLE: &str = include_str!("style.css");
/// Tooltips, sorting, copying and the way back to an index. The page is complete without it.
const SCRIPT: &str = include_str!("script.js");
/// Maximum number of items of a list.
const MOST_ITEMS: usize = 200;

/// Returns a page as one file of HTML. It requests nothing, and every text from a result is inert.
#[must_use]
pub fn html(page: &Page) -> String {
    let mut out = opened(&page.title, "Skip to the charts");
    head::head(&mut out, page);
    out.raw("<main id=\"main\">\n");
    head::key_figures(&mut out, page);
    let mut body = Markup::default();
    head::topics(&mut body, page);
    page.sections.iter().for_each(|section| charts_of(&mut body, &page.origin, section));
    page.omitted.iter().for_each(|text| body.element("p", " class=\"note\"", text));
    notes(&mut body, page);
    settings(&mut body, page);
    published(&mut body, page);
    rows(&mut body, page);
    out.navigated(&body);
    closed(out, std::slice::from_ref(&page.footer))
}

/// Begins a file: its policy, its styles, and a link to its main part.
fn opened(title: &str, skip: &str) -> Markup {
    let mut out = Markup::default();
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT)
    );
    out.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n");
    out.raw(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"/>\n"));
    out.raw("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n");
    out.raw("<meta name=\"color-scheme\" content=\"light dark\"/>\n");
    out.element("title", "", title);
    out.raw(&format!("\n<style id=\"charts-style\">{}</style>\n<style>{STYLE}</style>\n", stylesheet()));
    out.raw("</head><body>\n");
    out.element("a", " class=\"skip\" href=\"#main\"", skip);
    out.raw("\n");
    out
}

/// Ends a file: the main part, these paragraphs, and the script.
fn closed(mut out: Markup, footer: &[String]) -> String {
    out.raw("</main>\n<footer>");
    footer.iter().for_each(|text| out.code_element("p", "", text));
    out.raw(&format!("</footer>\n<script>{SCRIPT}</script>\n</body></html>\n"));
    out.text()
}

/// Returns the SHA-256 of a script in the form of a policy.
fn hash(script: &str) -> String {
    let hex = results::sha256(script.as_bytes());
    let byte = |pair: &[u8]| {
        let digits = std::str::from_utf8(pair).unwrap_or("0");
        u8::from_str_radix(digits, 16).unwrap_or(0)
    };
    STANDARD.encode(hex.as_bytes().chunks(2).map(byte).collect::<Vec<u8>>())
}

/// Writes the charts under their heading, each with its table. `origin` is their host and date.
fn charts_of(out: &mut Markup, origin: &str, section: &Section) {
    let id = section.figures.first().map_or_else(String::new, |figure| format!("charts-{}", figure.id));
    out.section(&id, "charts", section.heading, "");
    out.raw("<div class=\"grid\">\n");
    for figure in &section.figures {
        out.place(&figure.id, figure.short);
        let chart = &figure.chart;
        out.raw(&format!("<figure id=\"{}\" class=\"fig\"><figcaption>", escaped(&figure.id)));
        out.element("h3", "", &prose(&chart.title));
        out.raw("<p class=\"sub\">");
        if let Some(better) = chart.better {
            out.element("span", " class=\"better\"", better_words(better));
            out.raw(" · ");
        }
        out.prose(&chart.subtitle);
        if !origin.is_empty() {
            out.words(&format!(" · {origin}"));
        }
        out.raw("</p></figcaption>");
        out.raw(&charts::plot(chart, &figure.id));
        if !chart.note.is_empty() {
            out.element("p", " class=\"note\"", &prose(&chart.note));
        }
        out.raw("<details class=\"data\"><summary>Table of this chart</summary>");
        tables::of_chart(out, &chart.title, &charts::table(chart));
        out.raw("</details></figure>\n");
    }
    out.raw("</div>");
    out.section_end();
}

/// Writes failures, verdicts, findings and warnings.
fn notes(out: &mut Markup, page: &Page) {
    if page.notes.is_empty() && page.verdicts.is_none() {
        return;
    }
    out.section("notes", "", "Findings and warnings", "Findings and warnings");
    if let Some(table) = &page.verdicts {
        let summary = format!("All {}", report::parts::count(table.rows.len(), "comparison"));
        tables::folded(out, &summary, "Verdicts, one comparison per row", table);
    }
    for list in &page.notes {
        out.element("h3", " class=\"list\"", &list.heading);
        out.raw("<ul class=\"notes\">");
        for (text, hint) in list.items.iter().take(MOST_ITEMS) {
            out.raw("<li>");
            out.code_words(text);
            if let Some(hint) = hint {
                out.raw("<br/>");
                out.code_element("span", " class=\"hint\"", &format!("hint: {hint}"));
            }
            out.raw("</li>");
        }
        if list.items.len() > MOST_ITEMS {
            let text = format!("{} more: `ddsmark report DIR --full`", list.items.len() - MOST_ITEMS);
            out.code_element("li", "", &text);
        }
        out.raw("</ul>\n");
    }
    out.section_end();
}

/// Writes the facts, settings, support of policies, links and the command.
fn settings(out: &mut Markup, page: &Page) {
    out.section("settings", "", "Settings and hosts", "Settings");
    out.raw("<dl>");
    for (name, text) in &page.facts {
        out.raw("<div>");
        out.element("dt", "", name);
        out.code_element("dd", "", text);
        out.raw("</div>");
    }
    out.raw("</dl>\n");
    let groups = &page.settings;
    if !groups.is_empty() {
        out.raw("<details class=\"more\"><summary>Effective QoS and settings, read back</summary>");
        for group in groups.iter().take(MOST_ITEMS) {
            out.element("h3", " class=\"list\"", &group.title);
            list(out, &group.lines);
        }
        if groups.len() > MOST_ITEMS {
            let more = format!(
                "{} more groups of cells: see `ddsmark report DIR --full`.",
                groups.len() - MOST_ITEMS
            );
            out.element("p", " class=\"note\"", &more);
        }
        out.raw("</details>\n");
    }
    if !page.policies.rows.is_empty() {
        let summary = "Support of each QoS policy";
        tables::folded(out, summary, "Support of each QoS policy by the drivers", &page.policies);
    }
    for table in &page.links {
        let of_table = if page.links.len() > 1 { format!(": {}", table.title) } else { String::new() };
        tables::folded(out, &format!("Frames on the links{of_table}"), &table.title, table);
    }
    if let Some(command) = &page.command {
        out.element("h3", " class=\"list\" id=\"repeat\"", "Repeat this measurement");
        out.place("repeat", "Command");
        out.raw("<pre tabindex=\"0\"><code>");
        out.words(command);
        out.raw("</code></pre>\n");
    }
    out.section_end();
}

/// Writes the sources of published figures, and what differs.
fn published(out: &mut Markup, page: &Page) {
    if page.published.is_empty() {
        return;
    }
    out.section("published-figures", "", "Published figures, of other hosts", "Published figures");
    list(out, &page.published);
    out.section_end();
}

fn list(out: &mut Markup, texts: &[String]) {
    out.raw("<ul class=\"notes\">");
    texts.iter().for_each(|text| out.element("li", "", text));
    out.raw("</ul>");
}

/// Writes the tables of all cells and runs, and what their headings mean.
fn rows(out: &mut Markup, page: &Page) {
    out.section("rows", "", "All rows", "Rows");
    for table in &page.cells {
        let title = if table.title.is_empty() { "Cells" } else { &table.title };
        let summary = format!("{title}: {}", report::parts::count(table.rows.len(), "row"));
        tables::folded(out, &summary, title, table);
    }
    let summary = report::parts::count(page.rows.rows.len(), "run");
    tables::folded(out, &summary, "All runs in the order of execution", &page.rows);
    if !page.legend.is_empty() {
        out.raw("<details class=\"more\"><summary>What the headings mean</summary>");
        page.legend.iter().for_each(|text| out.element("p", "", text));
        out.raw("</details>\n");
    }
    out.section_end();
}
