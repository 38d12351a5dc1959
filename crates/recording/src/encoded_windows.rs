//! Windows of a distribution, encoded as agents send them and as a log stores them.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::{
    histogram::Distribution,
    histogram_codec::{decode, encode},
    histogram_shape::{HistogramError, new_histogram},
};

/// Windows of a distribution, encoded. Each of them can be decoded.
#[derive(Clone, Debug, Default)]
pub struct EncodedWindows {
    length: Duration,
    /// Maximum of each window as its histogram has it, and its text.
    windows: Vec<(u64, String)>,
}

impl EncodedWindows {
    /// Reads the windows of a distribution one at a time. Calls `each` with the index and the histogram of each window. Returns
    /// them encoded, and all of them merged.
    ///
    /// # Errors
    /// Returns an error if a histogram cannot be decoded, if the histograms do not hold `n` values, or the error of `each`.
    pub fn read(
        distribution: &Distribution,
        mut each: impl FnMut(usize, &Histogram<u64>) -> Result<(), HistogramError>,
    ) -> Result<(Self, Histogram<u64>), HistogramError> {
        let (mut maxima, mut merged) = (Vec::new(), new_histogram());
        distribution.read_each(|index, histogram| {
            merged.add(&histogram).map_err(|error| HistogramError::Decode(error.to_string()))?;
            maxima.push(histogram.max());
            each(index, &histogram)
        })?;
        Ok((Self::of(distribution, maxima), merged))
    }

    /// Returns the windows of a distribution whose histograms are decoded already.
    #[must_use]
    pub fn of_decoded(distribution: &Distribution, histograms: &[Histogram<u64>]) -> Self {
        Self::of(distribution, histograms.iter().map(Histogram::max).collect())
    }

    fn of(distribution: &Distribution, maxima: Vec<u64>) -> Self {
        let windows = maxima.into_iter().zip(distribution.windows.iter().cloned());
        Self { length: Duration::from_nanos(distribution.window_ns), windows: windows.collect() }
    }

    /// Encodes histograms of windows of this length.
    #[must_use]
    pub fn encode(window_ns: u64, histograms: &[Histogram<u64>]) -> Self {
        let windows = histograms.iter().map(|histogram| (histogram.max(), encode(histogram)));
        Self { length: Duration::from_nanos(window_ns), windows: windows.collect() }
    }

    /// Returns the number of windows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.windows.len()
    }

    /// Returns whether there is no window.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Returns the length of a window.
    pub(super) const fn length(&self) -> Duration {
        self.length
    }

    /// Returns the start of a window.
    pub(super) fn start(&self, index: usize) -> Duration {
        self.length * index as u32
    }

    /// Returns the maximum and the text of a window.
    pub(super) fn window(&self, index: usize) -> (u64, &str) {
        let (max, text) = &self.windows[index];
        (*max, text)
    }

    /// Decodes the windows one at a time.
    pub(super) fn decoded(&self) -> impl Iterator<Item = Histogram<u64>> {
        self.windows.iter().map(|(_, text)| decode(text).expect("it was decoded before"))
    }
}
