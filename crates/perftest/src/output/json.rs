//! JSON document of a process.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    banner::EffectiveValue,
    number::rounded,
    values::{LatencyInterval, LatencyRow, PERCENTS, ThroughputInterval, ThroughputRow},
};
use crate::{
    generation::Generation,
    settings::{GivenOption, Local, Settings, Shared},
    table::Role,
};

/// Values of a process, collected for its JSON document.
#[derive(Clone, Debug, Default)]
pub struct Json {
    sizes: Vec<SizeResult>,
}

/// Circumstances of a JSON document.
#[derive(Clone, Debug, Default)]
pub struct JsonContext<'v> {
    /// Versions of ddsmark, the driver and the middleware, by name.
    pub versions: BTreeMap<String, String>,
    /// Properties of the host, by name.
    pub host: BTreeMap<String, String>,
    /// Effective values.
    pub effective: &'v [EffectiveValue],
    /// Reasons why the test is not valid; empty if it is.
    pub invalid: &'v [String],
}

#[derive(Serialize)]
struct Document<'v> {
    perftest: &'v [SizeResult],
    configuration: Configuration<'v>,
    versions: &'v BTreeMap<String, String>,
    host: &'v BTreeMap<String, String>,
    valid: bool,
    invalid: &'v [String],
}

#[derive(Serialize)]
struct Configuration<'v> {
    compatible_with: Generation,
    role: Role,
    driver: &'v str,
    latency: &'static str,
    given: &'v [GivenOption],
    requested: Requested<'v>,
    effective: BTreeMap<&'v str, &'v str>,
}

#[derive(Serialize)]
struct Requested<'v> {
    test: &'v Shared,
    process: &'v Local,
}

#[derive(Clone, Debug, Serialize)]
struct SizeResult {
    length: u64,
    intervals: Vec<Interval>,
    summary: Option<Summary>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Interval {
    Latency {
        latency: f64,
        latency_ave: f64,
        latency_std: Option<f64>,
        latency_min: f64,
        latency_max: f64,
        #[serde(rename = "CPU", skip_serializing_if = "Option::is_none")]
        cpu: Option<f64>,
    },
    Throughput {
        length: u64,
        packets: u64,
        #[serde(rename = "packets/s")]
        packets_per_s: f64,
        #[serde(rename = "packets/s_ave")]
        packets_per_s_ave: f64,
        mbps: f64,
        mbps_ave: f64,
        lost: Option<u64>,
        lost_percent: Option<f64>,
        #[serde(rename = "CPU", skip_serializing_if = "Option::is_none")]
        cpu: Option<f64>,
    },
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Summary {
    Latency {
        latency_samples: u64,
        latency_ave: Option<f64>,
        latency_std: Option<f64>,
        latency_min: Option<f64>,
        latency_max: Option<f64>,
        latency_50: Option<f64>,
        latency_90: Option<f64>,
        latency_99: Option<f64>,
        #[serde(rename = "latency_99.99")]
        latency_99_99: Option<f64>,
        #[serde(rename = "latency_99.9999")]
        latency_99_9999: Option<f64>,
        /// Fields whose values the samples do not support.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        unsupported: Vec<String>,
        #[serde(rename = "CPU", skip_serializing_if = "Option::is_none")]
        cpu: Option<f64>,
    },
    Throughput {
        packets: u64,
        #[serde(rename = "packets/sAve")]
        packets_per_s: f64,
        #[serde(rename = "mbpsAve")]
        mbps: f64,
        lost: Option<u64>,
        #[serde(rename = "lostPercent")]
        lost_percent: Option<f64>,
        #[serde(rename = "CPU", skip_serializing_if = "Option::is_none")]
        cpu: Option<f64>,
    },
}

impl Json {
    /// Adds a latency row during the test.
    pub fn latency_interval(&mut self, row: &LatencyInterval) {
        let interval = Interval::Latency {
            latency: rounded(row.latency_us),
            latency_ave: rounded(row.ave_us),
            latency_std: row.std_us.map(rounded),
            latency_min: rounded(row.min_us),
            latency_max: rounded(row.max_us),
            cpu: row.cpu_percent.map(rounded),
        };
        self.size(row.size).intervals.push(interval);
    }

    /// Adds a latency row at the end of a size.
    pub fn latency_summary(&mut self, row: &LatencyRow) {
        let [p50, p90, p99, p99_99, p99_9999] = row.printed().map(|value| value.map(rounded));
        let unsupported = PERCENTS.iter().zip(row.unsupported).filter(|(_, value)| value.is_some());
        self.size(row.size).summary = Some(Summary::Latency {
            latency_samples: row.samples,
            latency_ave: row.ave_us.map(rounded),
            latency_std: row.std_us.map(rounded),
            latency_min: row.min_us.map(rounded),
            latency_max: row.max_us.map(rounded),
            latency_50: p50,
            latency_90: p90,
            latency_99: p99,
            latency_99_99: p99_99,
            latency_99_9999: p99_9999,
            unsupported: unsupported.map(|(percent, _)| format!("latency_{percent}")).collect(),
            cpu: row.cpu_percent.map(rounded),
        });
    }

    /// Adds a throughput row during the test.
    pub fn throughput_interval(&mut self, row: &ThroughputInterval) {
        let interval = Interval::Throughput {
            length: row.size,
            packets: row.samples,
            packets_per_s: rounded(row.samples_per_s),
            packets_per_s_ave: rounded(row.samples_per_s_ave),
            mbps: rounded(row.mbps),
            mbps_ave: rounded(row.mbps_ave),
            lost: row.lost,
            lost_percent: row.lost_percent.map(rounded),
            cpu: row.cpu_percent.map(rounded),
        };
        self.size(row.size).intervals.push(interval);
    }

    /// Adds a throughput row at the end of a size.
    pub fn throughput_summary(&mut self, row: &ThroughputRow) {
        self.size(row.size).summary = Some(Summary::Throughput {
            packets: row.samples,
            packets_per_s: rounded(row.samples_per_s),
            mbps: rounded(row.mbps),
            lost: row.lost,
            lost_percent: row.lost_percent.map(rounded),
            cpu: row.cpu_percent.map(rounded),
        });
    }

    /// Returns the results of the size that is measured; a size that has its summary is complete.
    fn size(&mut self, length: u64) -> &mut SizeResult {
        let open = self.sizes.last().is_some_and(|last| last.length == length && last.summary.is_none());
        if !open {
            self.sizes.push(SizeResult { length, intervals: Vec::new(), summary: None });
        }
        let last = self.sizes.len() - 1;
        &mut self.sizes[last]
    }

    /// Returns the document. Values that the samples do not support, or that are unknown, are `null`.
    ///
    /// # Panics
    /// Never panics: the document serializes to JSON.
    #[must_use]
    pub fn document(&self, settings: &Settings, context: &JsonContext<'_>) -> String {
        let effective = context.effective.iter();
        let document = Document {
            perftest: &self.sizes,
            configuration: Configuration {
                compatible_with: settings.generation,
                role: settings.role,
                driver: &settings.driver,
                latency: "RTT/2 in microseconds",
                given: &settings.given,
                requested: Requested { test: &settings.shared, process: &settings.local },
                effective: effective.map(|value| (value.name.as_str(), value.value.as_str())).collect(),
            },
            versions: &context.versions,
            host: &context.host,
            valid: context.invalid.is_empty(),
            invalid: context.invalid,
        };
        let mut text = serde_json::to_string_pretty(&document).expect("a document is JSON");
        text.push('\n');
        text
    }
}
