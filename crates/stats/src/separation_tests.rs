use rand::{Rng, RngExt as _};

use super::*;
use crate::rank_sum::null;

const LEVEL: f64 = 0.95;

/// Returns `first` runs of group 0, followed by `second` runs of group 1.
fn two(first: usize, second: usize) -> Vec<usize> {
    [vec![0; first], vec![1; second]].concat()
}

fn numbers(values: impl IntoIterator<Item = f64>) -> Field {
    Field::Numbers(values.into_iter().map(Some).collect())
}

fn words<'w>(values: impl IntoIterator<Item = &'w str>) -> Field {
    Field::Words(values.into_iter().map(|word| Some(word.to_owned())).collect())
}

fn p(groups: &[usize], field: &Field) -> f64 {
    let tested = separate(groups, std::slice::from_ref(field), LEVEL, 1).tested;
    assert_eq!(tested.len(), 1);
    tested[0].p_adjusted
}

/// Asserts agreement within four standard errors, for the number of permutations until the test stops.
fn is_close(found: f64, exact: f64) {
    let deals = f64::from(DEALS).min(f64::from(PLAIN) / exact);
    let slack = 4.0 * (exact * (1.0 - exact) / deals).sqrt() + 1.0 / deals;
    assert!((found - exact).abs() <= slack, "{found}, exactly {exact}");
}

/// Compared with the exact distribution of the Mann-Whitney statistic.
#[test]
fn without_ties_the_p_value_of_numbers_is_that_of_the_rank_sum() {
    let groups = [0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1];
    let (first, second) = (groups.iter().filter(|group| **group == 0).count(), 7);
    // number of pairs in which the run of group 1 is below that of group 0; run i has the value i
    let below = (0..14)
        .flat_map(|after| (0..after).map(move |before| (before, after)))
        .filter(|(before, after)| groups[*before] == 1 && groups[*after] == 0)
        .count();
    let exact = 2.0 * null(first, second).at_most(below.min(first * second - below));
    is_close(p(&groups, &numbers((0..14).map(f64::from))), exact);
}

/// Compared with the hypergeometric probabilities of all tables as extreme, by hand: 5 of 7 and 1 of 8 have the
/// word.
#[test]
fn p_value_of_two_words_is_fishers() {
    let list = ["a", "a", "a", "a", "a", "b", "b", "a", "b", "b", "b", "b", "b", "b", "b"];
    // expected in the first group: 2.8 of the six; six, none and five are as extreme, one is not
    let exact = (7.0 + 28.0 + 21.0 * 8.0) / 5005.0;
    is_close(p(&two(7, 8), &words(list)), exact);
}

#[test]
fn only_the_planted_field_is_found() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let groups = two(13, 7);
    let planted = words(groups.iter().map(|group| ["0", "1"][*group]));
    let counted = numbers(groups.iter().map(|group| 300.0 * *group as f64));
    let mut fields: Vec<Field> = (0..12).map(|_| numbers((0..20).map(|_| random.random::<f64>()))).collect();
    fields.insert(3, planted);
    fields.push(counted);
    let found = separate(&groups, &fields, LEVEL, 1);
    assert_eq!(found.tested.len(), 14);
    assert_eq!(found.separating.iter().map(|tested| tested.field).collect::<Vec<_>>(), [3, 13]);
    assert!(found.enough_runs);
}

#[test]
fn three_modes_are_separated_by_a_field_highest_in_the_middle() {
    let groups: Vec<usize> = [0, 1, 2].into_iter().flat_map(|group| [group; 6]).collect();
    let field = numbers(groups.iter().zip(0..).map(|(group, i)| [1.0, 9.0, 4.0][*group] + f64::from(i % 3)));
    assert!(separate(&groups, &[field], LEVEL, 1).separating.len() == 1);
}

#[test]
fn field_with_one_value_is_not_tested() {
    let groups = two(8, 8);
    let mut gaps = vec![None; 5];
    gaps.extend(groups.iter().skip(5).map(|group| Some(*group as f64)));
    let fields = [
        // the same in all but two runs
        numbers((0..16).map(|run| f64::from(u8::from(run < 2)))),
        words(["on"; 16]),
        // a different word for each run
        Field::Words((0..16).map(|run| Some(run.to_string())).collect()),
        // known for 11 runs
        Field::Numbers(gaps),
        Field::Numbers(vec![None; 16]),
    ];
    let found = separate(&groups, &fields, LEVEL, 1);
    assert_eq!((found.tested, found.separating), (vec![], vec![]));
}

#[test]
fn a_field_that_some_runs_miss_is_judged_by_the_others() {
    let groups = two(9, 9);
    let known = |run: usize| (run != 4).then(|| groups[run] as f64);
    let found = separate(&groups, &[Field::Numbers((0..18).map(known).collect())], LEVEL, 1);
    assert_eq!(found.separating.len(), 1);
}

/// With 3 of 12 runs in a group no p-value is below 2/220: at most five fields can be tested.
#[test]
fn result_shows_that_no_separation_was_possible() {
    let groups = two(9, 3);
    let enough = |fields: usize| {
        let dull = numbers((0..12).map(|run| f64::from((run * 7) % 12)));
        separate(&groups, &vec![dull; fields], LEVEL, 1).enough_runs
    };
    assert!(enough(5) && !enough(6));
    let many: Vec<usize> = (0..3000).map(|run| run % 2).collect();
    assert!(least_p(&many) == 1.0 / f64::from(DEALS + 1), "no overflow");
}

/// Returns the share of `series` in which any of some unrelated fields is reported.
fn falsely(seed: u64, series: usize, groups: &[usize], draw: impl Fn(&mut dyn Rng) -> Vec<Field>) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let named = (0..series).filter(|i| {
        let fields = draw(&mut random);
        !separate(groups, &fields, LEVEL, *i as u64).separating.is_empty()
    });
    named.count() as f64 / series as f64
}

/// The true rate is at most 5 %. A rate of 400 series exceeds 9 % by chance about once in two thousand times.
#[test]
fn unrelated_field_is_rarely_named() {
    for (seed, groups) in [(11, two(10, 10)), (12, two(24, 6)), (13, [two(8, 8), vec![2; 8]].concat())] {
        let n = groups.len();
        let rate = falsely(seed, 400, &groups, |random| {
            let mut fields: Vec<Field> =
                (0..6).map(|_| numbers((0..n).map(|_| random.random::<f64>()))).collect();
            // counts with many ties, CPU numbers, and two fields that are almost equal
            fields.push(numbers((0..n).map(|_| f64::from(random.random_range(0_u32..3)))));
            fields.push(words((0..n).map(|_| ["0", "1"][random.random_range(0..2)])));
            let Field::Numbers(first) = &fields[0] else { unreachable!() };
            let near = first.iter().flatten().map(|x| x + 0.01 * random.random::<f64>()).collect::<Vec<_>>();
            fields.push(numbers(near));
            fields
        });
        assert!(rate <= 0.09, "{groups:?}: {rate}");
    }
}
