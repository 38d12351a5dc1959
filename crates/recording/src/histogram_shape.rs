//! Shape of all histograms, and errors of reading one.

use hdrhistogram::Histogram;

pub(crate) const SIGNIFICANT_DIGITS: u8 = 3;
/// Highest recorded value in ns. Longer times are recorded as this value; the maximum stays exact.
pub(crate) const HIGHEST_NS: u64 = 100_000_000_000;

/// Creates an empty histogram of the shape that all of ddsmark uses: 1 ns to 100 s, accurate to 0.1 %.
#[must_use]
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS).expect("the bounds are valid")
}

/// Error of reading or writing a histogram.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("a histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The data is not an HdrHistogram of the shape that ddsmark writes.
    #[error("a histogram cannot be decoded: {0}")]
    Decode(String),
    /// The histograms hold more or fewer values than were recorded.
    #[error("a histogram has {0} more values than its record says")]
    Mismatch(i128),
    /// The interval log cannot be read.
    #[error("the interval log cannot be read near byte {0}")]
    Log(usize),
    /// The interval log cannot be written.
    #[error("the interval log cannot be written: {0}")]
    Write(String),
}
