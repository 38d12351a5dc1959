use proptest::prelude::*;

use super::*;
use crate::ranks::Ranks;

/// Returns `P(U <= u)` by enumeration of all assignments of the sorted values to the two groups.
fn by_enumeration(m: usize, n: usize, u: usize) -> f64 {
    let all = (0..1_usize << (m + n)).filter(|members| members.count_ones() as usize == m);
    let statistic = |members: usize| {
        let firsts = (0..m + n).filter(|i| members >> i & 1 == 1);
        firsts.map(|i| (0..i).filter(|j| members >> j & 1 == 0).count()).sum::<usize>()
    };
    let (mut at_most, mut orders) = (0_u32, 0_u32);
    for members in all {
        orders += 1;
        at_most += u32::from(statistic(members) <= u);
    }
    f64::from(at_most) / f64::from(orders)
}

#[test]
fn the_null_distribution_is_what_enumeration_counts() {
    for (m, n) in [(1, 1), (1, 5), (2, 3), (4, 4), (5, 3), (6, 6), (3, 9)] {
        let null = null(m, n);
        for u in 0..=m * n {
            let (ours, counted) = (null.at_most(u), by_enumeration(m, n, u));
            assert!((ours - counted).abs() < 1e-12, "{m}, {n}, {u}: {ours}, {counted}");
        }
    }
}

#[test]
fn critical_values_are_those_of_the_published_tables() {
    // two-sided 5 %: the largest U that rejects (Mann and Whitney; Hollander, Wolfe and Chicken, table A.6)
    for (m, n, u) in [(4, 4, 0), (5, 5, 2), (6, 6, 5), (8, 8, 13), (10, 10, 23), (12, 12, 37), (20, 20, 127)]
    {
        assert_eq!(null(m, n).critical(0.025), Some(u), "{m}, {n}");
    }
    assert_eq!(null(3, 3).critical(0.025), None);
}

#[test]
fn fewer_than_four_on_each_side_have_no_interval_of_95_percent() {
    let interval = |n: usize| {
        let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
        Ranks::of_groups(&values, &values).and_then(|ranks| ranks.interval(0.95))
    };
    assert_eq!((least_runs(0.95), interval(3).is_some(), interval(4).is_some()), (4, false, true));
    assert_eq!(least_runs(1.0 - 0.05 / 40.0), 7);
}

#[test]
fn equal_values_do_not_differ_and_distant_ones_do() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let same = Ranks::of_groups(&values, &values).expect("values");
    assert_eq!((same.estimate(), same.p_greater(0.0).min(same.p_less(0.0)) > 0.4), (0.0, true));
    let moved = Ranks::of_groups(&values.map(|value| value + 10.0), &values).expect("values");
    assert_eq!(moved.estimate(), 10.0);
    // 1 of the 924 orders
    assert!((moved.p_greater(0.0) - 1.0 / 924.0).abs() < 1e-12 && moved.p_less(0.0) == 1.0);
    assert!(Ranks::of_groups(&[], &values).is_none() && Ranks::of_groups(&values, &[]).is_none());
    // ties count against both claims
    let tied = Ranks::of_groups(&[1.0; 6], &[1.0; 6]).expect("values");
    assert_eq!((tied.p_greater(0.0), tied.p_less(0.0)), (1.0, 1.0));
}

proptest! {
    #[test]
    fn a_point_lies_outside_of_the_interval_just_where_a_test_rejects(
        treatment in prop::collection::vec(-1.0..1.0_f64, 4..9),
        baseline in prop::collection::vec(-1.0..1.0_f64, 4..9),
        at in -2.0..2.0_f64,
    ) {
        let ranks = Ranks::of_groups(&treatment, &baseline).expect("values");
        let interval = ranks.interval(0.95).expect("4 on each side");
        let rejects = ranks.p_greater(at).min(ranks.p_less(at)) <= 0.025;
        prop_assert_eq!(rejects, !interval.covers(at));
    }

    #[test]
    fn swapped_sides_give_the_opposite(
        treatment in prop::collection::vec(-1.0..1.0_f64, 1..9),
        baseline in prop::collection::vec(-1.0..1.0_f64, 1..9),
    ) {
        let (there, back) = (Ranks::of_groups(&treatment, &baseline), Ranks::of_groups(&baseline, &treatment));
        let (there, back) = (there.expect("values"), back.expect("values"));
        prop_assert!((there.estimate() + back.estimate()).abs() < 1e-12);
        prop_assert!((there.p_greater(0.1) - back.p_less(-0.1)).abs() < 1e-12);
    }
}
