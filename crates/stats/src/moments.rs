//! Mean and standard deviation of parts, pooled.

/// Number of values, their mean and sum of squared deviations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Number of values.
    pub n: u64,
    /// Mean; 0 without values.
    pub mean: f64,
    /// Sum of the squared deviations from the mean.
    pub squared_deviations: f64,
}

impl Moments {
    /// Creates moments from the size, mean and standard deviation of a sample.
    #[must_use]
    pub fn from_sd(n: u64, mean: f64, sd: f64) -> Self {
        Self { n, mean, squared_deviations: sd * sd * n.saturating_sub(1) as f64 }
    }

    /// Returns the moments of both parts together, as if computed over all their values.
    ///
    /// Source: Chan, Golub and LeVeque, *Updating Formulae and a Pairwise Algorithm for Computing Sample
    /// Variances*, COMPSTAT 1982. Weighted by both counts to avoid cancellation.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        if self.n == 0 {
            return other;
        }
        if other.n == 0 {
            return self;
        }
        let (left, right) = (self.n as f64, other.n as f64);
        let distance = other.mean - self.mean;
        Self {
            n: self.n.saturating_add(other.n),
            mean: self.mean + distance * (right / (left + right)),
            squared_deviations: self.squared_deviations
                + other.squared_deviations
                + distance * distance * (left * (right / (left + right))),
        }
    }

    /// Returns the sample standard deviation (with `n - 1`); 0 with fewer than two values.
    #[must_use]
    pub fn sd(&self) -> f64 {
        if self.n < 2 { 0.0 } else { (self.squared_deviations.max(0.0) / (self.n - 1) as f64).sqrt() }
    }
}

/// Returns the sum of counts, saturating at `u64::MAX`: counts from a damaged file can be arbitrarily large.
#[must_use]
pub fn total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the moments by the textbook two-pass algorithm.
    fn from_values(values: &[f64]) -> Moments {
        let n = values.len() as u64;
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        Moments { n, mean, squared_deviations: values.iter().map(|value| (value - mean).powi(2)).sum() }
    }

    #[test]
    fn nothing_adds_nothing() {
        let some = from_values(&[1.0, 2.0, 6.0]);
        assert_eq!(some.combine(Moments::default()), some);
        assert_eq!(Moments::default().combine(some), some);
        assert_eq!(Moments::default().sd(), 0.0);
    }

    #[test]
    fn two_parts_far_apart_pool_to_the_known_answer() {
        let pooled = from_values(&[1.0, 3.0]).combine(from_values(&[101.0, 103.0, 105.0, 107.0]));
        assert_eq!(pooled.n, 6);
        assert_eq!(pooled.mean, 70.0);
        // 69² + 67² + 31² + 33² + 35² + 37²
        assert!((pooled.squared_deviations - 13_894.0).abs() < 1e-9, "{pooled:?}");
    }

    #[test]
    fn a_small_deviation_beside_a_large_mean_survives() {
        let big = 1e12;
        let pooled = from_values(&[big, big + 2.0]).combine(from_values(&[big + 4.0, big + 6.0]));
        assert!((pooled.squared_deviations - 20.0).abs() < 1e-3, "{pooled:?}");
    }

    proptest! {
        #[test]
        fn parts_pool_to_the_whole(
            values in prop::collection::vec(1.0_f64..1e9, 2..200),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(values.len())).collect();
            cuts.extend([0, values.len()]);
            cuts.sort_unstable();
            let pooled = cuts
                .windows(2)
                .map(|pair| {
                    let part = from_values(&values[pair[0]..pair[1]]);
                    Moments::from_sd(part.n, part.mean, part.sd())
                })
                .fold(Moments::default(), Moments::combine);
            let whole = from_values(&values);
            prop_assert_eq!(pooled.n, whole.n);
            prop_assert!((pooled.mean - whole.mean).abs() <= 1e-12 * whole.mean);
            prop_assert!((pooled.sd() - whole.sd()).abs() <= 1e-9 * whole.sd().max(1.0));
        }
    }
}
