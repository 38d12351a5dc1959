//! Drawings of the gallery, as text.

use charts::{Colours, Width, plot, standalone, svg, table};

use crate::samples;

/// Joins the cells of a table.
fn text(table: &charts::Table) -> String {
    let lines = std::iter::once(&table.head).chain(&table.rows).map(|cells| cells.join(" | "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn charts_of_the_gallery() {
    for (name, chart) in samples::all() {
        insta::assert_snapshot!(name, svg(&chart, name, Width::Wide));
    }
}

#[test]
fn tables_of_the_gallery() {
    for (name, chart) in samples::all() {
        insta::assert_snapshot!(format!("{name}.table"), text(&table(&chart)));
    }
}

#[test]
fn files_of_their_own() {
    let (_, chart) = samples::all().into_iter().find(|(name, _)| *name == "trials").expect("a sample");
    insta::assert_snapshot!("standalone", standalone(&chart, Width::Narrow, Colours::Preferred));
    insta::assert_snapshot!("standalone.light", standalone(&chart, Width::Narrow, Colours::Light));
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    let draw = || -> Vec<String> { samples::all().iter().map(|(name, chart)| plot(chart, name)).collect() };
    assert_eq!(draw(), draw());
}

#[test]
fn rows_of_tables_are_as_long_as_their_head() {
    for (name, chart) in samples::all() {
        let table = table(&chart);
        assert!(table.rows.iter().all(|row| row.len() == table.head.len()), "{name}");
    }
}
