//! Latency distributions in ns: random draws and exact distribution functions.

use statrs::function::gamma::gamma_lr;

use crate::random::Random;

/// Single distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Component {
    /// Constant value.
    Constant(f64),
    /// Normal distribution; negative values become 0.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// Lognormal distribution.
    Lognormal {
        /// Median.
        median: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Gamma distribution.
    Gamma {
        /// Mean.
        mean: f64,
        /// Shape parameter; 1 is the exponential distribution.
        shape: f64,
    },
}

impl Component {
    /// Returns the distribution of a factor with mean 1 and standard deviation `sd`.
    pub(crate) fn spread(sd: f64) -> Self {
        if sd > 0.0 { Self::Gamma { mean: 1.0, shape: 1.0 / (sd * sd) } } else { Self::Constant(1.0) }
    }

    /// Draws a value.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Normal { mean, sd } => (mean + sd * random.normal()).max(0.0),
            Self::Lognormal { median, sigma } => median * (sigma * random.normal()).exp(),
            Self::Gamma { mean, shape } => random.gamma(shape) * mean / shape,
        }
    }

    /// Returns the probability of a value of at most `x`.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        if x < 0.0 {
            return 0.0;
        }
        let reached = |threshold: f64| if x >= threshold { 1.0 } else { 0.0 };
        match *self {
            Self::Constant(value) => reached(value),
            Self::Normal { mean, sd: 0.0 } => reached(mean),
            Self::Normal { mean, sd } => normal_cdf((x - mean) / sd),
            Self::Lognormal { median: 0.0, .. } => 1.0,
            Self::Lognormal { median, sigma: 0.0 } => reached(median),
            Self::Lognormal { median, sigma } => normal_cdf((x / median).ln() / sigma),
            Self::Gamma { mean: 0.0, .. } => 1.0,
            Self::Gamma { mean, shape } => gamma_p(shape, x * shape / mean),
        }
    }

    /// Returns the mean and the mean of the square.
    #[must_use]
    pub fn moments(&self) -> (f64, f64) {
        match *self {
            Self::Constant(value) | Self::Normal { mean: value, sd: 0.0 } => (value, value * value),
            Self::Normal { mean, sd } => {
                // A normal variable whose negative values are replaced by 0.
                let z = mean / sd;
                let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
                let above = normal_cdf(z);
                (mean * above + sd * density, (mean * mean + sd * sd) * above + mean * sd * density)
            }
            Self::Lognormal { median, sigma } => {
                (median * (sigma * sigma / 2.0).exp(), median * median * (2.0 * sigma * sigma).exp())
            }
            Self::Gamma { mean, shape } => (mean, mean * mean * (1.0 + 1.0 / shape)),
        }
    }
}

/// Weighted mixture of distributions, for example of a body and a tail.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture(pub(crate) Vec<(f64, Component)>);

impl Mixture {
    /// Creates a mixture of one distribution.
    #[must_use]
    pub fn single(component: Component) -> Self {
        Self(vec![(1.0, component)])
    }

    /// Draws a value.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match self.0.as_slice() {
            [(_, only)] => only.draw(random),
            several => several[random.pick(several.iter().map(|(weight, _)| *weight))].1.draw(random),
        }
    }

    /// Returns the probability of a value of at most `x`.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.0.iter().map(|(weight, component)| weight * component.cdf(x)).sum()
    }

    /// Returns mean and variance.
    #[must_use]
    pub fn mean_and_variance(&self) -> (f64, f64) {
        let (mean, square) = self.0.iter().fold((0.0, 0.0), |(mean, square), (weight, component)| {
            let (one, two) = component.moments();
            (mean + weight * one, square + weight * two)
        });
        (mean, (square - mean * mean).max(0.0))
    }
}

/// Returns the regularised lower incomplete gamma function P(a, x), for `x` from 0 to infinity.
fn gamma_p(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x.is_infinite() {
        1.0
    } else {
        gamma_lr(a, x)
    }
}

/// Returns the distribution function of the standard normal distribution, to 13 digits. The one of `statrs` has 10.
fn normal_cdf(z: f64) -> f64 {
    let half = 0.5 * gamma_p(0.5, z * z / 2.0);
    if z >= 0.0 { 0.5 + half } else { 0.5 - half }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_functions_equal_closed_forms_and_tables() {
        // P(1, x) is the exponential distribution; P(2, x) also has a closed form.
        for x in [0.01, 0.5, 1.0, 1.9, 2.1, 7.0, 30.0_f64] {
            assert!((gamma_p(1.0, x) - (1.0 - (-x).exp())).abs() < 1e-13, "{x}");
            assert!((gamma_p(2.0, x) - (1.0 - (-x).exp() * (1.0 + x))).abs() < 1e-13, "{x}");
        }
        assert_eq!((gamma_p(2.0, 0.0), gamma_p(2.0, f64::INFINITY)), (0.0, 1.0));
        // Abramowitz and Stegun, table 26.1
        for (z, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (2.0, 0.977_249_868_051_821),
            (-3.0, 0.001_349_898_031_630),
        ] {
            assert!((normal_cdf(z) - expected).abs() < 1e-13, "{z}: {}", normal_cdf(z));
        }
    }
}
