//! Markdown: valid tables, the values of the JSON, and text of a result that cannot change the structure.

use insta::assert_snapshot;
use report::{ScreenOptions, first_screen, markdown};
use results::{ResultDocument, format_value};

use crate::sample;

/// Splits a row of a table at the bars that are not escaped.
fn entries(row: &str) -> Vec<String> {
    let row = row.replace("\\|", "\u{0}");
    row.trim_matches('|').split('|').map(|entry| entry.trim().replace('\u{0}', "|")).collect()
}

/// Returns the tables: the lines that begin with a bar, in groups.
fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    let lines: Vec<&str> = text.lines().collect();
    let groups = lines.chunk_by(|left, right| left.starts_with('|') == right.starts_with('|'));
    let tables = groups.filter(|group| group[0].starts_with('|'));
    tables.map(|table| table.iter().map(|row| entries(row)).collect()).collect()
}

fn judged(mut document: ResultDocument) -> ResultDocument {
    document.findings = findings::find(&document);
    document.verdicts = verdicts::judge(&document);
    document
}

fn documents() -> [ResultDocument; 3] {
    let paced = sample::paced::header(&[sample::paced::constant(1000), sample::paced::constant(10_000)], &[]);
    [
        judged(sample::document()),
        judged(sample::paced::document_with(&paced, |_| ())),
        judged(sample::search::document_with(|_| ())),
    ]
}

#[test]
fn text_of_a_result() {
    assert_snapshot!("markdown", markdown(&judged(sample::document())));
}

#[test]
fn every_row_of_a_table_has_all_columns() {
    for document in documents() {
        let text = markdown(&document);
        let tables = tables(&text);
        assert!(!tables.is_empty());
        for table in tables {
            assert!(table.len() > 2 && table[1].iter().all(|entry| entry.starts_with("---")), "{table:?}");
            assert!(table.iter().all(|row| row.len() == table[0].len()), "{table:?}");
        }
    }
}

#[test]
fn rates_are_those_of_the_json() {
    let document = judged(sample::document());
    let tables = tables(&markdown(&document));
    let column = tables[0][0].iter().position(|heading| heading == "Samples/s").expect("a column");
    let shown: Vec<&str> =
        tables[0][2..].iter().filter_map(|row| row[column].split('\u{a0}').next()).collect();
    let rates = document.cells.iter().filter_map(|cell| cell.throughput.as_ref());
    for rate in rates.map(|throughput| format_value(throughput.delivered_sps)) {
        assert!(shown.contains(&rate.as_str()), "{rate}: {shown:?}");
    }
}

#[test]
fn findings_are_those_of_the_first_screen() {
    let document = judged(sample::document());
    let screen = first_screen(&document, ScreenOptions::default());
    let text = markdown(&document);
    let finding = document.findings.first().expect("a finding");
    let begin: String = finding.text.split(' ').take(4).collect::<Vec<_>>().join(" ");
    assert!(screen.contains(&begin) && text.contains(&format!("- {begin}")), "{text}");
}

#[test]
fn names_cannot_add_columns_or_html() {
    let mut document = judged(sample::document());
    document.experiment.name = "a | b\n| c <img src=x>".to_owned();
    document.hosts[0].properties.name = "<script>".to_owned();
    let text = markdown(&document);
    assert!(text.starts_with("### ") && !text.contains("<img") && !text.contains("<script>"), "{text}");
    assert_eq!(tables(&text).len(), tables(&markdown(&judged(sample::document()))).len());
}
