//! Whole pages: their words, their size, and that they are written alike twice.

use insta::assert_snapshot;
use results::{Assembler, State};

use crate::{judged, kinds::many, outline::outline, page, sample};

#[test]
fn words_of_a_complete_result() {
    assert_snapshot!(outline(&page(&judged(sample::document()))));
}

#[test]
fn words_of_an_interrupted_result_without_values() {
    let mut assembler = Assembler::new(sample::header());
    for (run, _) in sample::runs().into_iter().take(2) {
        assembler.add(sample::failed(&run), &results::Histograms::new());
    }
    let document = judged(assembler.document(State::Interrupted));
    let page = page(&document);
    assert_snapshot!(outline(&page));
    assert!(html_report::html(&page).contains("interrupted"));
}

#[test]
fn same_result_is_the_same_page() {
    let document = judged(sample::document());
    let once = html_report::html(&page(&document));
    assert_eq!(html_report::html(&page(&document)), once);
    assert_eq!(html_report::svgs(&page(&document)), html_report::svgs(&page(&document)));
}

#[test]
fn result_without_hosts_and_cells_is_a_page() {
    let mut document = sample::document();
    document.cells.clear();
    document.hosts.clear();
    document.blocks.clear();
    document.drivers.clear();
    let html = html_report::html(&page(&document));
    assert!(html.contains("No run has a value"), "the answer says so");
}

#[test]
fn hundreds_of_runs_are_below_two_megabytes() {
    let document = judged(many(10, 17));
    let runs: usize = document.cells.iter().map(|cell| cell.runs.len()).sum();
    assert!(runs >= 500, "{runs}");
    let html = html_report::html(&page(&document));
    assert!(html.len() < 2_000_000, "{}", html.len());
}

#[test]
fn ten_thousand_cells_without_a_common_curve_are_judged_and_shown() {
    let document = judged(many(10_000, 1));
    assert_eq!(document.curves().len(), 10_000);
    let page = page(&document);
    assert_eq!(page.rows.rows.len(), document.cells.iter().map(|cell| cell.runs.len()).sum::<usize>());
    assert!(html_report::html(&page).contains("dds/way-9999/64"));
}

#[test]
fn ten_thousand_cells_are_a_page_with_all_rows() {
    let document = many(200, 50);
    let page = page(&document);
    assert_eq!(page.rows.rows.len(), document.cells.iter().map(|cell| cell.runs.len()).sum::<usize>());
    let html = html_report::html(&page);
    assert!(html.contains("dds/way-199/456"));
    let elements = html.matches("<td").count();
    assert!(elements < 20_000, "{elements}");
}
