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
}
