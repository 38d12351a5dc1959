//! Pages of all kinds of results: the choice of charts, their marks, and the HTML.

mod hostile;
mod index;
mod kinds;
mod marks;
mod outline;
mod overlay;
#[path = "../../../results/tests/sample/mod.rs"]
mod sample;
mod series;
mod simulated;
mod systems;
mod whole;

use html_report::Page;
use results::ResultDocument;

/// Returns the page of a result without windows of runs.
fn page(document: &ResultDocument) -> Page {
    html_report::page(document, &|_, _| Vec::new())
}

/// Returns the ids of the charts of a page, in their order.
fn charts(page: &Page) -> Vec<String> {
    page.sections.iter().flat_map(|section| &section.figures).map(|figure| figure.id.clone()).collect()
}

/// Returns a result with its findings and verdicts.
fn judged(document: ResultDocument) -> ResultDocument {
    let mut document = document;
    document.findings = findings::find(&document);
    document.verdicts = verdicts::judge(&document);
    document
}
