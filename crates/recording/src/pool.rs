//! Distributions that were recorded at the same time, merged window by window as they are read.

use hdrhistogram::Histogram;
use stats::Moments;

use super::{
    histogram::Distribution,
    histogram_codec::{encode, too_many},
    histogram_shape::HistogramError,
};

/// Merged windows, moments and extremes of distributions.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    windows: Vec<Histogram<u64>>,
    moments: Moments,
    /// Minimum and maximum of all values; `None` without values.
    extremes: Option<[u64; 2]>,
    /// Length of a window of the first distribution.
    window_ns: Option<u64>,
}

impl Pool {
    /// Adds a window of a distribution to those with the same index.
    ///
    /// # Errors
    /// Returns an error if there are more values than can be counted, or if the shapes differ.
    pub fn add_window(&mut self, index: usize, histogram: &Histogram<u64>) -> Result<(), HistogramError> {
        let Some(window) = self.windows.get_mut(index) else {
            self.windows.push(histogram.clone());
            return Ok(());
        };
        window.len().checked_add(histogram.len()).ok_or_else(too_many)?;
        window.add(histogram).map_err(|error| HistogramError::Decode(error.to_string()))
    }

    /// Adds the moments and extremes of a distribution whose windows were added.
    pub fn add_moments(&mut self, part: &Distribution) {
        self.moments = self.moments.combine(part.moments());
        self.window_ns.get_or_insert(part.window_ns);
        if part.n > 0 {
            let [min_ns, max_ns] = self.extremes.unwrap_or([part.min_ns, part.max_ns]);
            self.extremes = Some([min_ns.min(part.min_ns), max_ns.max(part.max_ns)]);
        }
    }

    /// Returns the merged distribution.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let [min_ns, max_ns] = self.extremes.unwrap_or_default();
        Distribution {
            n: self.moments.n,
            mean_ns: self.moments.mean,
            squared_deviations: self.moments.squared_deviations,
            min_ns,
            max_ns,
            window_ns: self.window_ns.unwrap_or(0),
            windows: self.windows.iter().map(encode).collect(),
        }
    }
}

impl Distribution {
    /// Merges distributions that were recorded at the same time, window by window.
    ///
    /// # Errors
    /// Returns an error if a distribution cannot be decoded, or if its histograms do not hold `n` values.
    pub fn together(parts: &[&Self]) -> Result<Self, HistogramError> {
        let mut pool = Pool::default();
        for part in parts {
            part.read_each(|index, histogram| pool.add_window(index, &histogram))?;
            pool.add_moments(part);
        }
        Ok(pool.distribution())
    }
}
