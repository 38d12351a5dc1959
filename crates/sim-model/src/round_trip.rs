//! Distribution of the round trip.

use crate::{
    ground_truth::GroundTruth,
    quantile::{quantile, slices},
};

/// True distribution of a round trip: the sum of two independent one-way latencies.
///
/// The outward latency is divided into slices of probability, each represented by its middle. The error of any
/// probability is less than one slice, and much less where the distribution is smooth.
#[derive(Clone, Debug)]
pub struct RoundTrip<'c> {
    back: GroundTruth<'c>,
    /// `(probability, time in ns)` of the outward latency.
    slices: Vec<(f64, f64)>,
}

impl<'c> RoundTrip<'c> {
    pub(crate) fn new(out: &GroundTruth<'c>, back: GroundTruth<'c>) -> Self {
        Self { back, slices: slices(|q| out.quantile(q)) }
    }

    /// Returns the probability that an echo arrives within `x` ns, given that it arrives.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.slices.iter().map(|(probability, first)| probability * self.back.cdf(x - first)).sum()
    }

    /// Returns the quantile `q` of the round-trip time in ns.
    ///
    /// # Panics
    /// Panics if `q` is not in (0, 1).
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        quantile(q, |x| self.cdf(x))
    }

    /// Returns the quantile `q` of the time until the last echo of a ping arrives, in ns: that of the largest of these
    /// round trips, which are independent.
    ///
    /// # Panics
    /// Panics if `q` is not in (0, 1).
    #[must_use]
    pub fn last_quantile(all: &[Self], q: f64) -> f64 {
        quantile(q, |x| all.iter().map(|one| one.cdf(x)).product())
    }
}

impl<'c> GroundTruth<'c> {
    /// Returns the distribution of the round trip if both directions have this truth. Valid only without stalls: with
    /// stalls the return latency depends on the arrival time of the outward sample.
    #[must_use]
    pub fn round_trip(&self) -> RoundTrip<'c> {
        self.round_trip_by(self.clone())
    }

    /// Returns the distribution of the round trip if the echo has the truth `back`. Valid only without stalls.
    #[must_use]
    pub fn round_trip_by(&self, back: Self) -> RoundTrip<'c> {
        RoundTrip::new(self, back)
    }
}
