//! Recorded values compared with the original values, and the interval log decoded by an independent reader.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use hdrhistogram::{
    Histogram,
    serialization::{
        V2DeflateSerializer,
        interval_log::{IntervalLogWriterBuilder, Tag},
    },
};
use proptest::prelude::*;
use results::{Distribution, EncodedWindows, HistogramError, IntervalLog, Latency, QUANTILES, Windows};

use crate::sample;

/// Returns the exact mean and standard deviation, computed with integer sums.
fn exact(values: &[u64]) -> (f64, f64) {
    let n = values.len() as u128;
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    let squares: u128 = values.iter().map(|value| u128::from(*value).pow(2)).sum();
    let sd = if n < 2 { 0.0 } else { ((n * squares - sum * sum) as f64 / (n * (n - 1)) as f64).sqrt() };
    (sum as f64 / n as f64, sd)
}

/// Returns the smallest value with at least the share `q` of all values at or below it.
fn quantile(sorted: &[u64], q: f64) -> u64 {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn close(left: f64, right: f64, relative: f64) -> bool {
    (left - right).abs() <= relative * right.abs()
}

fn agrees(latency: &Latency, values: &[u64]) -> Result<(), TestCaseError> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (mean, sd) = exact(values);
    prop_assert_eq!(latency.n, values.len() as u64);
    prop_assert!(close(latency.mean_ns, mean, 1e-15), "mean {} is not {}", latency.mean_ns, mean);
    prop_assert!(close(latency.sd_ns, sd, 1e-12), "sd {} is not {}", latency.sd_ns, sd);
    prop_assert_eq!((latency.min_ns, latency.max_ns), (sorted[0], sorted[sorted.len() - 1]));
    let found = [
        latency.p50_ns,
        latency.p90_ns,
        latency.p99_ns,
        latency.p99_9_ns,
        latency.p99_99_ns,
        latency.p99_9999_ns,
    ];
    for (q, found) in QUANTILES.into_iter().zip(found) {
        if stats::supports_quantile(latency.n, q) {
            let (found, truth) = (found.expect("it is supported") as f64, quantile(&sorted, q) as f64);
            prop_assert!(close(found, truth, 0.001), "{}: {} is not {}", q, found, truth);
        } else {
            prop_assert_eq!(found, None, "{} of {} values", q, latency.n);
        }
    }
    Ok(())
}

fn times() -> impl Strategy<Value = u64> {
    prop_oneof![1_u64..3_000, 1_000_u64..2_000_000, 1_u64..100_000_000_000]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn unsupported_quantiles_are_the_values_after_their_share(
        values in prop::collection::vec(times(), 1..300),
        lost in 0_u64..3,
    ) {
        let mut recorder = Windows::new(1, 1_000_000_000);
        recorder.begin(0);
        values.iter().for_each(|value| recorder.record(1, *value));
        let distribution = recorder.distribution();
        let windows = distribution.histograms().expect("histograms");
        let latency = Latency::of_windows(&distribution, &windows, lost).expect("a latency");
        prop_assert!(latency.unsupported.is_empty());
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let all = latency.clone().with_unsupported(&windows[0]).unsupported;
        for (q, supported) in QUANTILES.into_iter().zip(latency.quantiles()) {
            let field = format!("p{}_ns", format!("{:.4}", 100.0 * q).trim_end_matches('0').trim_end_matches('.').replace('.', "_"));
            prop_assert_eq!(all.contains_key(&field), supported.is_none(), "{}", &field);
            if let Some(found) = all.get(&field) {
                let truth = sorted[(sorted.len() as f64 * q) as usize];
                prop_assert!(close(*found as f64, truth as f64, 0.001), "{}: {} is not {}", field, found, truth);
            }
        }
    }

    #[test]
    fn moments_and_extremes_are_exact_and_quantiles_within_a_thousandth(
        values in prop::collection::vec(times(), 1..700),
    ) {
        let distribution = sample::record(&values);
        prop_assert!(close(distribution.sd_ns(), exact(&values).1, 1e-12));
        agrees(&sample::latency_of(&distribution), &values)?;
    }
}

#[test]
fn many_values_far_apart_and_a_small_deviation_beside_a_large_mean() {
    let mut noise = sample::Noise(7);
    let wide: Vec<u64> = (0..40_000).map(|_| 1 + noise.next() % 50_000_000_000).collect();
    agrees(&sample::latency_of(&sample::record(&wide)), &wide).unwrap();
    let narrow: Vec<u64> = (0..40_000).map(|_| 60_000_000_000 + noise.next() % 10).collect();
    agrees(&sample::latency_of(&sample::record(&narrow)), &narrow).unwrap();
}

#[test]
fn a_time_beyond_the_histogram_keeps_the_maximum_exact() {
    let mut values = vec![5_000; 9];
    values.push(300_000_000_000);
    let latency = sample::latency_of(&sample::record(&values));
    assert_eq!((latency.n, latency.max_ns, latency.min_ns), (10, 300_000_000_000, 5_000));
}

#[test]
fn nothing_recorded_says_nothing() {
    let mut windows = Windows::new(4, 1_000);
    windows.begin(0);
    assert!(windows.is_empty());
    let latency = sample::latency_of(&windows.distribution());
    assert_eq!((latency.n, latency.min_ns, latency.max_ns), (0, 0, 0));
    assert_eq!((latency.mean_ns, latency.sd_ns, latency.p50_ns), (0.0, 0.0, None));
}

#[test]
fn a_value_falls_into_the_window_of_its_time() {
    let mut windows = Windows::new(4, 400);
    windows.begin(1_000);
    for (now, value) in [(1_000, 10), (1_099, 11), (1_100, 12), (1_350, 13), (1_399, 14), (9_999, 15)] {
        windows.record(now, value);
    }
    assert_eq!((windows.len(), windows.median()), (6, 12));
    let distribution = windows.distribution();
    assert_eq!(distribution.window_ns, 100);
    let counts: Vec<u64> = distribution.histograms().unwrap().iter().map(Histogram::len).collect();
    assert_eq!(counts, [2, 1, 0, 3], "the last window takes what comes late");

    windows.begin(20_000);
    windows.record(20_000, 7);
    let again = windows.distribution();
    assert_eq!((again.n, again.min_ns, again.max_ns, again.windows.len()), (1, 7, 7, 1), "all is forgotten");
}

#[test]
fn changed_payload_is_detected() {
    let distribution = sample::record(&[10, 20, 30]);
    let one_more = Distribution { n: 4, ..distribution.clone() };
    assert!(matches!(one_more.histograms(), Err(HistogramError::Mismatch(-1))));
    let not_base64 = Distribution { windows: vec!["?".to_owned()], ..distribution.clone() };
    assert!(matches!(not_base64.histograms(), Err(HistogramError::Base64(_))));
    let cut = Distribution { windows: vec![distribution.windows[0][..20].to_owned()], ..distribution };
    assert!(matches!(cut.histograms(), Err(HistogramError::Decode(_))));
}

/// Decodes a V2 histogram by its specification, independently of our code: the count of each value. Values that
/// share a counter are represented by the highest one.
fn decode_v2(text: &str) -> BTreeMap<u64, u64> {
    let bytes = STANDARD.decode(text).unwrap();
    let be32 = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap());
    assert_eq!(be32(&bytes) & !0xf0, 0x1c84_9304, "the cookie of the deflated V2 format");
    assert_eq!(be32(&bytes[4..]) as usize, bytes.len() - 8);
    let mut inner = Vec::new();
    ZlibDecoder::new(&bytes[8..]).read_to_end(&mut inner).unwrap();
    assert_eq!(be32(&inner) & !0xf0, 0x1c84_9303, "the cookie of the V2 format");
    assert_eq!(be32(&inner[4..]) as usize, inner.len() - 40);
    assert_eq!(be32(&inner[12..]), 3, "significant digits");
    let (mut counts, mut index, mut payload) = (BTreeMap::new(), 0_u64, &inner[40..]);
    while !payload.is_empty() {
        let (mut zigzag, mut shift) = (0_u64, 0);
        loop {
            let byte = payload[0];
            payload = &payload[1..];
            // the ninth byte has eight value bits
            if shift == 56 {
                zigzag |= u64::from(byte) << 56;
                break;
            }
            zigzag |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let value = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        if value < 0 {
            index += value.unsigned_abs();
            continue;
        }
        // 2048 counters of width 1, then 1024 per doubling
        let (bucket, slot) = if index < 2048 { (0, index) } else { (index / 1024 - 1, index % 1024 + 1024) };
        if value > 0 {
            counts.insert(((slot + 1) << bucket) - 1, value.unsigned_abs());
        }
        index += 1;
    }
    counts
}

#[test]
fn log_follows_its_format() {
    let values = sample::latencies(3, 32);
    let mut log = IntervalLog::new();
    assert!(log.is_empty());
    for (kind, values) in &values {
        log.add(kind, &sample::record(values)).unwrap();
    }
    assert!(!log.is_empty());
    let started = SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_250);
    let text = String::from_utf8(log.write(started, "run 3").unwrap()).unwrap();

    let (comments, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    assert!(comments.contains(&"#run 3"), "{comments:?}");
    assert!(comments.iter().any(|line| line.starts_with("#[StartTime: 1790000000.250 ")), "{comments:?}");
    assert!(comments.iter().any(|line| line.starts_with("#[BaseTime: 1790000000.250 ")), "{comments:?}");
    assert_eq!(comments[0], "#[Histogram log format version 1.3]");

    let legend = r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#;
    assert_eq!(lines.first(), Some(&legend), "{text}");
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with('"')).collect();
    assert_eq!(lines.len(), 3 * 4, "a line a kind and window");
    let mut found: BTreeMap<&str, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut last_start = 0.0;
    for line in lines {
        let (tag, rest) = line.strip_prefix("Tag=").unwrap().split_once(',').unwrap();
        let [start, length, max, histogram] = rest.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert!(histogram.starts_with("HISTFAAA"), "{histogram}");
        let start: f64 = start.parse().unwrap();
        assert!(start >= last_start, "the lines are in the order of time");
        last_start = start;
        assert_eq!(length, "0.100", "{line}");
        let counts = decode_v2(histogram);
        let highest = *counts.keys().next_back().unwrap() as f64;
        assert!(close(max.parse().unwrap(), highest, 0.001), "the maximum is in ns: {line}");
        for (value, count) in counts {
            *found.entry(tag).or_default().entry(value).or_default() += count;
        }
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), values.keys().collect::<Vec<_>>());
    for (kind, values) in values {
        let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
        for value in values {
            // from 2048 on, the highest eleven bits of a value are significant
            let rest = (64 - value.leading_zeros()).saturating_sub(11);
            *expected.entry((((value >> rest) + 1) << rest) - 1).or_default() += 1;
        }
        assert_eq!(found[kind], expected, "{kind}");
    }
}

#[test]
fn log_reads_back() {
    let values = sample::latencies(5, 1024);
    let mut log = IntervalLog::new();
    for (kind, values) in &values {
        log.add(kind, &sample::record(values)).unwrap();
    }
    let merged = log.merged();
    let windows = IntervalLog::read(&log.write(SystemTime::UNIX_EPOCH, "run 5").unwrap()).unwrap();
    for (kind, values) in &values {
        let of_kind: Vec<_> = windows.iter().filter(|(found, ..)| found == kind).collect();
        assert_eq!(of_kind.len(), 4);
        let written = sample::record(values).histograms().unwrap();
        for (index, ((_, start, read), written)) in (0..).zip(of_kind.iter().zip(&written)) {
            assert_eq!((read, *start), (written, Duration::from_millis(100) * index));
        }
        assert_eq!(merged[*kind].len(), values.len() as u64);
    }
}

#[test]
fn lines_are_those_of_the_library() {
    let mut log = IntervalLog::new();
    let mut windows = Vec::new();
    for (kind, values) in sample::latencies(7, 500) {
        let distribution = sample::record(&values);
        let merged = log.add(kind, &distribution).unwrap();
        assert_eq!(merged.len(), values.len() as u64);
        let length = Duration::from_nanos(distribution.window_ns);
        let histograms = distribution.histograms().unwrap().into_iter();
        windows.extend(
            (0..).zip(histograms).map(|(index, histogram)| (length * index, kind, length, histogram)),
        );
    }
    windows.sort_by_key(|(start, ..)| *start);
    let (mut bytes, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let builder = IntervalLogWriterBuilder::new();
    let mut writer = builder.begin_log_with(&mut bytes, &mut serializer).unwrap();
    for (start, kind, length, histogram) in &windows {
        writer.write_histogram(histogram, *start, *length, Tag::new(kind)).unwrap();
    }
    let of = |bytes: Vec<u8>| -> Vec<String> {
        let text = String::from_utf8(bytes).unwrap();
        text.lines().filter(|line| line.starts_with("Tag=")).map(ToOwned::to_owned).collect()
    };
    assert_eq!(of(log.write(SystemTime::UNIX_EPOCH, "").unwrap()), of(bytes));
}

#[test]
fn only_the_asked_kinds_are_merged() {
    let values = sample::latencies(5, 1024);
    let mut log = IntervalLog::new();
    for (kind, values) in &values {
        log.add(kind, &sample::record(values)).unwrap();
    }
    let asked = BTreeSet::from(["rtt".to_owned(), "other".to_owned()]);
    let merged = log.merged_of(&asked);
    assert_eq!(merged.keys().collect::<Vec<_>>(), ["rtt"]);
    assert_eq!(merged["rtt"].len(), values["rtt"].len() as u64);
    let text = log.write(SystemTime::UNIX_EPOCH, "").unwrap();
    assert_eq!(IntervalLog::read_merged(&text, &asked).unwrap(), merged);
    // A damaged window of another kind is found.
    let text =
        String::from_utf8(text).unwrap().replacen("Tag=one_way_out,0.000,", "Tag=one_way_out,0.000,x", 1);
    assert!(IntervalLog::read_merged(text.as_bytes(), &asked).is_err());
}

#[test]
fn truncated_or_changed_log_is_rejected() {
    let mut log = IntervalLog::new();
    log.add("rtt", &sample::record(&[1_000, 2_000, 3_000])).unwrap();
    let whole = log.write(SystemTime::UNIX_EPOCH, "run 1").unwrap();
    assert!(IntervalLog::read(&whole).is_ok());
    for cut in [5, 20, 60] {
        assert!(IntervalLog::read(&whole[..whole.len() - cut]).is_err(), "cut by {cut}");
    }
    let text = String::from_utf8(whole).unwrap().replace("HISTFAAA", "HISTGAAA");
    assert!(IntervalLog::read(text.as_bytes()).is_err());
    assert!(IntervalLog::read(b"not a log\n").is_err());
}

#[test]
fn log_with_overflowing_counts_is_rejected() {
    let mut full = results::new_histogram();
    for value in 0..2_000 {
        full.record_n(value, (1 << 48) - 1).unwrap();
    }
    let text = |windows: usize| {
        let mut log = IntervalLog::new();
        log.add_encoded("rtt", Arc::new(EncodedWindows::encode(1_000, &vec![full.clone(); windows])));
        log.write(SystemTime::UNIX_EPOCH, "").unwrap()
    };
    let most = (u64::MAX / full.len()) as usize;
    assert!(IntervalLog::read(&text(most)).is_ok());
    let error = IntervalLog::read(&text(most + 1)).unwrap_err().to_string();
    assert!(error.contains("more values than can be counted"), "{error}");
}

#[test]
fn a_kind_with_a_comma_is_no_tag() {
    let mut log = IntervalLog::new();
    log.add("a,b", &sample::record(&[1])).unwrap();
    assert!(matches!(log.write(SystemTime::UNIX_EPOCH, ""), Err(HistogramError::Write(_))));
}
