//! Published figures beside measured values: tables, Markdown, CSV and JSON have the same numbers.

use experiment::{Figure, Published, PublishedConditions, PublishedFigure, RttStatistic};
use insta::assert_snapshot;
use report::{csv, json, markdown, overlay_tables, overlays};
use results::{Assembler, CellResult, Histograms, ResultDocument, Run, State};
use serde_json::Value;

use crate::{print, sample};

const CELL: &str = "dds/udp4/latency/1024";

fn figure(cell: &str, batch_bytes: u64, figure: Figure, value: f64) -> PublishedFigure {
    PublishedFigure { cell: cell.to_owned(), batch_bytes, figure, value }
}

/// Returns the sample with published figures, and `repeat` times the runs of each cell.
fn document(repeat: u32) -> ResultDocument {
    let mut header = sample::header();
    let table = |system: &str, figures| Published {
        system: system.to_owned(),
        source: "A. Author, *Fast*, 2020".to_owned(),
        note: "Other hosts.".to_owned(),
        conditions: PublishedConditions::default(),
        repeats: None,
        figures,
    };
    let throughput = "dds/udp4/throughput";
    header.experiment.published = vec![
        table(
            "Old 1.0, latency",
            vec![
                figure(CELL, 0, Figure::HalfRtt(RttStatistic::P50), 355.0),
                figure(CELL, 0, Figure::Rtt(RttStatistic::P9999), 1000.5),
            ],
        ),
        table(
            "Old 1.0, unbatched",
            vec![
                figure(&format!("{throughput}/32"), 0, Figure::Delivered, 25_193.0),
                figure(&format!("{throughput}/32"), 0, Figure::Goodput, 6.4),
                figure(&format!("{throughput}/8192"), 0, Figure::Goodput, 95.8),
            ],
        ),
        table(
            "Old 1.0, batched",
            vec![
                figure(&format!("{throughput}/32/batch-8192"), 8192, Figure::Goodput, 26.1),
                figure(&format!("{throughput}/8192"), 8192, Figure::Goodput, 92.8),
            ],
        ),
    ];
    let measured = sample::document();
    let mut assembler = Assembler::new(header);
    let mut number = 0;
    for run in measured.cells.iter().flat_map(|cell| &cell.runs) {
        for _ in 0..repeat {
            number += 1;
            assembler.add(Run { number, ..run.clone() }, &Histograms::new());
        }
    }
    assembler.document(State::Complete)
}

fn cell<'d>(document: &'d ResultDocument, id: &str) -> &'d CellResult {
    document.cells.iter().find(|cell| cell.id == id).expect("the cell")
}

/// Returns the tables beside published figures.
fn tables(text: &str) -> String {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        inside = if line.is_empty() { false } else { inside || line.contains("beside published figures of") };
        if inside {
            lines.push(line);
        }
    }
    lines.join("\n")
}

#[test]
fn tables_have_the_interval_and_the_published_figure() {
    assert_snapshot!("published", tables(&print(&document(3))));
    let text = print(&document(3));
    let legend = "Source of Old 1.0, latency; Old 1.0, unbatched; Old 1.0, batched: A. Author, *Fast*, 2020. Other hosts.";
    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" ").matches(legend).count(), 1, "{text}");
    assert!(!print(&sample::document()).contains("ublished"));
}

#[test]
fn few_runs_have_a_range_instead_of_an_interval() {
    let value = |repeat| cell(&document(repeat), CELL).published[0].measured.clone().expect("a value");
    let (few, many) = (value(1), value(3));
    assert_eq!((few.ci_low, few.ci_high), (None, None));
    assert!(few.n < 6 && many.n == 3 * few.n, "{few:?}");
    assert!(many.ci_low.is_some_and(|low| low <= many.median && low >= many.min), "{many:?}");
    assert!(tables(&print(&document(1))).contains("range "));
    assert!(!tables(&print(&document(3))).contains("range "));
}

#[test]
fn half_of_a_round_trip_is_doubled_everywhere() {
    let document = document(1);
    let value = &cell(&document, CELL).published[0];
    assert_eq!(
        (value.published, value.converted, value.metric.as_str()),
        (355.0, 710_000.0, "latency.rtt.p50_ns")
    );
    assert!(tables(&print(&document)).contains("2 × 355 = 710"));
    let json: Value = serde_json::from_str(&json(&document)).expect("JSON");
    let of_cell =
        json["cells"].as_array().expect("cells").iter().find(|cell| cell["id"] == CELL).expect("the cell");
    assert_eq!(
        (&of_cell["published"][0]["figure"], &of_cell["published"][0]["published"]),
        (&"half_rtt_p50_us".into(), &355.0.into())
    );
    let markdown = markdown(&document);
    let row = markdown.lines().find(|line| line.contains("| 1024 |") && line.contains("710"));
    assert!(markdown.contains("Published RTT p50 (µs)") && row.is_some(), "{markdown}");
    // A quantile that no run supports has no measured value.
    assert_eq!(cell(&document, CELL).published[1].measured, None);
}

#[test]
fn csv_has_a_row_for_each_published_figure() {
    let text = csv(&document(1));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().expect("a heading").clone();
    let at = |name: &str| names.iter().position(|column| column == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let published: Vec<Vec<&str>> = rows
        .iter()
        .filter(|row| &row[at("state")] == "published")
        .map(|row| {
            ["cell", "run", "twin", "batch_bytes", "metric", "unit", "value", "system"]
                .map(|name| &row[at(name)])
                .to_vec()
        })
        .collect();
    assert_eq!(published.len(), 7, "{published:?}");
    assert!(
        published.contains(&vec![
            CELL,
            "",
            "false",
            "0",
            "latency.rtt.p50_ns",
            "ns",
            "710000.0",
            "Old 1.0, latency"
        ]),
        "{published:?}"
    );
    assert!(
        published.contains(&vec![
            "dds/udp4/throughput/8192",
            "",
            "false",
            "8192",
            "throughput.goodput_mbps",
            "Mbit/s",
            "92.8",
            "Old 1.0, batched",
        ]),
        "{published:?}"
    );
    // the metric is one of the runs of this cell
    let measured = |metric: &str| {
        rows.iter().any(|row| {
            &row[at("state")] == "valid" && &row[at("metric")] == metric && &row[at("cell")] == CELL
        })
    };
    assert!(measured("latency.rtt.p50_ns"));
    assert!(
        rows.iter().filter(|row| &row[at("state")] != "published").all(|row| row[at("system")].is_empty())
    );
}

/// Returns a result of a round trip of 1024 bytes, with figures that were added to it afterwards, and their conditions.
fn overlaid() -> ResultDocument {
    let mut document = sample::document();
    let conditions = PublishedConditions {
        middleware: Some("Old 1.0".to_owned()),
        hardware: Some("two boards".to_owned()),
        transport: Some("UDPv4".to_owned()),
        link: Some("100 Mbit/s".to_owned()),
        method: Some("one run".to_owned()),
    };
    let table = |system: &str, figures| Published {
        system: system.to_owned(),
        source: "A. Author, *Fast*, 2020, section 3".to_owned(),
        note: "Means.".to_owned(),
        conditions: conditions.clone(),
        repeats: None,
        figures,
    };
    let hops = vec![
        figure(CELL, 0, Figure::HopMean, 20.5),
        figure(CELL, 0, Figure::HalfRtt(RttStatistic::P50), 20.0),
    ];
    let rate = vec![figure("dds/udp4/throughput/32", 0, Figure::Delivered, 25_193.0)];
    let elsewhere = vec![figure("dds/udp4/latency/77", 0, Figure::HopMean, 1.0)];
    document.show_published(vec![table("Hops", hops), table("Rate", rate), table("Elsewhere", elsewhere)]);
    document
}

#[test]
fn overlay_has_values_sources_and_differences() {
    let document = overlaid();
    let overlays = overlays(&document);
    assert_eq!(overlays.iter().map(|overlay| overlay.system).collect::<Vec<_>>(), ["Hops", "Rate"]);
    // a pair has two hops
    let (cell, value) = overlays[0].points[0];
    assert_eq!(
        (cell.id.as_str(), value.metric.as_str(), value.converted),
        (CELL, "latency.rtt.mean_ns", 41_000.0)
    );
    assert!(value.measured.is_some());
    let what: Vec<&str> = overlays[0].differences.iter().map(|difference| difference.what).collect();
    assert_eq!(what, ["middleware", "hardware", "link", "method", "kind"]);
    assert_eq!(overlays[0].equal, ["transport"], "UDPv4 is udp4");
    assert_eq!(overlays[1].differences.len(), 4, "a rate is of the same kind");
    assert_snapshot!("overlay", overlay_tables(&document, None));
}

#[test]
fn what_differs_in_all_systems_is_said_once_and_what_is_equal_is_counted() {
    let mut document = overlaid();
    document.experiment.published[1].conditions.link = None;
    let text = overlay_tables(&document, None).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("hardware: two boards").count(), 1, "{text}");
    assert!(!text.contains("transport: UDPv4"), "{text}");
    assert_eq!(text.matches("Equal for all 2: 1 condition, transport.").count(), 1, "{text}");
    assert!(
        text.contains("link: not named (here "),
        "an unknown condition is none of the equal ones: {text}"
    );
}

#[test]
fn differences_in_brief_have_each_condition_once() {
    let brief = report::parts::published_differences;
    let mut document = overlaid();
    assert_eq!(brief(&document), "middleware, hardware, link and method differ");
    // A condition that another source names differs.
    document.experiment.published[1].conditions.link = None;
    assert_eq!(brief(&document), "middleware, hardware, link and method differ");
    document.experiment.published.iter_mut().for_each(|table| table.conditions.link = None);
    assert_eq!(brief(&document), "middleware, hardware and method differ, link is not named");
    assert_eq!(brief(&sample::document()), "");
}

#[test]
fn figures_that_are_shown_twice_are_there_once() {
    let once = overlaid();
    let mut twice = once.clone();
    twice.show_published(once.experiment.published.clone());
    assert_eq!(once, twice);
    assert_eq!(overlay_tables(&sample::document(), None), "How to read this\n");
}
