//! What two ways take together.

use crate::Truth;

/// Slices of equal probability, and as many halvings of the last one: its tail decides high quantiles.
const SLICES: u32 = 512;
const HALVINGS: i32 = 24;

/// The true distribution of a round trip: the sum of two ways, each as one [`Truth`] has it, and independent.
///
/// The first way is cut into slices of probability, and each slice stands at its middle. What that does to the probability
/// of any time is less than one slice at worst, and far less where the distribution is smooth.
#[derive(Clone, Debug)]
pub struct RoundTrip<'c> {
    way: Truth<'c>,
    /// `(probability, time)`.
    slices: Vec<(f64, f64)>,
}

impl<'c> RoundTrip<'c> {
    pub(crate) fn of(way: Truth<'c>) -> Self {
        let slices = slices(|q| way.quantile(q));
        Self { way, slices }
    }

    /// The probability that an echo is back within `x` ns, of those that come back.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.slices.iter().map(|(probability, first)| probability * self.way.cdf(x - first)).sum()
    }

    /// The smallest time within which a share `q` of the echoes is back.
    ///
    /// # Panics
    /// If `q` is not between 0 and 1, both exclusive.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        crate::truth::quantile(q, |x| self.cdf(x))
    }
}

/// A distribution, by its quantiles, in slices: `(probability, value)`.
pub(crate) fn slices(quantile: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let width = 1.0 / f64::from(SLICES);
    let mut bounds: Vec<f64> = (0..SLICES).map(|slice| f64::from(slice) * width).collect();
    bounds.extend((1..=HALVINGS).map(|halving| 1.0 - width * 0.5_f64.powi(halving)));
    let ends = bounds.iter().skip(1).copied().chain([1.0]);
    bounds.iter().zip(ends).map(|(&from, to)| (to - from, quantile(from.midpoint(to)))).collect()
}
