//! Rows of the output: their values, and their forms.

use serde_json::{Value, json};

use super::rows::{Row, Rows};
use crate::generation::Generation;

/// Percents of the percentiles of a row.
pub const PERCENTS: [&str; 5] = ["50", "90", "99", "99.99", "99.9999"];

/// Percentiles of RTT/2 in µs, in the order of [`PERCENTS`]; `None` if there is no value. An infinite value stands for
/// echoes that never came.
pub type Percentiles = [Option<f64>; 5];

/// Row of a publisher during the test. Times are RTT/2 in µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyInterval {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Newest value.
    pub latency_us: f64,
    /// Mean since the start.
    pub ave_us: f64,
    /// Standard deviation since the start; `None` with fewer than two values.
    pub std_us: Option<f64>,
    /// Minimum since the start.
    pub min_us: f64,
    /// Maximum since the start.
    pub max_us: f64,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

/// Row of a publisher at the end of a size. Times are RTT/2 in µs, `None` if there is no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyRow {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Number of values.
    pub samples: u64,
    /// Mean.
    pub ave_us: Option<f64>,
    /// Standard deviation.
    pub std_us: Option<f64>,
    /// Minimum.
    pub min_us: Option<f64>,
    /// Maximum.
    pub max_us: Option<f64>,
    /// Percentiles that the samples support.
    pub percentiles: Percentiles,
    /// Values of the histogram at the other percentiles, if the rows have numbers in each column.
    pub unsupported: Percentiles,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

/// Row of a subscriber during the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputInterval {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Samples since the start.
    pub samples: u64,
    /// Samples per second since the row before.
    pub samples_per_s: f64,
    /// Samples per second since the start.
    pub samples_per_s_ave: f64,
    /// Megabits per second since the row before.
    pub mbps: f64,
    /// Megabits per second since the start.
    pub mbps_ave: f64,
    /// Lost samples since the start; `None` if unknown.
    pub lost: Option<u64>,
    /// Lost samples in percent of those sent; `None` if unknown.
    pub lost_percent: Option<f64>,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

/// Row of a subscriber at the end of a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputRow {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Samples.
    pub samples: u64,
    /// Samples per second.
    pub samples_per_s: f64,
    /// Megabits per second.
    pub mbps: f64,
    /// Lost samples; `None` if unknown.
    pub lost: Option<u64>,
    /// Lost samples in percent of those sent; `None` if unknown.
    pub lost_percent: Option<f64>,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

/// Number of percentiles of generation 5.1: up to 99.99 %.
const PERCENTILES_5_1: usize = 4;

/// Widths of columns with labels: 0 in generation 5.1, which aligns nothing.
struct Widths {
    size: usize,
    time: usize,
    samples: usize,
    rate: usize,
    lost: usize,
    gap: &'static str,
}

const fn widths(rows: &Rows) -> Widths {
    match rows.generation {
        Generation::V5_1 => Widths { size: 0, time: 0, samples: 0, rate: 0, lost: 0, gap: " " },
        Generation::V4_3 => Widths { size: 5, time: 6, samples: 8, rate: 7, lost: 5, gap: "  " },
    }
}

impl Row for LatencyInterval {
    const TITLE: &'static str = "RTT/2 Latency Intervals for SIZE Bytes:";
    const HEADINGS: &'static [&'static str] =
        &["Sample Size (Bytes)", "Latency (μs)", "Ave (μs)", "Std (μs)", "Min (μs)", "Max (μs)"];
    const IS_SUMMARY: bool = false;

    fn size_and_cpu(&self) -> (u64, Option<f64>) {
        (self.size, self.cpu_percent)
    }

    fn values(&self, rows: &Rows) -> Vec<String> {
        let [newest, ave, min, max] =
            [self.latency_us, self.ave_us, self.min_us, self.max_us].map(|us| rows.micros(Some(us)));
        vec![self.size.to_string(), newest, ave, rows.deviation(self.std_us, 1), min, max]
    }

    fn labelled(&self, rows: &Rows) -> String {
        let Widths { time, gap, .. } = widths(rows);
        let [newest, ave, min, max] = [self.latency_us, self.ave_us, self.min_us, self.max_us]
            .map(|us| format!("{:>time$} us", rows.micros(Some(us))));
        let std = rows.deviation(self.std_us, 1);
        format!("RTT/2 Latency: {newest}{gap}Ave {ave}{gap}Std {std:>time$} us{gap}Min {min}{gap}Max {max}")
    }

    fn fields(&self) -> Value {
        json!({
            "latency": rounded(self.latency_us),
            "latency_ave": rounded(self.ave_us),
            "latency_std": self.std_us.map(rounded),
            "latency_min": rounded(self.min_us),
            "latency_max": rounded(self.max_us),
        })
    }
}

impl Row for LatencyRow {
    const TITLE: &'static str = "RTT/2 Latency Summary:";
    const HEADINGS: &'static [&'static str] = &[
        "Sample Size (Bytes)",
        "Ave (μs)",
        "Std (μs)",
        "Min (μs)",
        "Max (μs)",
        "50% (μs)",
        "90% (μs)",
        "99% (μs)",
        "99.99% (μs)",
        "99.9999% (μs)",
    ];
    const IS_SUMMARY: bool = true;

    fn size_and_cpu(&self) -> (u64, Option<f64>) {
        (self.size, self.cpu_percent)
    }

    fn values(&self, rows: &Rows) -> Vec<String> {
        let [ave, min, max] = [self.ave_us, self.min_us, self.max_us].map(|us| rows.micros(us));
        let std = rows.deviation(self.std_us, self.samples);
        let all = [self.size.to_string(), ave, std, min, max].into_iter();
        all.chain(self.printed().map(|us| rows.micros(us))).collect()
    }

    fn labelled(&self, rows: &Rows) -> String {
        let Widths { size, time, .. } = widths(rows);
        let us = |value| format!("{:>time$} us", rows.micros(value));
        let percentiles = match rows.generation {
            Generation::V5_1 => PERCENTILES_5_1,
            Generation::V4_3 => PERCENTS.len(),
        };
        let percentiles: Vec<String> = (PERCENTS.iter().zip(self.printed()).take(percentiles))
            .map(|(percent, value)| format!("{percent}% {}", us(value)))
            .collect();
        let [ave, min, max] = [self.ave_us, self.min_us, self.max_us].map(us);
        let (length, percentiles) = (self.size, percentiles.join(" "));
        let std = rows.deviation(self.std_us, self.samples);
        format!(
            "Length: {length:>size$} Latency: Ave {ave} Std {std:>time$} us Min {min} Max {max} {percentiles}"
        )
    }

    fn fields(&self) -> Value {
        let mut fields = json!({
            "latency_samples": self.samples,
            "latency_ave": self.ave_us.map(rounded),
            "latency_std": self.std_us.map(rounded),
            "latency_min": self.min_us.map(rounded),
            "latency_max": self.max_us.map(rounded),
        });
        for (percent, value) in PERCENTS.iter().zip(self.printed()) {
            fields[format!("latency_{percent}")] = json!(value.map(rounded));
        }
        // Fields whose values the samples do not support.
        let unsupported = PERCENTS.iter().zip(self.unsupported).filter(|(_, value)| value.is_some());
        let unsupported: Vec<String> = unsupported.map(|(percent, _)| format!("latency_{percent}")).collect();
        if !unsupported.is_empty() {
            fields["unsupported"] = json!(unsupported);
        }
        fields
    }
}

impl Row for ThroughputInterval {
    const TITLE: &'static str = "Throughput Intervals for SIZE Bytes:";
    const HEADINGS: &'static [&'static str] = &[
        "Sample Size (Bytes)",
        "Total Samples",
        " Samples/s",
        "Avg Samples/s",
        "    Mbps",
        "Avg Mbps",
        "Lost Samples",
        "Lost Samples (%)",
    ];
    const IS_SUMMARY: bool = false;

    fn size_and_cpu(&self) -> (u64, Option<f64>) {
        (self.size, self.cpu_percent)
    }

    fn values(&self, rows: &Rows) -> Vec<String> {
        vec![
            self.size.to_string(),
            self.samples.to_string(),
            format!("{:.0}", self.samples_per_s),
            format!("{:.0}", self.samples_per_s_ave),
            format!("{:.1}", self.mbps),
            format!("{:.1}", self.mbps_ave),
            rows.lost(self.lost),
            rows.lost_percent(self.lost_percent),
        ]
    }

    fn labelled(&self, rows: &Rows) -> String {
        let Widths { samples, rate, gap, .. } = widths(rows);
        format!(
            "Packets: {:>samples$}{gap}Packets/s: {:>rate$.0}{gap}Packets/s(ave): {:>rate$.0}{gap}Mbps: {:>rate$.1}{gap}\
             Mbps(ave): {:>rate$.1}{gap}{}",
            self.samples,
            self.samples_per_s,
            self.samples_per_s_ave,
            self.mbps,
            self.mbps_ave,
            lost_text(self.lost, self.lost_percent, rows)
        )
    }

    fn fields(&self) -> Value {
        json!({
            "length": self.size,
            "packets": self.samples,
            "packets/s": rounded(self.samples_per_s),
            "packets/s_ave": rounded(self.samples_per_s_ave),
            "mbps": rounded(self.mbps),
            "mbps_ave": rounded(self.mbps_ave),
            "lost": self.lost,
            "lost_percent": self.lost_percent.map(rounded),
        })
    }
}

impl Row for ThroughputRow {
    const TITLE: &'static str = "Throughput Summary:";
    const HEADINGS: &'static [&'static str] = &[
        "Sample Size (Bytes)",
        "Total Samples",
        "Avg Samples/s",
        "Avg Mbps",
        "Lost Samples",
        "Lost Samples (%)",
    ];
    const IS_SUMMARY: bool = true;

    fn size_and_cpu(&self) -> (u64, Option<f64>) {
        (self.size, self.cpu_percent)
    }

    fn values(&self, rows: &Rows) -> Vec<String> {
        vec![
            self.size.to_string(),
            self.samples.to_string(),
            format!("{:.0}", self.samples_per_s),
            format!("{:.1}", self.mbps),
            rows.lost(self.lost),
            rows.lost_percent(self.lost_percent),
        ]
    }

    fn labelled(&self, rows: &Rows) -> String {
        let Widths { size, samples, rate, gap, .. } = widths(rows);
        format!(
            "Length: {:>size$}{gap}Packets: {:>samples$}{gap}Packets/s(ave): {:>rate$.0}{gap}Mbps(ave): {:>rate$.1}{gap}{}",
            self.size,
            self.samples,
            self.samples_per_s,
            self.mbps,
            lost_text(self.lost, self.lost_percent, rows)
        )
    }

    fn fields(&self) -> Value {
        json!({
            "packets": self.samples,
            "packets/sAve": rounded(self.samples_per_s),
            "mbpsAve": rounded(self.mbps),
            "lost": self.lost,
            "lostPercent": self.lost_percent.map(rounded),
        })
    }
}

fn lost_text(samples: Option<u64>, percent: Option<f64>, rows: &Rows) -> String {
    let Widths { lost: width, .. } = widths(rows);
    let text = format!("Lost: {:>width$}", rows.lost(samples));
    match (rows.generation, samples) {
        (Generation::V4_3, Some(_)) => format!("{text} ({}%)", rows.lost_percent(percent)),
        _ => text,
    }
}

/// Returns a value with at most three decimals, as JSON has it.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl LatencyRow {
    /// Returns the percentiles that rows print.
    fn printed(&self) -> Percentiles {
        std::array::from_fn(|place| self.percentiles[place].or(self.unsupported[place]))
    }
}
