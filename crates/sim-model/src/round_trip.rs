//! Distribution of the round trip.

use crate::{
    GroundTruth,
    quantile::{quantile, slices},
};

/// True distribution of a round trip: the sum of two independent one-way latencies with the same [`GroundTruth`].
///
/// The outward latency is divided into slices of probability, each represented by its middle. The error of any
/// probability is less than one slice, and much less where the distribution is smooth.
#[derive(Clone, Debug)]
pub struct RoundTrip<'c> {
    way: GroundTruth<'c>,
    /// `(probability, time in ns)`.
    slices: Vec<(f64, f64)>,
}

impl<'c> RoundTrip<'c> {
    pub(crate) fn new(way: GroundTruth<'c>) -> Self {
        let slices = slices(|q| way.quantile(q));
        Self { way, slices }
    }

    /// Returns the probability that an echo arrives within `x` ns, given that it arrives.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.slices.iter().map(|(probability, first)| probability * self.way.cdf(x - first)).sum()
    }

    /// Returns the quantile `q` of the round-trip time in ns.
    ///
    /// # Panics
    /// Panics if `q` is not in (0, 1).
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        quantile(q, |x| self.cdf(x))
    }
}

impl<'c> GroundTruth<'c> {
    /// Returns the distribution of the round trip if both directions have this truth. Valid only without stalls: with
    /// stalls the return latency depends on the arrival time of the outward sample.
    #[must_use]
    pub fn round_trip(&self) -> RoundTrip<'c> {
        RoundTrip::new(self.clone())
    }
}
