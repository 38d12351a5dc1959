//! Null distributions of rank statistics.

/// Tolerance for levels given as decimal fractions.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Null distribution of a statistic: `P(S <= s)` for each whole number `s`.
#[derive(Clone, Debug)]
pub(crate) struct Null(Vec<f64>);

impl Null {
    /// Creates the distribution from the probability of each whole number, from 0 on.
    pub(crate) fn new(mut probability: Vec<f64>) -> Self {
        let mut below = 0.0;
        for value in &mut probability {
            below += *value;
            *value = f64::min(below, 1.0);
        }
        Self(probability)
    }

    /// Returns `P(S <= s)`.
    pub(crate) fn at_most(&self, s: usize) -> f64 {
        self.0[s.min(self.0.len() - 1)]
    }

    /// Returns the largest `c` with `P(S <= c) <= tail`.
    pub(crate) fn critical(&self, tail: f64) -> Option<usize> {
        self.0.partition_point(|below| *below <= tail + ROUNDING).checked_sub(1)
    }
}
