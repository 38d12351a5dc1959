//! Published figures beside measured values.

use charts::{BarGroup, ChartKind};
use experiment::{BuiltInFigures, Figure, Published, PublishedConditions, PublishedFigure, RttStatistic};
use results::{CellResult, Conclusion, ResultDocument};

use crate::{
    charts, judged,
    kinds::{chart, many, with_sizes},
    page,
};

#[test]
fn published_figures_are_beside_the_measured_ones_in_a_chart() {
    let published = |name: &str, sizes: &[u64]| {
        let mut document = with_sizes(sizes);
        let figures = BuiltInFigures::find(name).expect("published figures");
        document.show_published(figures.beside(&document.experiment));
        (page(&document), document)
    };
    // Means, which the curve of medians does not have; of each of two sizes one bar is measured.
    let (found, document) = published("seed-004", &[32, 64, 1024]);
    let figure = &chart(&found, "published-latency").chart;
    let ChartKind::Bars(bars) = &figure.kind else { panic!("bars") };
    let cell = document.cells.iter().find(|cell| cell.published.len() > 1).expect("a cell");
    let [group, published_group] = &bars.groups[..2] else { panic!("two groups") };
    assert!(figure.title.ends_with(": RTT mean"), "{}", figure.title);
    let measured = cell.published[0].measured.as_ref().expect("runs");
    assert_eq!(group.bars[0].total.value, measured.median);
    assert_eq!((group.label.as_str(), group.bars.len()), ("32\u{a0}B", 2), "both configurations");
    // What both have beside them is there once, with what tells it apart; the subtitle has the rest.
    assert_eq!(names(published_group), ["on Linux, lower end", "on Linux, upper end"]);
    assert_eq!(published_group.label, "32\u{a0}B, published");
    // The study has one value for all sizes.
    let last = bars.groups.last().expect("a group");
    assert_eq!((last.label.as_str(), names(last)), ("published", vec!["on Windows"]));
    assert_eq!(published_group.bars[0].total.value, 180_000.0, "twice the published half of 90 µs");
    assert!(figure.subtitle.contains("published: Fast RTPS, 1 subscriber"), "{}", figure.subtitle);
    assert!(found.published.iter().any(|text| text.starts_with("Differences of ")), "{:?}", found.published);
    // The curves of medians and rates have these, and no bars.
    let (found, _) = published("seed-000", &[32, 1024]);
    let ids = charts(&found);
    assert!(!ids.iter().any(|id| id.starts_with("published")), "{ids:?}");
    // One size has no curve.
    let (found, _) = published("seed-000", &[1024]);
    let ids = charts(&found);
    assert!(ids.contains(&"published-throughput".to_owned()), "{ids:?}");
}

/// Adds a table of published figures with the value of each cell, where it has one.
fn publish(document: &mut ResultDocument, system: &str, value: impl Fn(&CellResult) -> Option<f64>) {
    let figure = |cell: &CellResult| {
        Some(PublishedFigure {
            cell: cell.id.clone(),
            batch_bytes: 0,
            figure: Figure::Rtt(RttStatistic::Mean),
            value: value(cell)?,
        })
    };
    let figures = document.cells.iter().filter_map(figure).collect();
    document.show_published(vec![Published {
        system: system.to_owned(),
        source: "A book".to_owned(),
        note: String::new(),
        conditions: PublishedConditions::default(),
        repeats: None,
        figures,
    }]);
}

/// Sets the mean round-trip time of all runs of a cell.
fn set_mean(cell: &mut CellResult, ns: f64) {
    cell.runs.iter_mut().for_each(|run| run.latency.get_mut("rtt").expect("round trips").mean_ns = ns);
}

/// Returns the groups of bars for round trips, and the note.
fn bars(document: &ResultDocument) -> (Vec<BarGroup>, String) {
    let page = page(document);
    let figure = &chart(&page, "published-latency").chart;
    let ChartKind::Bars(bars) = &figure.kind else { panic!("bars") };
    (bars.groups.clone(), figure.note.clone())
}

fn names(group: &BarGroup) -> Vec<&str> {
    group.bars.iter().map(|bar| bar.series.name.as_str()).collect()
}

#[test]
fn bars_of_many_configurations_show_those_that_differ_most_and_say_why() {
    let mut document = many(30, 1);
    set_mean(&mut document.cells[17], 9e6);
    publish(&mut document, "Old 1.0", |_| Some(100.0));
    let (groups, note) = bars(&document);
    let [measured, published] = &groups[..] else { panic!("{groups:?}") };
    assert_eq!((measured.bars.len(), names(published)), (12, vec!["published"]));
    assert!(
        names(measured).iter().any(|name| name.starts_with("way-17 ") || *name == "way-17"),
        "{measured:?}"
    );
    assert!(
        note.contains(" Shows 12 of 30 cells, those furthest from the median of all; the text"),
        "{note}"
    );
    let [treatment, baseline] = [21, 23].map(|index| document.cells[index].id.clone());
    document.experiment.design.baseline = vec![baseline];
    let mut document = judged(document);
    for verdict in &mut document.verdicts {
        let Some(answer) = &mut verdict.answer else { continue };
        answer.change_pct = Some(-5.0);
        answer.conclusion = match verdict.treatment.cell == treatment {
            true => Conclusion::Lower { better: true, within_margin: false },
            false => Conclusion::Inconclusive { could_have_seen_pct: None },
        };
    }
    let (groups, note) = bars(&document);
    let has = |name: &str| names(&groups[0]).iter().any(|of| of.split(' ').next() == Some(name));
    assert!(["way-17", "way-21", "way-23"].into_iter().all(has), "{:?}", names(&groups[0]));
    assert!(
        note.contains("12 of 30 cells, those with the largest differences that verdicts show and"),
        "{note}"
    );
}

#[test]
fn values_of_one_system_for_several_cells_are_below_their_own_cells() {
    let mut document = many(20, 1);
    for setup in 1..=6 {
        let way = |cell: &CellResult| cell.factors.transport.trim_start_matches("way-").parse::<f64>();
        publish(&mut document, &format!("Old, setup {setup}"), |cell| way(cell).ok());
    }
    let (groups, note) = bars(&document);
    // 36 bars have room for 5 cells with 6 published values each.
    assert_eq!(groups.len(), 10);
    for pair in groups.chunks(2) {
        let [measured, published] = pair else { panic!("{pair:?}") };
        assert_eq!((measured.label.as_str(), published.label.as_str()), ("measured", "published"));
        assert_eq!((measured.bars.len(), published.bars.len()), (1, 6));
        let way = names(measured)[0].split(' ').next().and_then(|name| name.strip_prefix("way-"));
        let value = way.and_then(|way| way.parse::<f64>().ok()).expect("a number") * 1_000.0;
        assert!(published.bars.iter().all(|bar| bar.total.value == value), "{pair:?}");
    }
    assert!(note.contains(" Shows 5 of 20 cells, those furthest"), "{note}");
}

#[test]
fn bars_of_many_sizes_are_those_of_three() {
    let mut document = many(4, 7);
    for system in ["Old 1.0", "Old 2.0"] {
        publish(&mut document, system, |cell| Some(cell.factors.size_bytes as f64));
    }
    let (groups, note) = bars(&document);
    let labels: Vec<String> = groups.iter().map(|group| group.label.replace('\u{a0}', " ")).collect();
    assert_eq!(labels, ["64 B", "64 B, published", "88 B", "88 B, published", "112 B", "112 B, published"]);
    assert!(groups.iter().step_by(2).all(|group| group.bars.len() == 4), "{groups:?}");
    assert!(note.contains(" Shows 12 of 28 cells, at 3 of 7 sizes; the text of the report"), "{note}");
}
