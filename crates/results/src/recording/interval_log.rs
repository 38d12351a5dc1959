//! Histograms of a run as an HdrHistogram interval log.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use hdrhistogram::{
    Histogram,
    serialization::{
        V2DeflateSerializer,
        interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag},
    },
};

use crate::{
    Distribution, HistogramError, new_histogram,
    recording::histogram_codec::{decode, too_many},
};

/// Histograms by kind.
pub type Histograms = BTreeMap<String, Histogram<u64>>;

pub(crate) fn merge<'w>(windows: impl Iterator<Item = (&'w str, &'w Histogram<u64>)>) -> Histograms {
    let mut merged = Histograms::new();
    for (kind, histogram) in windows {
        let all = merged.entry(kind.to_owned()).or_insert_with(new_histogram);
        // a histogram of another shape is foreign; it shows as a difference in n
        let _ = all.add(histogram);
    }
    merged
}

/// First line of a log after its `#`, as the reference implementation writes it.
const FORMAT: &str = "[Histogram log format version 1.3]";
/// Column headings.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// HdrHistogram V2 interval log, readable by other HdrHistogram tools: one line per window, with its kind as the
/// tag.
#[derive(Clone, Debug, Default)]
pub struct IntervalLog {
    bytes: Vec<u8>,
    windows: Vec<(String, Duration, Duration, Histogram<u64>)>,
}

impl IntervalLog {
    /// Creates an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the windows of one kind.
    ///
    /// # Errors
    /// Returns an error if the distribution cannot be decoded.
    pub fn add(&mut self, kind: &str, distribution: &Distribution) -> Result<(), HistogramError> {
        self.add_windows(kind, distribution.window_ns, distribution.histograms()?);
        Ok(())
    }

    /// Like [`IntervalLog::add`], with decoded histograms.
    pub fn add_windows(&mut self, kind: &str, window_ns: u64, windows: Vec<Histogram<u64>>) {
        let length = Duration::from_nanos(window_ns);
        for (index, histogram) in windows.into_iter().enumerate() {
            self.windows.push((kind.to_owned(), length * index as u32, length, histogram));
        }
    }

    /// Returns whether the log has no windows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Returns the merged histogram of each kind.
    #[must_use]
    pub fn merged(&self) -> Histograms {
        merge(self.windows.iter().map(|(kind, .., histogram)| (kind.as_str(), histogram)))
    }

    /// Writes the log as text.
    ///
    /// # Errors
    /// Returns an error if a kind is not a valid tag.
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
            let tag = Tag::new(kind)
                .ok_or_else(|| HistogramError::Write(format!("`{kind}` is not a valid tag")))?;
            log.write_histogram(histogram, *start, *length, Some(tag)).map_err(|error| failed(&error))?;
        }
        let headings = self.bytes.split_inclusive(|byte| *byte == b'\n');
        let header: usize = headings.take_while(|line| line.starts_with(b"#")).map(<[u8]>::len).sum();
        self.bytes.splice(header..header, LEGEND.bytes());
        Ok(self.bytes)
    }

    /// Reads the windows of a log in their order: `(kind, start, histogram)`.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a log, or if a histogram is damaged.
    pub fn read(bytes: &[u8]) -> Result<Vec<(String, Duration, Histogram<u64>)>, HistogramError> {
        let mut windows = Vec::new();
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
            let kind = interval.tag().map(|tag| tag.as_str().to_owned()).unwrap_or_default();
            windows.push((kind, interval.start_timestamp(), histogram));
            offset += line.len();
        }
        Ok(windows)
    }
}
