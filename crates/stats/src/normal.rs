//! Standard normal distribution.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// Returns `P(Z <= z)`.
pub(crate) fn cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Returns the `z` with `P(Z <= z) = p`.
#[cfg(test)]
pub(crate) fn quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}
