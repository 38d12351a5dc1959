//! Recorded values of one kind.

use std::collections::BTreeMap;

use results::{Distribution, Windows};

/// Values of one kind in one run, in the order of measurement.
#[derive(Debug, Default)]
pub struct Series {
    /// `(time, value)` in ns; time 0 is the start of the measurement.
    pub values: Vec<(u64, u64)>,
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

    /// Returns the values in windows, as an agent records them.
    #[must_use]
    pub fn windows(&self, windows: u32, planned_ns: u64) -> Windows {
        let mut recorded = Windows::new(windows, planned_ns);
        self.record_in(&mut recorded);
        recorded
    }

    fn record_in(&self, windows: &mut Windows) {
        windows.begin(0);
        for &(at_ns, value_ns) in &self.values {
            windows.record(at_ns, value_ns);
        }
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
}

/// Recorder of series in the form of the agents' reports. Its memory, which is large, is reused.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// Windows by their number and the planned time.
    windows: BTreeMap<(u32, u64), Windows>,
    /// Whether distributions stay empty, for metrics that need none.
    pub counts_only: bool,
}

impl Recorder {
    /// Returns the values of a series, in `windows` windows over the planned time.
    pub fn distribution(&mut self, series: &Series, windows: u32, planned_ns: u64) -> Distribution {
        if self.counts_only || series.is_empty() {
            return Distribution::default();
        }
        let key = (windows, planned_ns);
        let recorded = self.windows.entry(key).or_insert_with(|| Windows::new(windows, planned_ns));
        series.record_in(recorded);
        recorded.distribution()
    }
}
