//! Percentiles are monotone in each format.

use perftest::{Generation, Json, JsonContext, LatencyRow, PERCENTS, Percentiles, Rows};
use proptest::prelude::*;

use crate::{common::quiet, output::LATENCY};

const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.9999, 0.999_999];

/// Returns the row of samples: percentiles by nearest rank, as far as the samples support them.
fn row(mut samples: Vec<f64>) -> LatencyRow {
    samples.sort_by(f64::total_cmp);
    let n = samples.len();
    let percentiles: Percentiles = QUANTILES.map(|q| {
        let supported = n as f64 * (1.0 - q) >= 1.0;
        supported.then(|| samples[((n as f64 * q).ceil() as usize).clamp(1, n) - 1])
    });
    LatencyRow {
        size: 64,
        samples: n as u64,
        ave_us: Some(samples.iter().sum::<f64>() / n as f64),
        std_us: None,
        min_us: samples.first().copied(),
        max_us: samples.last().copied(),
        percentiles,
        unsupported: [None; 5],
        cpu_percent: None,
    }
}

/// Returns minimum, percentiles and maximum of a row, read from its text in each format. Values that are not available are
/// left out.
fn read(row: &LatencyRow) -> Vec<(&'static str, Vec<f64>)> {
    let text = |line, generation| Rows::new(&quiet(line, generation)).row(row).expect("a row");
    let labelled = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let after = |label: &str| {
            let place = words.iter().position(|word| *word == label)?;
            words.get(place + 1)?.parse().ok()
        };
        let labels = PERCENTS.map(|percent| format!("{percent}%"));
        let all = std::iter::once("Min").chain(labels.iter().map(String::as_str)).chain(["Max"]);
        all.filter_map(after).collect::<Vec<f64>>()
    };
    let csv = text("-pub", Generation::V4_3);
    let columns: Vec<&str> = csv.split(',').map(str::trim).collect();
    let order = [3, 5, 6, 7, 8, 9, 4];
    let mut json = Json::default();
    json.add(row);
    let document =
        json.document(&quiet("-pub -outputFormat json", Generation::V4_3), &JsonContext::default());
    let document: serde_json::Value = serde_json::from_str(&document).expect("valid JSON");
    let summary = &document["perftest"][0]["summary"];
    let keys = ["min", "50", "90", "99", "99.99", "99.9999", "max"];
    vec![
        ("5.1", labelled(&text("-pub", Generation::V5_1))),
        ("legacy", labelled(&text("-pub -outputFormat legacy", Generation::V4_3))),
        ("csv", order.iter().filter_map(|place| columns[*place].parse().ok()).collect()),
        ("json", keys.iter().filter_map(|key| summary[format!("latency_{key}")].as_f64()).collect()),
    ]
}

/// Returns the formats whose values fall.
fn falling(row: &LatencyRow) -> Vec<&'static str> {
    let read = read(row);
    read.into_iter().filter(|(_, values)| !values.is_sorted()).map(|(format, _)| format).collect()
}

proptest! {
    #[test]
    fn percentiles_never_fall(samples in prop::collection::vec(0.05_f64..1e5, 1..400)) {
        let row = row(samples);
        prop_assert_eq!(falling(&row), Vec::<&str>::new());
        let available = 2 + row.percentiles.iter().flatten().count();
        let counts: Vec<usize> = read(&row).into_iter().map(|(_, values)| values.len()).collect();
        // Release 5.1 has no 99.9999 %, which these samples never support.
        prop_assert_eq!(counts, vec![available; 4]);
    }

    #[test]
    fn close_percentiles_never_fall(base in 0.05_f64..1100.0, steps in prop::array::uniform5(0.0_f64..0.2)) {
        let mut last = base;
        let percentiles = steps.map(|step| { last += step; Some(last) });
        let row = LatencyRow { min_us: Some(base), max_us: Some(last), percentiles, ..LATENCY };
        prop_assert_eq!(falling(&row), Vec::<&str>::new());
    }
}

#[test]
fn falling_percentiles_are_seen_in_each_format() {
    let percentiles = [401.0, 459.0, 538.0, 510.0, 538.0].map(Some);
    assert_eq!(falling(&LatencyRow { percentiles, ..LATENCY }), ["5.1", "legacy", "csv", "json"]);
    assert_eq!(falling(&LATENCY), Vec::<&str>::new());
}

#[test]
fn few_samples_have_no_high_percentiles() {
    let row = row(vec![10.0, 20.0, 30.0]);
    assert_eq!(row.percentiles[1..], [None; 4]);
    let text = Rows::new(&quiet("-pub", Generation::V4_3)).row(&row).expect("a row");
    assert_eq!(text.matches("n/a").count(), 5, "{text}");
}
