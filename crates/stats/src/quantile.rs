//! Quantiles: which ones a number of samples supports, and the order statistics that bound them.
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

use statrs::function::beta::beta_reg;

/// Minimum confidence level of the interval for a quantile to be reported.
pub const CONFIDENCE: f64 = 0.95;

/// Returns whether a two-sided interval of order statistics for the `q` quantile exists with `n` independent
/// samples.
///
/// # Panics
/// Panics if `q` is not between 0 and 1, both exclusive.
#[must_use]
pub fn supports_quantile(n: u64, q: f64) -> bool {
    assert!(q > 0.0 && q < 1.0, "{q} is no quantile that samples can bound");
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

/// Order statistics that bound a quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranks {
    /// Rank of the lower bound; the smallest sample has rank 1.
    pub low: u64,
    /// Rank of the upper bound; the largest sample has rank `n`.
    pub high: u64,
    /// Coverage of the interval: at least the requested level.
    pub level: f64,
}

/// Returns the order statistics that bound the `q` quantile of the distribution of `n` independent samples. `None`
/// if even the smallest and the largest do not; for 95 %, that is when [`supports_quantile`] returns false.
///
/// The number of samples below the quantile is binomial. Each tail has at most half of the error probability. If
/// the tail beyond the largest (or smallest) sample has more, the other tail gets the rest.
///
/// # Panics
/// Panics if `q` or `level` is not between 0 and 1, both exclusive.
#[must_use]
pub fn quantile_ranks(n: u64, q: f64, level: f64) -> Option<Ranks> {
    assert!(q > 0.0 && q < 1.0, "{q} is no quantile that samples can bound");
    assert!(level > 0.0 && level < 1.0, "{level} is no level of confidence");
    let missed = 1.0 - level;
    let (below_smallest, above_largest) = ((1.0 - q).powf(n as f64), q.powf(n as f64));
    let half = missed / 2.0;
    let (lower, upper) = if above_largest > half {
        (missed - above_largest, above_largest)
    } else if below_smallest > half {
        (below_smallest, missed - below_smallest)
    } else {
        (half, half)
    };
    if n == 0 || lower < below_smallest || upper < above_largest {
        return None;
    }
    // low: the last rank with P(fewer than `low` below) <= lower; high: the first with P(`high` or more) <= upper
    let low = last(1, n, |rank| fewer_than(rank, n, q) <= lower);
    let high = if 1.0 - fewer_than(1, n, q) <= upper {
        1
    } else {
        last(1, n, |rank| 1.0 - fewer_than(rank, n, q) > upper) + 1
    };
    let high = high.min(n);
    let level = fewer_than(high, n, q) - fewer_than(low, n, q);
    (low < high).then_some(Ranks { low, high, level })
}

/// Returns the probability that fewer than `rank` of `n` samples lie below the `q` quantile.
fn fewer_than(rank: u64, n: u64, q: f64) -> f64 {
    if rank > n { 1.0 } else { beta_reg((n - rank + 1) as f64, rank as f64, 1.0 - q) }
}

/// Returns the last value of `from..=to` with `holds`, by bisection. `holds` must be true for the first value and
/// monotonic.
fn last(from: u64, to: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut holding, mut beyond) = (from, to + 1);
    while beyond - holding > 1 {
        let middle = holding + (beyond - holding) / 2;
        if holds(middle) { holding = middle } else { beyond = middle }
    }
    holding
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
    #[should_panic(expected = "is no quantile")]
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
    fn it_exists_from_the_least_n_on() {
        for (q, least) in LEAST {
            assert_eq!(quantile_ranks(least - 1, q, 0.95), None, "{q}");
            let ranks = quantile_ranks(least, q, 0.95).unwrap_or_else(|| panic!("{q}"));
            assert!(ranks.high == least && ranks.level >= 0.95, "{ranks:?}");
        }
        assert_eq!(quantile_ranks(0, 0.5, 0.95), None);
    }

    #[test]
    fn tables_have_the_same() {
        // Le Boudec, appendix A: intervals for the median at 95 %
        for (n, low, high) in [(6, 1, 6), (10, 2, 9), (20, 6, 15), (30, 10, 21), (50, 18, 33)] {
            let ranks = quantile_ranks(n, 0.5, 0.95).expect("enough");
            assert_eq!((ranks.low, ranks.high), (low, high), "{n}");
        }
    }

    #[test]
    fn scipy_has_the_same_level() {
        for case in crate::golden::cases("quantile_ranks") {
            let ranks = quantile_ranks(case.number("n") as u64, case.number("q"), 0.95).expect("enough");
            assert_eq!((ranks.low as f64, ranks.high as f64), (case.number("low"), case.number("high")));
            assert!((ranks.level - case.number("level")).abs() < 1e-9, "{ranks:?}");
        }
    }

    proptest! {
        #[test]
        fn the_level_is_what_counting_says(n in 1_u64..60, hundredths in 1_u32..100, level in 0.5_f64..0.99) {
            let q = f64::from(hundredths) / 100.0;
            let mut probability = vec![(1.0 - q).powi(n as i32)];
            for below in 1..=n {
                let last = probability[below as usize - 1];
                probability.push(last * (n - below + 1) as f64 / below as f64 * q / (1.0 - q));
            }
            let between = |low: u64, high: u64| probability[low as usize..high as usize].iter().sum::<f64>();
            match quantile_ranks(n, q, level) {
                Some(ranks) => {
                    prop_assert!((between(ranks.low, ranks.high) - ranks.level).abs() < 1e-9);
                    prop_assert!(ranks.level >= level - 1e-9);
                }
                None => prop_assert!(between(1, n) < level + 1e-9),
            }
        }
    }
}
