//! Published figures beside measured values.

use charts::{BarGroup, ChartKind};
use experiment::{
    BuiltInFigures, Figure, Published, PublishedConditions, PublishedFigure, RttStatistic, Workload,
};
use html_report::{Page, Words};
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
        conditions: PublishedConditions {
            hardware: Some("two boards".to_owned()),
            ..PublishedConditions::default()
        },
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

/// Returns the sentences of the answer.
fn answer(page: &Page) -> Vec<String> {
    let text =
        |sentence: &Vec<Words>| sentence.iter().map(Words::text).collect::<String>().replace('\u{a0}', " ");
    page.answer.iter().map(text).collect()
}

#[test]
fn answer_says_how_measured_values_compare_with_published_ones() {
    let mut document = with_sizes(&[32, 1024]);
    for cell in document.cells.iter_mut().filter(|cell| cell.factors.workload == Workload::Latency) {
        let factor = if cell.factors.driver == "dds" { 3.0 } else { 1.0 };
        set_mean(cell, factor * 1_000.0 * cell.factors.size_bytes as f64);
    }
    let mut with = |system: &str, driver: &str, us: f64| {
        publish(&mut document, system, |cell| {
            let is_of = cell.factors.workload == Workload::Latency && cell.factors.driver == driver;
            is_of.then_some(us)
        });
    };
    with("Old DDS 1.0, latency", "dds", 100.0);
    with("Old sockets", "plain", 40.0);
    let found = page(&document);
    let sentences = answer(&found);
    assert!(sentences.len() <= 4, "{sentences:?}");
    // At 32 bytes 96 and 32 µs, at 1024 bytes far above what was published.
    assert_eq!(
        sentences.last().map(String::as_str),
        Some(
            "With 32 B, the mean round trip was published as 40.0 µs for Old sockets (here 32.0 µs with plain) and 100 µs for Old DDS 1.0 \
             (here 96.0 µs with dds); values here are lower in 2 and higher in 2 of 4 cases, an untested comparison: hardware differs, \
             middleware, transport, link and method are not named."
        )
    );
}

#[test]
fn of_many_published_values_the_closest_and_the_furthest_are_named() {
    let mut document = many(30, 1);
    document.cells.iter_mut().for_each(|cell| set_mean(cell, 50_000.0));
    publish(&mut document, "Old 1.0", |cell| {
        let way: f64 = cell.factors.transport.trim_start_matches("way-").parse().ok()?;
        Some(60.0 + way)
    });
    let sentences = answer(&page(&document));
    let last = sentences.last().expect("an answer");
    assert!(
        last.contains(
            "published as 60.0 µs for Old 1.0 (here 50.0 µs with way-0) and 89.0 µs for Old 1.0 (here 50.0 µs with way-29), the \
             closest and the furthest of 30; values here are lower in all 30 cases, an untested"
        ),
        "{last}"
    );
}

#[test]
fn answer_of_four_sentences_leaves_published_values_to_their_section() {
    let mut document = many(30, 1);
    document.experiment.design.baseline = vec![document.cells[0].id.clone()];
    publish(&mut document, "Old 1.0", |_| Some(60.0));
    let mut document = judged(document);
    for (index, verdict) in document.verdicts.iter_mut().enumerate() {
        let Some(answer) = &mut verdict.answer else { continue };
        answer.change_pct = Some(-5.0);
        answer.conclusion = match (index / 2) % 2 {
            0 => Conclusion::Lower { better: true, within_margin: false },
            _ => Conclusion::Higher { better: false, within_margin: false },
        };
    }
    let found = page(&document);
    let sentences = answer(&found);
    assert_eq!(sentences.len(), 4, "{sentences:?}");
    assert!(sentences[3].starts_with("Caution"), "{sentences:?}");
    assert!(found.published[0].starts_with("With 64"), "{:?}", found.published);
    assert!(found.published[1].starts_with("Source of Old 1.0: "), "{:?}", found.published);
}
