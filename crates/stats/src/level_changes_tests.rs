use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::*;
use crate::multiple::simultaneous_level;

/// Standard normal value, by the method of Box and Muller.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Kind of history whose level does not change, or whose changes are known.
struct World {
    results: usize,
    /// First value of each further level, and the logarithm of its step.
    steps: Vec<(usize, f64)>,
    /// Standard deviation of the steps by which the host drifts.
    drift: f64,
    /// Elasticity with which values follow the host.
    elasticity: f64,
}

const SCATTER: f64 = 0.01;

impl World {
    fn quiet(results: usize, steps: &[(usize, f64)]) -> Self {
        Self { results, steps: steps.to_vec(), drift: 0.0, elasticity: 1.0 }
    }

    fn history(&self, random: &mut ChaCha8Rng) -> Vec<ReferencedValue> {
        let mut host = 0.0;
        (0..self.results)
            .map(|index| {
                host += self.drift * normal(random);
                let level: f64 = self.steps.iter().filter(|(at, _)| *at <= index).map(|(_, step)| step).sum();
                let value = level + self.elasticity * host + SCATTER * normal(random);
                let reference = host + 0.2 * SCATTER * normal(random);
                ReferencedValue {
                    value: 50_000.0 * value.exp(),
                    references: vec![20_000.0 * reference.exp()],
                }
            })
            .collect()
    }

    /// Returns in how many of `families` families of `members` histories each there is a change that is not within 2
    /// results of a true one, and how many of all true changes were found.
    fn tally(&self, families: usize, members: usize) -> (f64, f64) {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut test = LevelTest::new(simultaneous_level(0.95, members));
        let (mut wrong, mut found) = (0, 0);
        for _ in 0..families {
            let mut is_wrong = false;
            for _ in 0..members {
                let changes = test.changes(&self.history(&mut random));
                let near = |at: usize, step: &(usize, f64)| at.abs_diff(step.0) <= 2;
                is_wrong |= changes.iter().any(|change| !self.steps.iter().any(|step| near(change.at, step)));
                let is_found = |step: &&(usize, f64)| changes.iter().any(|change| near(change.at, step));
                found += self.steps.iter().filter(is_found).count();
            }
            wrong += usize::from(is_wrong);
        }
        let all = families * members * self.steps.len().max(1);
        (wrong as f64 / families as f64, found as f64 / all as f64)
    }
}

/// With 600 families, a rate of 5 % is exceeded by over 3.2 % about once in 5,000 times.
const MOST_WRONG: f64 = 0.082;

#[test]
fn histories_without_a_change_share_the_error_rate() {
    for (results, members) in [(8, 1), (14, 10), (30, 1), (30, 20)] {
        let (wrong, _) = World::quiet(results, &[]).tally(600, members);
        assert!(wrong <= MOST_WRONG, "{results} results, {members} histories: {wrong}");
    }
}

#[test]
fn drift_of_the_host_is_no_change() {
    for elasticity in [0.0, 0.4, 1.0, 1.6] {
        let world = World { drift: 0.03, elasticity, ..World::quiet(30, &[]) };
        let (wrong, _) = world.tally(300, 1);
        assert!(wrong <= MOST_WRONG, "{elasticity}: {wrong}");
    }
    // negative control: values that follow the host more than the grid allows for
    let world = World { drift: 0.03, elasticity: 4.0, ..World::quiet(30, &[]) };
    assert!(world.tally(50, 1).0 > 0.3);
}

#[test]
fn changes_are_found_at_their_places_and_no_others() {
    /// Name, number of results, and the steps: index and size.
    type Steps = (&'static str, usize, &'static [(usize, f64)]);
    let worlds: [Steps; 5] = [
        ("a step", 24, &[(12, 0.05)]),
        ("the last 5 of 30", 30, &[(25, 0.08)]),
        ("worse, and then as before", 30, &[(10, 0.06), (20, -0.06)]),
        ("two steps", 36, &[(12, 0.05), (24, 0.05)]),
        ("an improvement", 40, &[(30, -0.05)]),
    ];
    for (name, results, steps) in worlds {
        let (wrong, found) = World::quiet(results, steps).tally(100, 4);
        assert!(wrong <= 0.12, "{name}: {wrong} of the families have a false change");
        assert!(found >= 0.8, "{name}: {found} of the changes were found");
    }
}

#[test]
fn change_has_its_size_with_an_interval() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let history = World::quiet(30, &[(15, 0.1)]).history(&mut random);
    let changes = LevelTest::new(0.95).changes(&history);
    let [change] = changes[..] else { panic!("{changes:?}") };
    assert_eq!(change.at, 15);
    assert!((change.ratio.ln() - 0.1).abs() < 0.02, "{change:?}");
    let interval = change.interval.expect("15 values on each side");
    assert!(
        interval.low > 1.0 && interval.low < change.ratio && change.ratio < interval.high,
        "{interval:?}"
    );
}

#[test]
fn few_results_and_outliers_are_no_change() {
    let of = |values: &[f64]| -> Vec<LevelChange> {
        let value = |value: &f64| ReferencedValue { value: *value, references: vec![1.0] };
        LevelTest::new(0.95).changes(&values.iter().map(value).collect::<Vec<_>>())
    };
    assert_eq!(of(&[]), []);
    assert_eq!(of(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]), [], "six results are too few");
    assert_eq!(of(&[5.0; 40]), [], "equal values");
    let mut values: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i * 7 % 11)).collect();
    (values[14], values[29]) = (900.0, 900.0);
    assert_eq!(of(&values), [], "single results");
    values[22..].iter_mut().for_each(|value| *value += 50.0);
    assert_eq!(of(&values).iter().map(|change| change.at).collect::<Vec<_>>(), [22]);
}

#[test]
fn more_histories_need_more_results() {
    let least = |members| LevelTest::new(simultaneous_level(0.95, members)).least_results();
    assert_eq!((least(1), least(40), least(1_000)), (8, 13, 18));
}

#[test]
fn old_results_of_a_long_history_are_not_tested() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let history = World::quiet(MOST_TESTED + 50, &[(20, 0.2), (100, 0.2)]).history(&mut random);
    let changes = LevelTest::new(0.95).changes(&history);
    assert_eq!(changes.iter().map(|change| change.at).collect::<Vec<_>>(), [100]);
}

#[test]
fn doubled_ranks_of_equal_values_are_their_mean() {
    assert_eq!(doubled_ranks(&[3.0, 1.0, 3.0, 2.0]), [7, 2, 7, 4]);
}
