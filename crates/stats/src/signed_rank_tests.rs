use proptest::prelude::*;

use super::*;
use crate::{
    golden,
    ranks::{Interval, Ranks},
};

/// Returns `P(W <= w)` by enumeration of all signs.
fn by_enumeration(n: usize, w: usize) -> f64 {
    let sums =
        (0..1_usize << n).map(|signs| (1..=n).filter(|rank| signs >> (rank - 1) & 1 == 1).sum::<usize>());
    sums.filter(|sum| *sum <= w).count() as f64 / (1_usize << n) as f64
}

#[test]
fn the_null_distribution_is_what_enumeration_counts() {
    for n in 1..=12 {
        let null = null(n);
        for w in 0..=n * (n + 1) / 2 {
            assert!((null.at_most(w) - by_enumeration(n, w)).abs() < 1e-12, "{n}, {w}");
        }
    }
}

#[test]
fn scipy_finds_the_same() {
    for case in golden::cases("signed_rank") {
        let ranks = Ranks::of_blocks(&case.list("values")).expect("values");
        let near = |name: &str, ours: f64| {
            let theirs = case.number(name);
            assert!((ours - theirs).abs() < 1e-10 * theirs.abs().max(1e-3), "{name}: {ours}, {theirs}");
        };
        near("two_sided", ranks.p_differs(0.0));
        near("greater", ranks.p_greater(0.0));
        near("less", ranks.p_less(0.0));
        near("estimate", ranks.estimate());
    }
}

#[test]
fn fewer_than_six_have_no_interval_of_95_percent() {
    let values = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2];
    assert!(Ranks::of_blocks(&[]).is_none());
    assert_eq!(Ranks::of_blocks(&values[..5]).and_then(|ranks| ranks.interval(0.95)), None);
    let six = Ranks::of_blocks(&values).and_then(|ranks| ranks.interval(0.95));
    assert_eq!(six, Some(Interval { low: 0.1, high: 3.2, level: 0.96875 }));
    assert_eq!((least_blocks(0.95), least_blocks(0.96875), least_blocks(0.96876)), (6, 6, 7));
    assert_eq!(least_blocks(1.0 - 0.05 / 40.0), 11);
}

#[test]
fn zeros_and_ties_count_against_a_claim() {
    let of = |values: &[f64]| Ranks::of_blocks(values).expect("values").p_differs(0.0);
    let nothing = Ranks::of_blocks(&[0.0; 8]).expect("values");
    assert_eq!((nothing.estimate(), nothing.p_differs(0.0)), (0.0, 1.0));
    assert_eq!(nothing.interval(0.95).map(|interval| (interval.low, interval.high)), Some((0.0, 0.0)));
    // seven values and a zero: p is larger than without the zero, because the zero takes a rank
    assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), 2.0 / 128.0);
    assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0]), 4.0 / 256.0);
    // equal values on one side: as extreme as possible
    assert_eq!(of(&[1.0; 6]), 2.0 / 64.0);
    // 1.1 and 1/1.1 are opposite, though their logarithms differ in the last digit
    let opposite = [1.1_f64.ln(), (1.0 / 1.1_f64).ln()];
    assert_eq!(of(&opposite), 1.0);
}

proptest! {
    #[test]
    fn interval_has_exactly_the_values_the_test_does_not_reject(
        thousandths in prop::collection::vec(-20_i32..20, 1..11), level in 0.5_f64..0.999,
    ) {
        // on a grid, so that there are ties
        let values: Vec<f64> = thousandths.iter().map(|value| f64::from(*value)).collect();
        let ranks = Ranks::of_blocks(&values).expect("values");
        let interval = ranks.interval(level);
        for quarter in -80..=80 {
            let at = f64::from(quarter) / 4.0;
            let rejected = ranks.p_differs(at) <= 1.0 - level;
            prop_assert_eq!(interval.is_some_and(|interval| !interval.covers(at)), rejected, "{}", at);
        }
        prop_assert_eq!(interval.is_some(), values.len() >= least_blocks(level));
        prop_assert!(interval.is_none_or(|interval| interval.level >= level - 1e-9));
    }

    #[test]
    fn with_ties_no_level_is_exceeded(
        magnitudes in prop::collection::vec(0_u8..4, 1..10), tail in 0.001_f64..0.5,
    ) {
        // under the null hypothesis all combinations of signs are equally likely
        let n = magnitudes.len();
        let rejected = (0..1_usize << n).filter(|signs| {
            let signed = magnitudes.iter().enumerate();
            let signed = signed.map(|(i, m)| if signs >> i & 1 == 1 { f64::from(*m) } else { -f64::from(*m) });
            Ranks::of_blocks(&signed.collect::<Vec<_>>()).expect("values").p_greater(0.0) <= tail
        });
        prop_assert!(rejected.count() as f64 <= tail * (1_usize << n) as f64 + 1e-9);
    }

    #[test]
    fn negated_values_negate_the_estimate(
        values in prop::collection::vec(-9.0_f64..9.0, 1..20), shift in -5.0_f64..5.0,
    ) {
        let ranks = Ranks::of_blocks(&values).expect("values");
        let moved = Ranks::of_blocks(&values.iter().map(|value| shift - value).collect::<Vec<_>>()).expect("values");
        prop_assert!((shift - ranks.estimate() - moved.estimate()).abs() < 1e-9);
        prop_assert!((ranks.p_greater(0.1) - moved.p_less(shift - 0.1)).abs() < 1e-12);
    }
}
