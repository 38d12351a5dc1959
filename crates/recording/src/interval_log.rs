//! Histograms of a run as an HdrHistogram interval log.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

use hdrhistogram::{
    Histogram,
    serialization::{
        V2DeflateSerializer,
        interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag},
    },
};

use super::{
    encoded_windows::EncodedWindows,
    histogram::Distribution,
    histogram_codec::{decode, too_many},
    histogram_shape::{HistogramError, new_histogram},
};

/// Histograms by kind.
pub type Histograms = BTreeMap<String, Histogram<u64>>;

/// Adds a histogram to those of its kind.
fn pool(pooled: &mut Histograms, kind: &str, histogram: &Histogram<u64>) {
    if !pooled.contains_key(kind) {
        pooled.insert(kind.to_owned(), new_histogram());
    }
    let all = pooled.get_mut(kind).expect("it was inserted");
    // a histogram of another shape is foreign; it shows as a difference in n
    let _ = all.add(histogram);
}

/// First line of a log after its `#`, as the reference implementation writes it.
const FORMAT: &str = "[Histogram log format version 1.3]";
/// Column headings.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// HdrHistogram V2 interval log, readable by other HdrHistogram tools: one line per window, with its kind as the
/// tag. The windows stay encoded: a decoded one takes 224 KiB, whatever is in it.
#[derive(Clone, Debug, Default)]
pub struct IntervalLog {
    kinds: Vec<(String, Arc<EncodedWindows>)>,
}

impl IntervalLog {
    /// Creates an empty log.
    #[must_use]
    pub const fn new() -> Self {
        Self { kinds: Vec::new() }
    }

    /// Adds the windows of one kind. Decodes them one at a time, and returns all of them merged.
    ///
    /// # Errors
    /// Returns an error if the distribution cannot be decoded.
    pub fn add(&mut self, kind: &str, distribution: &Distribution) -> Result<Histogram<u64>, HistogramError> {
        let (windows, merged) = EncodedWindows::read(distribution, |_, _| Ok(()))?;
        self.add_encoded(kind, Arc::new(windows));
        Ok(merged)
    }

    /// Adds windows that are encoded already.
    pub fn add_encoded(&mut self, kind: &str, windows: Arc<EncodedWindows>) {
        self.kinds.push((kind.to_owned(), windows));
    }

    /// Adds everything in another log.
    pub fn append(&mut self, mut other: Self) {
        self.kinds.append(&mut other.kinds);
    }

    /// Returns whether the log has no windows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.iter().all(|(_, windows)| windows.is_empty())
    }

    /// Returns the merged histogram of each kind.
    #[must_use]
    pub fn merged(&self) -> Histograms {
        self.merged_if(|_| true)
    }

    /// Returns the merged histogram of each of these kinds that the log has.
    #[must_use]
    pub fn merged_of(&self, kinds: &BTreeSet<String>) -> Histograms {
        self.merged_if(|kind| kinds.contains(kind))
    }

    fn merged_if(&self, is_asked: impl Fn(&str) -> bool) -> Histograms {
        let mut merged = Histograms::new();
        for (kind, windows) in self.kinds.iter().filter(|(kind, _)| is_asked(kind)) {
            for histogram in windows.decoded() {
                pool(&mut merged, kind, &histogram);
            }
        }
        merged
    }

    /// Writes the log as text.
    ///
    /// # Errors
    /// Returns an error if a kind is not a valid tag.
    pub fn write(self, started: SystemTime, comment: &str) -> Result<Vec<u8>, HistogramError> {
        let mut bytes = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        let mut builder = IntervalLogWriterBuilder::new();
        builder
            .add_comment(FORMAT)
            .add_comment(comment)
            .with_start_time(started)
            .with_base_time(started)
            .with_max_value_divisor(1.0);
        let begun = builder.begin_log_with(&mut bytes, &mut serializer);
        begun.map_err(|error| HistogramError::Write(format!("{error:?}")))?;
        bytes.extend_from_slice(LEGEND.as_bytes());
        let mut lines: Vec<(Duration, &str, &EncodedWindows, usize)> = Vec::new();
        for (kind, windows) in &self.kinds {
            if Tag::new(kind).is_none() {
                return Err(HistogramError::Write(format!("`{kind}` is not a valid tag")));
            }
            lines.extend(
                (0..windows.len()).map(|index| (windows.start(index), kind.as_str(), &**windows, index)),
            );
        }
        lines.sort_by_key(|(start, ..)| *start);
        let mut text = String::new();
        for (start, kind, windows, index) in lines {
            text.clear();
            let (start_s, length_s) = (start.as_secs_f64(), windows.length().as_secs_f64());
            let (max, encoded) = windows.window(index);
            // As the library writes a decoded histogram.
            writeln!(text, "Tag={kind},{start_s:.3},{length_s:.3},{:.3},{encoded}", max as f64)
                .expect("a string grows");
            bytes.extend_from_slice(text.as_bytes());
        }
        Ok(bytes)
    }

    /// Reads the windows of a log in their order, and calls `each` with the kind, start and histogram of each of them. Only
    /// one is in memory at a time.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a log, or if a histogram is damaged.
    pub fn read_each(
        bytes: &[u8],
        mut each: impl FnMut(&str, Duration, Histogram<u64>),
    ) -> Result<(), HistogramError> {
        let (mut offset, mut values) = (0, 0_u64);
        // line by line: the library would search for the end of a field in the next lines
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let interval = match IntervalLogIterator::new(line).next() {
                Some(Ok(LogEntry::Interval(interval))) => interval,
                // a comment or the headings
                Some(Ok(_)) | None => {
                    offset += line.len();
                    continue;
                }
                Some(Err(_)) => return Err(HistogramError::Log(offset)),
            };
            let histogram = decode(interval.encoded_histogram())?;
            values = values.checked_add(histogram.len()).ok_or_else(too_many)?;
            let kind = interval.tag().map(|tag| tag.as_str()).unwrap_or_default();
            each(kind, interval.start_timestamp(), histogram);
            offset += line.len();
        }
        Ok(())
    }

    /// Reads the windows of a log in their order: `(kind, start, histogram)`. All of them are in memory at the same time.
    ///
    /// # Errors
    /// Returns an error as [`IntervalLog::read_each`] does.
    pub fn read(bytes: &[u8]) -> Result<Vec<(String, Duration, Histogram<u64>)>, HistogramError> {
        let mut windows = Vec::new();
        Self::read_each(bytes, |kind, start, histogram| windows.push((kind.to_owned(), start, histogram)))?;
        Ok(windows)
    }

    /// Reads a log, and returns the merged histogram of each of these kinds. All windows are checked.
    ///
    /// # Errors
    /// Returns an error as [`IntervalLog::read_each`] does.
    pub fn read_merged(bytes: &[u8], kinds: &BTreeSet<String>) -> Result<Histograms, HistogramError> {
        let mut merged = Histograms::new();
        Self::read_each(bytes, |kind, _, histogram| {
            if kinds.contains(kind) {
                pool(&mut merged, kind, &histogram);
            }
        })?;
        Ok(merged)
    }
}
