//! Distributions of latency, in ns: drawn from, and known exactly.

use crate::{
    Random,
    special::{gamma_p, normal_cdf},
};

/// One distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Component {
    /// Always the same.
    Constant(f64),
    /// Normal with this mean and standard deviation; what would be below 0 is 0.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// Its logarithm is normal.
    Lognormal {
        /// Median.
        median: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Gamma.
    Gamma {
        /// Mean.
        mean: f64,
        /// Shape: 1 is the exponential distribution.
        shape: f64,
    },
}

impl Component {
    /// A factor with a mean of 1 and this standard deviation.
    pub(crate) fn spread(sd: f64) -> Self {
        if sd > 0.0 { Self::Gamma { mean: 1.0, shape: 1.0 / (sd * sd) } } else { Self::Constant(1.0) }
    }

    /// One value.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Normal { mean, sd } => (mean + sd * random.normal()).max(0.0),
            Self::Lognormal { median, sigma } => median * (sigma * random.normal()).exp(),
            Self::Gamma { mean, shape } => random.gamma(shape) * mean / shape,
        }
    }

    /// The probability of a value up to `x`.
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

    /// Mean and mean of the square.
    #[must_use]
    pub fn moments(&self) -> (f64, f64) {
        match *self {
            Self::Constant(value) | Self::Normal { mean: value, sd: 0.0 } => (value, value * value),
            Self::Normal { mean, sd } => {
                // of a normal variable with everything below 0 moved to 0
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

/// Several distributions, each with the share of samples that are drawn from it: a body and a tail.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture(pub(crate) Vec<(f64, Component)>);

impl Mixture {
    /// One distribution alone.
    #[must_use]
    pub fn of(component: Component) -> Self {
        Self(vec![(1.0, component)])
    }

    /// One value.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match self.0.as_slice() {
            [(_, only)] => only.draw(random),
            several => several[random.pick(several.iter().map(|(weight, _)| *weight))].1.draw(random),
        }
    }

    /// The probability of a value up to `x`.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.0.iter().map(|(weight, component)| weight * component.cdf(x)).sum()
    }

    /// Mean and variance.
    #[must_use]
    pub fn mean_and_variance(&self) -> (f64, f64) {
        let (mean, square) = self.0.iter().fold((0.0, 0.0), |(mean, square), (weight, component)| {
            let (one, two) = component.moments();
            (mean + weight * one, square + weight * two)
        });
        (mean, (square - mean * mean).max(0.0))
    }
}
