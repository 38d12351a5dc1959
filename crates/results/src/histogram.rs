//! Histograms over all samples: recording into windows, and the text in which they travel and are stored.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{
        Deserializer, Serializer as _, V2DeflateSerializer,
        interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag},
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quantiles of a result, in the order of its fields.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_999];

const SIGNIFICANT_DIGITS: u8 = 3;
/// Longer times are recorded as this; the maximum stays exact.
const HIGHEST_NS: u64 = 100_000_000_000;

/// So many windows at most have histograms of what is not judged window by window: one-way times, write calls.
pub const COARSE_WINDOWS: u32 = 20;

/// An empty histogram of the one shape that all of ddsmark uses: 1 ns to 100 s within 0.1 %.
#[must_use]
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS).expect("the bounds are valid")
}

/// Records times on the hot path: one histogram a window, and exact moments and extremes. Allocates when made only.
#[derive(Debug)]
pub struct Windows {
    histograms: Vec<Histogram<u64>>,
    current: usize,
    length_ns: u64,
    current_ends_ns: u64,
    n: u64,
    sum: u128,
    sum_of_squares: u128,
    min: u64,
    max: u64,
}

impl Windows {
    /// For `windows` windows over a planned time. What comes later falls into the last one.
    #[must_use]
    pub fn new(windows: u32, planned_ns: u64) -> Self {
        let windows = windows.max(1);
        Self {
            histograms: (0..windows).map(|_| new_histogram()).collect(),
            current: 0,
            length_ns: (planned_ns / u64::from(windows)).max(1),
            current_ends_ns: 0,
            n: 0,
            sum: 0,
            sum_of_squares: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Begins at this time. Every page is touched, so that recording meets no page fault.
    pub fn begin(&mut self, now_ns: u64) {
        for histogram in &mut self.histograms {
            for exponent in 0..37 {
                histogram.saturating_record(1 << exponent);
            }
            histogram.reset();
        }
        self.current = 0;
        self.current_ends_ns = now_ns + self.length_ns;
        (self.n, self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, 0, u64::MAX, 0);
    }

    /// Records one time, measured at `now_ns`.
    #[inline]
    pub fn record(&mut self, now_ns: u64, value_ns: u64) {
        while now_ns >= self.current_ends_ns && self.current + 1 < self.histograms.len() {
            self.current += 1;
            self.current_ends_ns += self.length_ns;
        }
        self.histograms[self.current].saturating_record(value_ns);
        self.n += 1;
        self.sum += u128::from(value_ns);
        self.sum_of_squares += u128::from(value_ns) * u128::from(value_ns);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// The windows so far.
    #[must_use]
    pub fn histograms(&self) -> &[Histogram<u64>] {
        &self.histograms[..=self.current]
    }

    /// Length of a window.
    #[must_use]
    pub const fn length_ns(&self) -> u64 {
        self.length_ns
    }

    /// How many were recorded.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.n
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The median so far, 0 of nothing. Not for the hot path.
    #[must_use]
    pub fn median(&self) -> u64 {
        let mut all = new_histogram();
        for histogram in &self.histograms {
            all.add(histogram).expect("all have one shape");
        }
        all.value_at_quantile(0.5)
    }

    /// What was recorded, as it travels.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let windows = self.histograms().iter().map(encode).collect();
        let n = self.n.max(1) as f64;
        let mean = self.sum as f64 / n;
        // n * sum of squares - (sum)^2 is exact in integers where it fits, and loses no digits to cancellation
        let squared_deviations = (u128::from(self.n).checked_mul(self.sum_of_squares))
            .zip(self.sum.checked_mul(self.sum))
            .map_or_else(
                || self.sum_of_squares as f64 - self.sum as f64 * mean,
                |(scaled, square)| (scaled - square) as f64 / n,
            );
        Distribution {
            n: self.n,
            mean_ns: mean,
            squared_deviations,
            min_ns: if self.n == 0 { 0 } else { self.min },
            max_ns: self.max,
            window_ns: self.length_ns,
            windows,
        }
    }
}

/// A distribution as it travels from agent to runner: exact moments and extremes, and a histogram a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Values.
    pub n: u64,
    /// Exact.
    pub mean_ns: f64,
    /// Sum of the squared deviations from the mean, in ns².
    pub squared_deviations: f64,
    /// Exact; 0 of nothing.
    pub min_ns: u64,
    /// Exact; 0 of nothing.
    pub max_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Histograms: base64 of the V2 format, deflated.
    pub windows: Vec<String>,
}

/// Why a histogram cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// Not base64.
    #[error("a histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Not an HDR histogram.
    #[error("a histogram cannot be decoded: {0}")]
    Decode(String),
    /// Of another shape than ours.
    #[error("a histogram has {0} more values than its record says")]
    Mismatch(i128),
    /// An interval log that cannot be read.
    #[error("the interval log cannot be read near byte {0}")]
    Log(usize),
    /// An interval log that cannot be written.
    #[error("the interval log cannot be written: {0}")]
    Write(String),
}

impl Distribution {
    /// Standard deviation of the values.
    #[must_use]
    pub fn sd_ns(&self) -> f64 {
        if self.n < 2 { 0.0 } else { (self.squared_deviations.max(0.0) / (self.n - 1) as f64).sqrt() }
    }

    /// The histograms of the windows, which hold just `n` values.
    ///
    /// # Errors
    /// What arrived is not what was recorded.
    pub fn histograms(&self) -> Result<Vec<Histogram<u64>>, HistogramError> {
        let histograms: Vec<_> = self.windows.iter().map(|text| decode(text)).collect::<Result<_, _>>()?;
        let n: i128 = histograms.iter().map(|histogram| i128::from(histogram.len())).sum();
        if n == i128::from(self.n) {
            Ok(histograms)
        } else {
            Err(HistogramError::Mismatch(n - i128::from(self.n)))
        }
    }
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("a vector takes all bytes");
    STANDARD.encode(bytes)
}

fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = STANDARD.decode(text)?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| HistogramError::Decode(error.to_string()))
}

/// Histograms by kind.
pub type Histograms = BTreeMap<String, Histogram<u64>>;

pub(crate) fn merge<'w>(windows: impl Iterator<Item = (&'w str, &'w Histogram<u64>)>) -> Histograms {
    let mut merged = Histograms::new();
    for (kind, histogram) in windows {
        let all = merged.entry(kind.to_owned()).or_insert_with(new_histogram);
        // what does not fit into our shape is not of our making; it shows as a difference in n
        let _ = all.add(histogram);
    }
    merged
}

/// The first line of a log after its `#`, as the makers of the format write it.
const FORMAT: &str = "[Histogram log format version 1.3]";
/// The headings of its columns.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// An HdrHistogram V2 interval log, as other HdrHistogram tools read it: one line a window, its kind as the tag.
#[derive(Clone, Debug, Default)]
pub struct IntervalLog {
    bytes: Vec<u8>,
    windows: Vec<(String, Duration, Duration, Histogram<u64>)>,
}

impl IntervalLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the windows of one kind.
    ///
    /// # Errors
    /// A distribution that cannot be decoded.
    pub fn add(&mut self, kind: &str, distribution: &Distribution) -> Result<(), HistogramError> {
        self.add_windows(kind, distribution.window_ns, distribution.histograms()?);
        Ok(())
    }

    /// The same where the histograms of the windows are decoded already.
    pub fn add_windows(&mut self, kind: &str, window_ns: u64, windows: Vec<Histogram<u64>>) {
        let length = Duration::from_nanos(window_ns);
        for (index, histogram) in windows.into_iter().enumerate() {
            self.windows.push((kind.to_owned(), length * index as u32, length, histogram));
        }
    }

    /// Whether it has no window.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// All windows of a kind as one, by kind.
    #[must_use]
    pub fn merged(&self) -> Histograms {
        merge(self.windows.iter().map(|(kind, .., histogram)| (kind.as_str(), histogram)))
    }

    /// The text of the log.
    ///
    /// # Errors
    /// A kind that is no tag.
    pub fn write(mut self, started: SystemTime, comment: &str) -> Result<Vec<u8>, HistogramError> {
        let failed = |error: &dyn std::fmt::Debug| HistogramError::Write(format!("{error:?}"));
        let mut serializer = V2DeflateSerializer::new();
        let mut builder = IntervalLogWriterBuilder::new();
        builder
            .add_comment(FORMAT)
            .add_comment(comment)
            .with_start_time(started)
            .with_base_time(started)
            .with_max_value_divisor(1.0);
        let mut log =
            builder.begin_log_with(&mut self.bytes, &mut serializer).map_err(|error| failed(&error))?;
        self.windows.sort_by_key(|(_, start, ..)| *start);
        for (kind, start, length, histogram) in &self.windows {
            let tag = Tag::new(kind).ok_or_else(|| HistogramError::Write(format!("`{kind}` is no tag")))?;
            log.write_histogram(histogram, *start, *length, Some(tag)).map_err(|error| failed(&error))?;
        }
        let headings = self.bytes.split_inclusive(|byte| *byte == b'\n');
        let header: usize = headings.take_while(|line| line.starts_with(b"#")).map(<[u8]>::len).sum();
        self.bytes.splice(header..header, LEGEND.bytes());
        Ok(self.bytes)
    }

    /// The windows of a log in their order: `(kind, start, histogram)`.
    ///
    /// # Errors
    /// What is no log, or has damaged histograms.
    pub fn read(bytes: &[u8]) -> Result<Vec<(String, Duration, Histogram<u64>)>, HistogramError> {
        let mut windows = Vec::new();
        for entry in IntervalLogIterator::new(bytes) {
            match entry {
                Ok(LogEntry::Interval(interval)) => windows.push((
                    interval.tag().map(|tag| tag.as_str().to_owned()).unwrap_or_default(),
                    interval.start_timestamp(),
                    decode(interval.encoded_histogram())?,
                )),
                Ok(_) => {}
                Err(error) => {
                    let hdrhistogram::serialization::interval_log::LogIteratorError::ParseError { offset } =
                        error;
                    return Err(HistogramError::Log(offset));
                }
            }
        }
        Ok(windows)
    }
}
