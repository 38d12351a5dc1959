//! Operations on histograms that visit every counter. They are compiled here, not where they are used, because this crate is
//! optimized in development builds, too.

use hdrhistogram::Histogram;

use super::histogram_shape::HistogramError;

/// Adds the values of a histogram to another one.
///
/// # Errors
/// Returns an error if the shapes differ.
#[inline(never)]
pub fn add(to: &mut Histogram<u64>, values: &Histogram<u64>) -> Result<(), HistogramError> {
    to.add(values).map_err(|error| HistogramError::Decode(error.to_string()))
}

/// Returns the value below or at which this share of the values is.
#[inline(never)]
#[must_use]
pub fn value_at_quantile(histogram: &Histogram<u64>, quantile: f64) -> u64 {
    histogram.value_at_quantile(quantile)
}

/// Returns the number of values up to this one.
#[inline(never)]
#[must_use]
pub fn count_up_to(histogram: &Histogram<u64>, highest: u64) -> u64 {
    histogram.count_between(0, highest)
}
