//! Median and range of a metric over the runs of a cell.

/// Returns the median, for an even number of values the mean of the middle two. `None` without values.
///
/// # Panics
/// Panics if a value is NaN.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    assert!(values.iter().all(|value| !value.is_nan()), "there is no order among {values:?}");
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(sorted[middle - 1].midpoint(sorted[middle])),
    }
}

/// Range and median of a metric over the runs of a cell. A description of the sample, not a confidence interval: it
/// makes no statement about other runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Number of runs.
    pub n: usize,
    /// Minimum.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// Maximum.
    pub max: f64,
}

impl Spread {
    /// Creates the spread over these runs; `None` without a run.
    ///
    /// # Panics
    /// Panics if a value is NaN.
    #[must_use]
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { n: values.len(), min, median, max })
    }

    /// Returns half the range relative to the median: 0.02 is the `±2 %` of a table. `None` for a single run, or if
    /// the median is 0.
    #[must_use]
    pub fn half_range_relative(&self) -> Option<f64> {
        let half = (self.max - self.min) / 2.0;
        if self.n < 2 || self.median == 0.0 { None } else { Some(half / self.median.abs()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_middle_two() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0, 6.0]), Some(5.5));
    }

    #[test]
    #[should_panic(expected = "no order")]
    fn what_is_not_a_number_has_no_median() {
        let _ = median(&[1.0, f64::NAN]);
    }

    #[test]
    fn half_the_range_is_relative_to_the_median() {
        let spread = Spread::from_values(&[98.0, 100.0, 104.0]).unwrap();
        assert_eq!(spread, Spread { n: 3, min: 98.0, median: 100.0, max: 104.0 });
        assert_eq!(spread.half_range_relative(), Some(0.03));
        assert_eq!(Spread::from_values(&[-104.0, -100.0, -98.0]).unwrap().half_range_relative(), Some(0.03));
    }

    #[test]
    fn a_single_run_and_a_median_of_0_have_no_relative_spread() {
        assert_eq!(Spread::from_values(&[]), None);
        assert_eq!(Spread::from_values(&[5.0]).unwrap().half_range_relative(), None);
        assert_eq!(Spread::from_values(&[0.0, 0.0, 4.0]).unwrap().half_range_relative(), None);
        assert_eq!(Spread::from_values(&[5.0, 5.0]).unwrap().half_range_relative(), Some(0.0));
    }

    proptest! {
        #[test]
        fn as_many_values_lie_below_the_median_as_above(values in prop::collection::vec(-1e9_f64..1e9, 1..50)) {
            let middle = median(&values).unwrap();
            let below = values.iter().filter(|value| **value < middle).count();
            let above = values.iter().filter(|value| **value > middle).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
            let spread = Spread::from_values(&values).unwrap();
            prop_assert!(values.iter().all(|value| (spread.min..=spread.max).contains(value)));
            prop_assert!(values.contains(&spread.min) && values.contains(&spread.max));
        }
    }
}
