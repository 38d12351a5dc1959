//! Quantiles of a distribution function, and its slices of probability.

/// Number of slices of equal probability, and of halvings of the last one: its tail determines high quantiles.
const SLICES: u32 = 512;
const HALVINGS: i32 = 24;

/// Returns the smallest value at which the distribution function `cdf` reaches `q`.
pub(crate) fn quantile(q: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    assert!(q > 0.0 && q < 1.0, "{q} is not a quantile");
    let mut enough = 1.0;
    // The sum of the probabilities can differ from 1 by rounding.
    while cdf(enough) < q && enough < 1e30 {
        enough *= 2.0;
    }
    let mut too_little = -1.0;
    for _ in 0..120 {
        let middle = f64::midpoint(too_little, enough);
        if cdf(middle) >= q { enough = middle } else { too_little = middle }
    }
    enough.max(0.0)
}

/// Divides a distribution, given by its quantile function, into slices `(probability, value)`.
pub(crate) fn slices(quantile: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let width = 1.0 / f64::from(SLICES);
    let mut bounds: Vec<f64> = (0..SLICES).map(|slice| f64::from(slice) * width).collect();
    bounds.extend((1..=HALVINGS).map(|halving| 1.0 - width * 0.5_f64.powi(halving)));
    let ends = bounds.iter().skip(1).copied().chain([1.0]);
    bounds.iter().zip(ends).map(|(&from, to)| (to - from, quantile(from.midpoint(to)))).collect()
}
