use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::*;
use crate::normal;

/// Returns the published measurements of a study on the cost of QoS policies, in µs per message: 35 settings with
/// three runs each, one flood around two devices. The runs of one setting are multimodal.
fn flood() -> Vec<f64> {
    let csv = include_str!("../../../tests/data/qos-study/flood.csv");
    let values = |line: &'static str| line.split(',').skip(1).take(3);
    csv.lines().skip(1).flat_map(values).map(|value| value.parse().expect("a value")).collect()
}

/// Returns the share of series with a CV of 2 % that are called multimodal. `draw` takes uniform random numbers.
fn several(seed: u64, n: usize, series: usize, draw: impl Fn(&mut dyn FnMut() -> f64) -> f64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let found = (0..series).filter(|_| {
        let mut uniform = || random.random_range(1e-12..1.0);
        let values: Vec<f64> = (0..n).map(|_| (0.02 * draw(&mut uniform)).exp()).collect();
        matches!(modality(&values), Modality::Several(_))
    });
    found.count() as f64 / series as f64
}

#[test]
fn the_flood_has_groups() {
    let flood = flood();
    assert_eq!(flood.len(), 105);
    let Modality::Several(modes) = modality(&flood) else { panic!("{:?}", modality(&flood)) };
    assert_eq!((modes[0].from, modes[0].to), (102.9, 109.2));
    assert!((modes[0].location - 105.7).abs() < 0.5 && modes[0].share == 60.0 / 105.0, "{modes:?}");
    assert!((modes.iter().map(|mode| mode.share).sum::<f64>() - 1.0).abs() < 1e-12, "{modes:?}");
}

#[test]
fn single_mode_is_rarely_split() {
    for (n, series) in [(12, 400), (40, 100)] {
        let seldom = |name: &str, share: f64| assert!(share <= 0.05, "{name}, {n} runs: {share}");
        seldom("normal", several(1, n, series, |u| normal::quantile(u())));
        seldom("with wide tails", several(2, n, series, |u| crate::power::t_quantile(u(), 5)));
        seldom("with wider tails", several(3, n, series, |u| crate::power::t_quantile(u(), 3)));
        seldom("skewed", several(4, n, series, |u| -(u() * u() * u() * u()).ln()));
    }
}

#[test]
fn groups_are_found_when_far_apart() {
    let apart = |share: f64, sd: f64| {
        several(5, 20, 50, move |u| normal::quantile(u()) + if u() < share { sd } else { 0.0 })
    };
    assert!(apart(0.5, 8.0) >= 0.9, "{}", apart(0.5, 8.0));
    assert!(apart(0.25, 8.0) >= 0.8, "{}", apart(0.25, 8.0));
}

#[test]
fn four_groups_have_their_places_and_shares() {
    let values: Vec<f64> = [100.0, 120.0, 150.0, 200.0]
        .iter()
        .flat_map(|at| (0..10).map(move |i| at + f64::from(i) * 0.1))
        .collect();
    let Modality::Several(modes) = modality(&values) else { panic!("{:?}", modality(&values)) };
    let found: Vec<f64> = modes.iter().map(|mode| mode.location).collect();
    let expected = [100.45, 120.45, 150.45, 200.45];
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9), "{modes:?}");
    assert!(modes.len() == 4 && modes.iter().all(|mode| mode.share == 0.25), "{modes:?}");
}

#[test]
fn few_or_equal_runs_have_no_groups() {
    assert_eq!(modality(&flood()[..11]), Modality::TooFewRuns);
    assert_eq!(modality(&[5.0; 30]), Modality::One);
    // two outliers are not a mode
    let mut stragglers: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
    stragglers.extend([400.0, 410.0]);
    assert_eq!(modality(&stragglers), Modality::One);
}

#[test]
#[should_panic(expected = "no logarithm")]
fn nothing_has_no_logarithm() {
    let _ = modality(&[1.0, 0.0]);
}
