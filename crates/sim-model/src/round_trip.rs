//! Distribution of the round trip.

use crate::Truth;

/// Number of slices of equal probability, and of halvings of the last one: its tail determines high quantiles.
const SLICES: u32 = 512;
const HALVINGS: i32 = 24;

/// True distribution of a round trip: the sum of two independent one-way latencies with the same [`Truth`].
///
/// The outward latency is divided into slices of probability, each represented by its middle. The error of any
/// probability is less than one slice, and much less where the distribution is smooth.
#[derive(Clone, Debug)]
pub struct RoundTrip<'c> {
    way: Truth<'c>,
    /// `(probability, time in ns)`.
    slices: Vec<(f64, f64)>,
}

impl<'c> RoundTrip<'c> {
    pub(crate) fn of(way: Truth<'c>) -> Self {
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
        crate::truth::quantile(q, |x| self.cdf(x))
    }
}

/// Divides a distribution, given by its quantile function, into slices `(probability, value)`.
pub(crate) fn slices(quantile: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let width = 1.0 / f64::from(SLICES);
    let mut bounds: Vec<f64> = (0..SLICES).map(|slice| f64::from(slice) * width).collect();
    bounds.extend((1..=HALVINGS).map(|halving| 1.0 - width * 0.5_f64.powi(halving)));
    let ends = bounds.iter().skip(1).copied().chain([1.0]);
    bounds.iter().zip(ends).map(|(&from, to)| (to - from, quantile(from.midpoint(to)))).collect()
}
