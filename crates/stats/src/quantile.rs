//! Quantiles that a number of samples supports.
//!
//! The widest interval of order statistics for the `q` quantile ranges from the smallest of `n` samples to the
//! largest. It misses the quantile when all samples are on one side of it: all below with probability `q^n`, all
//! above with `(1 - q)^n`. If even this interval has a coverage below 95 %, no interval reaches 95 %, whatever the
//! distribution. Such a quantile must not be reported.
//!
//! Sources: David and Nagaraja, *Order Statistics*, 3rd edition, 2003, section 7.1 (distribution-free intervals for
//! quantiles); Le Boudec, *Performance Evaluation of Computer and Communication Systems*, 2010, section 2.2
//! (intervals for quantiles, and the least `n` for which they exist). Both assume independent samples. Samples of
//! one run are not fully independent, so this condition is necessary, not sufficient. Every quantile is therefore
//! reported with its spread over runs.

/// Minimum confidence level of the interval for a quantile to be reported.
pub const CONFIDENCE: f64 = 0.95;

/// Returns whether a two-sided interval of order statistics for the `q` quantile exists with `n` independent
/// samples.
///
/// # Panics
/// Panics if `q` is not between 0 and 1, both exclusive.
#[must_use]
pub fn supports_quantile(n: u64, q: f64) -> bool {
    assert!(q > 0.0 && q < 1.0, "{q} is not a quantile that samples can bound");
    let n = n as f64;
    1.0 - q.powf(n) - (1.0 - q).powf(n) >= CONFIDENCE
}

/// Returns the minimum number of samples that supports the `q` quantile.
///
/// # Panics
/// Panics if `q` is not between 0 and 1, both exclusive.
#[must_use]
pub fn min_n_for(q: f64) -> u64 {
    // coverage grows with n: double until it is enough, then bisect
    let mut enough = 1;
    while !supports_quantile(enough, q) {
        enough *= 2;
    }
    let mut too_few = enough / 2;
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if supports_quantile(middle, q) { enough = middle } else { too_few = middle }
    }
    enough
}

/// Returns the interval of order statistics for the median of independent values, with a coverage of at least
/// [`CONFIDENCE`] whatever their distribution; `None` with fewer than 6 values.
///
/// The `k` smallest and the `k` largest values are left out, for the largest `k` with which the median is still covered:
/// it is missed if at most `k` of `n` values are below it, or above it, and each value is below it with probability 1/2.
///
/// # Panics
/// Panics if a value is NaN.
#[must_use]
pub fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    assert!(values.iter().all(|value| !value.is_nan()), "there is no order among {values:?}");
    let n = values.len();
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    // logarithm of the probability that exactly `k` of `n` values are below the median; the probability may underflow
    let mut exactly = -(n as f64) * std::f64::consts::LN_2;
    let (mut at_most, mut left_out) = (0.0, None);
    for k in 0..n / 2 {
        at_most += exactly.exp();
        if 2.0 * at_most > 1.0 - CONFIDENCE {
            break;
        }
        left_out = Some(k);
        exactly += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    left_out.map(|k| (sorted[k], sorted[n - 1 - k]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 6, 299, 2995, 29,956 and 2,995,731 follow from `ln 0.05 / ln q`; 29 does too.
    const LEAST: [(f64, u64); 6] =
        [(0.5, 6), (0.9, 29), (0.99, 299), (0.999, 2_995), (0.9999, 29_956), (0.999_999, 2_995_731)];

    #[test]
    fn a_quantile_is_supported_from_its_least_n_on_and_not_one_below() {
        for (q, least) in LEAST {
            assert!(supports_quantile(least, q), "{q} with {least}");
            assert!(!supports_quantile(least - 1, q), "{q} with {}", least - 1);
            assert_eq!(min_n_for(q), least, "{q}");
        }
    }

    #[test]
    fn no_sample_supports_nothing() {
        for (q, _) in LEAST {
            assert!(!supports_quantile(0, q));
            assert!(!supports_quantile(1, q));
        }
    }

    #[test]
    #[should_panic(expected = "is not a quantile")]
    fn the_maximum_is_no_quantile() {
        let _ = supports_quantile(100, 1.0);
    }

    proptest! {
        #[test]
        fn coverage_is_what_counting_says(n in 1_u64..40, tenths in 1_u32..10) {
            // independent oracle: the binomial probability that 1 to n-1 samples lie below the quantile
            let q = f64::from(tenths) / 10.0;
            let mut probability = 0.0;
            let mut choose = 1.0;
            for below in 1..n {
                choose = choose * (n - below + 1) as f64 / below as f64;
                probability += choose * q.powi(below as i32) * (1.0 - q).powi((n - below) as i32);
            }
            prop_assume!((probability - CONFIDENCE).abs() > 1e-9);
            prop_assert_eq!(supports_quantile(n, q), probability >= CONFIDENCE);
        }

        #[test]
        fn lower_and_upper_quantiles_need_the_same(q in 0.001_f64..0.999) {
            let (low, high) = (min_n_for(q), min_n_for(1.0 - q));
            prop_assert!(low.abs_diff(high) <= 1, "{} and {}", low, high);
        }
    }

    #[test]
    fn interval_of_the_median_leaves_out_as_many_values_as_its_coverage_permits() {
        let values = |n: i32| (1..=n).map(f64::from).collect::<Vec<_>>();
        // ranks of tables of the sign test
        for (n, expected) in [
            (0, None),
            (5, None),
            (6, Some((1.0, 6.0))),
            (8, Some((1.0, 8.0))),
            (9, Some((2.0, 8.0))),
            (12, Some((3.0, 10.0))),
            (20, Some((6.0, 15.0))),
            (10_000, Some((4_902.0, 5_099.0))),
        ] {
            assert_eq!(median_interval(&values(n)), expected, "{n}");
        }
    }

    proptest! {
        #[test]
        fn interval_of_the_median_contains_it(values in prop::collection::vec(-1e9_f64..1e9, 0..60)) {
            let (interval, median) = (median_interval(&values), crate::spread::median(&values));
            prop_assert_eq!(interval.is_some(), supports_quantile(values.len() as u64, 0.5));
            if let (Some((low, high)), Some(median)) = (interval, median) {
                prop_assert!(low <= median && median <= high);
            }
        }
    }
}
