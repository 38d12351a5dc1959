//! Tests of rows, JSON and banners.

use std::collections::BTreeMap;

use perftest::{
    Banner, EffectiveValue, Generation, Json, JsonContext, LatencyInterval, LatencyRow, Rows, Settings, Step,
    ThroughputInterval, ThroughputRow, banner, progress,
};

use crate::common::quiet;

/// First latency row of section 10 of the guide to 5.1.
pub const LATENCY: LatencyRow = LatencyRow {
    size: 32,
    samples: 1000,
    ave_us: Some(396.0),
    std_us: Some(48.9),
    min_us: Some(83.0),
    max_us: Some(538.0),
    percentiles: [Some(401.0), Some(459.0), Some(510.0), Some(538.0), None],
    unsupported: [None; 5],
    cpu_percent: Some(21.958),
};
const LATENCY_INTERVAL: LatencyInterval = LatencyInterval {
    size: 32,
    latency_us: 401.2,
    ave_us: 6.54,
    std_us: None,
    min_us: 6.5,
    max_us: 3336.0,
    cpu_percent: None,
};
/// First throughput row of section 10 of the guide to 5.1.
const THROUGHPUT: ThroughputRow = ThroughputRow {
    size: 32,
    samples: 10_000_000,
    samples_per_s: 47_913.2,
    mbps: 12.27,
    lost: Some(0),
    lost_percent: Some(0.0),
    cpu_percent: Some(19.5),
};
const THROUGHPUT_INTERVAL: ThroughputInterval = ThroughputInterval {
    size: 1024,
    samples: 206_978,
    samples_per_s: 103_864.0,
    samples_per_s_ave: 103_863.7,
    mbps: 850.86,
    mbps_ave: 850.9,
    lost: Some(310),
    lost_percent: Some(0.1497),
    cpu_percent: Some(19.5),
};

/// Returns all headings and rows of a format, one below the other.
fn all(settings: &Settings) -> String {
    let rows = Rows::new(settings);
    let empty = LatencyRow {
        samples: 0,
        ave_us: None,
        std_us: None,
        min_us: None,
        max_us: None,
        percentiles: [None; 5],
        cpu_percent: None,
        ..LATENCY
    };
    let infinite = LatencyRow {
        percentiles: [Some(6.54), Some(99.96), Some(1e5), Some(f64::INFINITY), None],
        ..LATENCY
    };
    let unknown = ThroughputRow { lost: None, lost_percent: None, cpu_percent: None, ..THROUGHPUT };
    [
        rows.heading::<LatencyInterval>(32),
        rows.row(&LATENCY_INTERVAL),
        rows.heading::<LatencyRow>(0),
        rows.row(&LATENCY),
        rows.row(&infinite),
        rows.row(&empty),
        rows.heading::<ThroughputInterval>(32),
        rows.row(&THROUGHPUT_INTERVAL),
        rows.row(&ThroughputInterval { lost: None, lost_percent: None, ..THROUGHPUT_INTERVAL }),
        rows.heading::<ThroughputRow>(0),
        rows.row(&THROUGHPUT),
        rows.row(&unknown),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join("\n")
}

#[test]
fn rows_of_each_format() {
    insta::assert_snapshot!("rows_5_1", all(&quiet("-pub", Generation::V5_1)));
    insta::assert_snapshot!("rows_legacy", all(&quiet("-pub -outputFormat legacy -cpu", Generation::V4_3)));
    insta::assert_snapshot!("rows_csv", all(&quiet("-pub", Generation::V4_3)));
    insta::assert_snapshot!("rows_numbers", all(&quiet("-pub -cpu -ddsmark-numbers", Generation::V4_3)));
    insta::assert_snapshot!("rows_csv_cpu", all(&quiet("-pub -cpu -noOutputHeaders", Generation::V4_3)));
    assert_eq!(all(&quiet("-pub -outputFormat json", Generation::V4_3)), "");
}

#[test]
fn rows_of_5_1_are_those_of_section_10_of_its_guide() {
    let rows = Rows::new(&quiet("-pub -noPrint", Generation::V5_1));
    assert_eq!(
        rows.row(&LATENCY).as_deref(),
        Some(
            "Length: 32 Latency: Ave 396 us Std 48.9 us Min 83 us Max 538 us 50% 401 us 90% 459 us 99% 510 us 99.99% 538 us"
        )
    );
    assert_eq!(
        rows.row(&THROUGHPUT).as_deref(),
        Some("Length: 32 Packets: 10000000 Packets/s(ave): 47913 Mbps(ave): 12.3 Lost: 0")
    );
    let second = ThroughputRow { size: 64, samples_per_s: 47_580.0, mbps: 24.4, ..THROUGHPUT };
    assert_eq!(
        rows.row(&second).as_deref(),
        Some("Length: 64 Packets: 10000000 Packets/s(ave): 47580 Mbps(ave): 24.4 Lost: 0")
    );
}

#[test]
fn rows_of_4_3_have_the_widths_of_the_release() {
    let rows = Rows::new(&quiet("-sub -outputFormat legacy -cpu", Generation::V4_3));
    assert_eq!(
        rows.row(&THROUGHPUT_INTERVAL).as_deref(),
        Some(
            "Packets:   206978  Packets/s:  103864  Packets/s(ave):  103864  Mbps:   850.9  Mbps(ave):   850.9  Lost:   310 \
             (0.15%) CPU 19.50 (%)"
        )
    );
    let latency = LatencyRow {
        size: 1024,
        ave_us: Some(1109.0),
        std_us: Some(1047.8),
        min_us: Some(31.0),
        max_us: Some(3336.0),
        percentiles: [902.0, 3203.0, 3336.0, 3336.0, 3336.0].map(Some),
        cpu_percent: Some(30.72),
        ..LATENCY
    };
    assert_eq!(
        rows.row(&latency).as_deref(),
        Some(
            "Length:  1024 Latency: Ave   1109 us Std 1047.8 us Min     31 us Max   3336 us 50%    902 us 90%   3203 us 99%   \
             3336 us 99.99%   3336 us 99.9999%   3336 us CPU 30.72 (%)"
        )
    );
}

#[test]
fn file_of_latencies_keeps_the_nanoseconds() {
    let rows = Rows::new(&quiet("-pub", Generation::V4_3));
    assert_eq!(rows.latency_file_heading(64, false).as_deref(), Some("Sample Number, RTT/2 (μs)"));
    let of_scan = "RTT/2 Latencies for 64 Bytes:\nSample Number, RTT/2 (μs)";
    assert_eq!(rows.latency_file_heading(64, true).as_deref(), Some(of_scan));
    assert_eq!(rows.latency_file_row(1, 6_540), "1, 6.540");
    assert_eq!(rows.latency_file_row(2, 1_000_007), "2, 1000.007");
    let without = Rows::new(&quiet("-pub -noOutputHeaders", Generation::V4_3));
    assert_eq!(without.latency_file_heading(64, true), None);
}

#[test]
fn csv_rows_have_as_many_columns_as_their_headings() {
    for line in ["-pub", "-pub -cpu"] {
        let rows = Rows::new(&quiet(line, Generation::V4_3));
        let pairs = [
            (rows.heading::<LatencyInterval>(32), rows.row(&LATENCY_INTERVAL)),
            (rows.heading::<LatencyRow>(0), rows.row(&LATENCY)),
            (rows.heading::<ThroughputInterval>(32), rows.row(&THROUGHPUT_INTERVAL)),
            (rows.heading::<ThroughputRow>(0), rows.row(&THROUGHPUT)),
        ];
        for (heading, row) in pairs {
            let (heading, row) = (heading.expect("a heading"), row.expect("a row"));
            let columns = heading.lines().last().expect("columns");
            assert_eq!(columns.matches(',').count(), row.matches(',').count(), "{columns}\n{row}");
        }
    }
}

fn json(settings: &Settings, invalid: &[String]) -> String {
    let mut json = Json::default();
    json.add(&LATENCY_INTERVAL);
    json.add(&LATENCY);
    json.add(&ThroughputInterval { lost: None, lost_percent: None, ..THROUGHPUT_INTERVAL });
    json.add(&ThroughputRow { size: 1024, ..THROUGHPUT });
    // The same size again is another measurement; one without a summary was not finished.
    json.add(&THROUGHPUT_INTERVAL);
    let context = JsonContext {
        versions: BTreeMap::from([("ddsmark".to_owned(), "0.1.0".to_owned())]),
        host: BTreeMap::from([("kernel".to_owned(), "6.1".to_owned())]),
        effective: &[EffectiveValue { name: "Reliability".to_owned(), value: "Reliable".to_owned() }],
        invalid,
    };
    json.document(settings, &context)
}

#[test]
fn json_is_valid_and_has_configuration_versions_and_host() {
    let settings = quiet("-pub -outputFormat json -dataLen 32", Generation::V4_3);
    let text = json(&settings, &[]);
    insta::assert_snapshot!(text);
    let value: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(value["perftest"].as_array().map(Vec::len), Some(3));
    assert_eq!(value["perftest"][0]["summary"]["latency_99.9999"], serde_json::Value::Null);
    assert_eq!(value["perftest"][2]["summary"], serde_json::Value::Null);
    assert_eq!(value["valid"], true);
    let invalid: serde_json::Value =
        serde_json::from_str(&json(&settings, &["loss".to_owned()])).expect("valid JSON");
    assert_eq!(invalid["valid"], false);
    let empty = Json::default().document(&settings, &JsonContext::default());
    serde_json::from_str::<serde_json::Value>(&empty).expect("valid JSON");
}

#[test]
fn numbers_that_the_samples_do_not_support_are_marked() {
    let row = LatencyRow {
        samples: 1,
        std_us: None,
        percentiles: [None; 5],
        unsupported: [Some(401.0); 5],
        ..LATENCY
    };
    for (line, generation) in [
        ("-pub -cpu -ddsmark-numbers", Generation::V4_3),
        ("-pub -cpu -ddsmark-numbers -outputFormat legacy", Generation::V4_3),
        ("-pub -ddsmark-numbers", Generation::V5_1),
    ] {
        let settings = quiet(line, generation);
        let text = Rows::new(&settings).row(&row).expect("a row");
        assert!(text.contains("401") && !text.contains("n/a") && !text.contains("nan"), "{text}");
        let banner = banner(&settings, &Banner { version: "0", middleware: "M", effective: &[] });
        assert!(
            banner.contains("\tNumbers: In each column, also those that the samples do not support\n"),
            "{banner}"
        );
    }
    let mut json = Json::default();
    json.add(&row);
    let text = json.document(&quiet("-pub", Generation::V4_3), &JsonContext::default());
    let document: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    let summary = &document["perftest"][0]["summary"];
    assert_eq!(summary["latency_99.9999"], 401.0, "{summary:#}");
    assert_eq!(summary["unsupported"].as_array().map(Vec::len), Some(5), "{summary:#}");
}

#[test]
fn banner_has_requested_and_effective_settings() {
    let effective = [("Reliability", "Best Effort"), ("Nic", "eth0"), ("Receive buffer", "212992")]
        .map(|(name, value)| EffectiveValue { name: name.to_owned(), value: value.to_owned() });
    let show = |line, generation, effective: &[EffectiveValue]| {
        banner(&quiet(line, generation), &Banner { version: "0.1.0", middleware: "Some DDS 1.2", effective })
    };
    let texts = [
        show("-pub -nic eth0 -noPrint -exec 20 -scan -batchSize 0", Generation::V4_3, &effective),
        show("-sub -noPrint -useReadThread -showResourceLimits -peer a", Generation::V4_3, &[]),
        show("-pub -sleep 1 -spin 5 -enableAutoThrottle", Generation::V5_1, &[]),
        show("-pub -raw -peer a:1 -pubRatebps 1000:sleep", Generation::V4_3, &[]),
    ];
    insta::assert_snapshot!(texts.join("----\n"));
}

#[test]
fn steps_are_those_of_section_10_of_the_guide() {
    let steps = |line| {
        let settings = quiet(line, Generation::V5_1);
        [Step::Discover, Step::Announcement, Step::Run].map(|step| progress(&settings, step))
    };
    let publisher = [
        "Waiting to discover 1 subscribers...",
        "Waiting for subscribers announcement ...",
        "Publishing data...",
    ];
    assert_eq!(steps("-pub"), publisher);
    let [discover, _, run] = steps("-sub -numPublishers 2");
    assert_eq!(
        (discover.as_str(), run.as_str()),
        ("Waiting to discover 2 publishers ...", "Waiting for data...")
    );
}
