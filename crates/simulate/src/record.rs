//! Recorded values of one kind.

use hdrhistogram::Histogram;
use results::{Latency, Windows, new_histogram};

/// Values of one kind in one run, in the order of measurement.
#[derive(Debug, Default)]
pub struct Series {
    /// `(time, value)` in ns; time 0 is the start of the measurement.
    values: Vec<(u64, u64)>,
}

impl Series {
    pub(crate) fn clear(&mut self) {
        self.values.clear();
    }

    pub(crate) fn record(&mut self, at_ns: u64, value_ns: u64) {
        self.values.push((at_ns, value_ns));
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.values.extend_from_slice(&other.values);
    }

    /// Returns whether nothing was recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the values as `(time, value)` in ns; time 0 is the start of the measurement.
    #[must_use]
    pub fn values(&self) -> &[(u64, u64)] {
        &self.values
    }

    /// Returns the values in windows, as an agent records them.
    #[must_use]
    pub fn windows(&self, windows: u32, planned_ns: u64) -> Windows {
        let mut recorded = Windows::new(windows, planned_ns);
        recorded.begin(0);
        for &(at_ns, value_ns) in &self.values {
            recorded.record(at_ns, value_ns);
        }
        recorded
    }

    /// Returns a quantile of all values, or `None` if they are too few. Changes the order of the values.
    pub(crate) fn quantile(&mut self, quantile: f64) -> Option<u64> {
        let n = self.values.len();
        if !stats::supports_quantile(n as u64, quantile) {
            return None;
        }
        let rank = ((n as f64 * quantile).ceil() as usize).clamp(1, n) - 1;
        let (_, (_, value), _) = self.values.select_nth_unstable_by_key(rank, |(_, value)| *value);
        Some(*value)
    }

    /// Returns the latency record of a result, and the histogram.
    pub(crate) fn latency(&self) -> (Latency, Histogram<u64>) {
        let mut histogram = new_histogram();
        for &(_, value_ns) in &self.values {
            histogram.saturating_record(value_ns);
        }
        let n = self.values.len() as f64;
        let of = |value: &(u64, u64)| value.1 as f64;
        let mean = self.values.iter().map(of).sum::<f64>() / n;
        let squared = self.values.iter().map(|value| (of(value) - mean).powi(2)).sum::<f64>();
        let sd = if self.values.len() < 2 { 0.0 } else { (squared / (n - 1.0)).sqrt() };
        let (min, max) = self
            .values
            .iter()
            .fold((u64::MAX, 0), |(min, max), &(_, value)| (min.min(value), max.max(value)));
        (Latency::of_histogram(&histogram, mean, sd, min, max), histogram)
    }
}
