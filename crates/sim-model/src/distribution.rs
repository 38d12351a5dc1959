//! Latency distributions in ns: random draws and exact distribution functions.

use crate::{
    Random,
    special::{gamma_p, normal_cdf},
};

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
    pub fn of(component: Component) -> Self {
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
