//! Histograms over all samples: recording in windows, and the format that agents send.

use std::{hint::black_box, ops::Range};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use stats::Moments;

use super::{
    histogram_codec::{decode, encode},
    histogram_shape::{HistogramError, new_histogram},
};

/// Quantiles of a result, in the order of its fields.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_999];

/// Maximum number of windows for kinds without a steady-state test: one-way times and write calls.
pub const COARSE_WINDOWS: u32 = 20;

/// Recorder of times for the hot path: one histogram per window, and exact moments and extremes. Allocates only on
/// creation.
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
    /// Creates a recorder with `windows` windows over a planned time. Later values are recorded in the last window.
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

    /// Starts recording at this time. Touches every page, so that recording causes no page fault.
    pub fn begin(&mut self, now_ns: u64) {
        for histogram in &mut self.histograms {
            for exponent in 0..37 {
                histogram.saturating_record(1 << exponent);
            }
            black_box(&mut *histogram);
            histogram.reset();
        }
        self.current = 0;
        self.current_ends_ns = now_ns.saturating_add(self.length_ns);
        (self.n, self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, 0, u64::MAX, 0);
    }

    /// Moves the start of a started recorder that has no values yet. Touches no page.
    pub const fn begin_at(&mut self, begin_ns: u64) {
        self.current_ends_ns = begin_ns.saturating_add(self.length_ns);
    }

    /// Records one time, measured at `now_ns`.
    #[inline]
    pub fn record(&mut self, now_ns: u64, value_ns: u64) {
        while now_ns >= self.current_ends_ns && self.current + 1 < self.histograms.len() {
            self.current += 1;
            self.current_ends_ns = self.current_ends_ns.saturating_add(self.length_ns);
        }
        self.histograms[self.current].saturating_record(value_ns);
        self.n += 1;
        self.sum += u128::from(value_ns);
        self.sum_of_squares = self.sum_of_squares.saturating_add(u128::from(value_ns) * u128::from(value_ns));
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Returns the histograms of the windows up to the current one.
    #[must_use]
    pub fn histograms(&self) -> &[Histogram<u64>] {
        &self.histograms[..=self.current]
    }

    /// Returns the length of a window in ns.
    #[must_use]
    pub const fn length_ns(&self) -> u64 {
        self.length_ns
    }

    /// Returns the number of recorded values.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.n
    }

    /// Returns whether no value was recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Returns the median so far, 0 without values. Not for the hot path.
    #[must_use]
    pub fn median(&self) -> u64 {
        let mut all = new_histogram();
        for histogram in &self.histograms {
            all.add(histogram).expect("all have one shape");
        }
        all.value_at_quantile(0.5)
    }

    /// Returns the recorded values in the format that agents send.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let windows = self.histograms().iter().map(encode).collect();
        let n = self.n.max(1) as f64;
        let mean = self.sum as f64 / n;
        // n * sum of squares - sum^2 is exact in integers if it fits, without cancellation
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

/// Distribution in the format that agents send to the runner: exact moments and extremes, and one histogram per
/// window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Number of values.
    pub n: u64,
    /// Mean in ns (exact).
    pub mean_ns: f64,
    /// Sum of the squared deviations from the mean, in ns².
    pub squared_deviations: f64,
    /// Minimum in ns (exact); 0 without values.
    pub min_ns: u64,
    /// Maximum in ns (exact); 0 without values.
    pub max_ns: u64,
    /// Length of a window in ns.
    pub window_ns: u64,
    /// Histograms of the windows: HdrHistogram V2 format, deflated, as base64.
    pub windows: Vec<String>,
}

impl Distribution {
    /// Returns the sample standard deviation of the values in ns.
    #[must_use]
    pub fn sd_ns(&self) -> f64 {
        if self.n < 2 { 0.0 } else { (self.squared_deviations.max(0.0) / (self.n - 1) as f64).sqrt() }
    }

    /// Returns the number, mean and squared deviations.
    #[must_use]
    pub const fn moments(&self) -> Moments {
        Moments { n: self.n, mean: self.mean_ns, squared_deviations: self.squared_deviations }
    }

    /// Decodes the histograms of the windows one at a time, and calls `each` with the index and the histogram of each of
    /// them. Together they hold `n` values.
    ///
    /// # Errors
    /// Returns an error if a histogram cannot be decoded, if the histograms do not hold `n` values, or the error of `each`.
    pub fn read_each(
        &self,
        mut each: impl FnMut(usize, Histogram<u64>) -> Result<(), HistogramError>,
    ) -> Result<(), HistogramError> {
        let mut n = 0;
        for (index, text) in self.windows.iter().enumerate() {
            let histogram = decode(text)?;
            n += i128::from(histogram.len());
            each(index, histogram)?;
        }
        if n == i128::from(self.n) { Ok(()) } else { Err(HistogramError::Mismatch(n - i128::from(self.n))) }
    }

    /// Decodes the histograms of the windows, which together hold `n` values.
    ///
    /// # Errors
    /// Returns an error if a histogram cannot be decoded, or if the histograms do not hold `n` values.
    pub fn histograms(&self) -> Result<Vec<Histogram<u64>>, HistogramError> {
        let mut histograms = Vec::with_capacity(self.windows.len());
        self.read_each(|_, histogram| {
            histograms.push(histogram);
            Ok(())
        })?;
        Ok(histograms)
    }

    /// Returns a quantile of the values in each of these ranges of windows, in ns; `None` for a range without values.
    ///
    /// # Errors
    /// Returns an error as [`Distribution::histograms`] does.
    pub fn quantile_of_windows(
        &self,
        quantile: f64,
        ranges: &[Range<usize>],
    ) -> Result<Vec<Option<u64>>, HistogramError> {
        let windows = self.histograms()?;
        let of_range = |range: &Range<usize>| {
            let mut merged: Option<Histogram<u64>> = None;
            let inside = windows.iter().enumerate().filter(|(index, _)| range.contains(index));
            for (_, window) in inside {
                match &mut merged {
                    Some(merged) => {
                        merged.add(window).map_err(|error| HistogramError::Decode(error.to_string()))?;
                    }
                    none => *none = Some(window.clone()),
                }
            }
            let values = merged.filter(|merged| !merged.is_empty());
            Ok(values.map(|values| values.value_at_quantile(quantile)))
        };
        ranges.iter().map(of_range).collect()
    }
}
