use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::*;
use crate::normal;

/// A campaign with 35 settings, three runs each, of one flood round two devices: µs per message, as published with a study
/// of what QoS policies cost. No setting is behind the groups; the runs of one setting lie in several.
const FLOOD: [f64; 105] = [
    154.3, 104.3, 154.8, 105.0, 107.3, 107.9, 124.1, 127.8, 126.0, 103.7, 177.4, 116.6, 106.4, 105.4, 106.8,
    168.5, 103.8, 152.3, 106.0, 106.4, 104.0, 105.6, 105.7, 106.3, 105.8, 104.3, 102.9, 105.1, 175.7, 105.5,
    105.7, 106.1, 105.5, 162.9, 107.7, 178.5, 105.2, 178.5, 103.4, 107.3, 109.2, 107.5, 107.8, 108.4, 107.1,
    105.5, 114.8, 104.8, 105.2, 110.8, 105.8, 154.2, 155.4, 154.3, 177.8, 106.6, 151.8, 114.7, 106.5, 111.8,
    104.4, 114.3, 108.2, 112.7, 115.9, 106.7, 225.3, 157.0, 120.1, 105.5, 117.1, 154.4, 112.9, 105.8, 103.3,
    105.7, 105.7, 105.6, 105.5, 146.4, 105.5, 114.9, 104.4, 104.2, 153.2, 105.3, 149.7, 105.9, 106.5, 113.5,
    104.7, 112.4, 104.8, 105.3, 145.7, 105.7, 112.7, 107.8, 106.7, 112.4, 112.5, 145.5, 255.3, 146.0, 139.5,
];

/// How often figures with a CV of 2 % are said to fall into groups. `draw` takes uniform numbers.
fn several(seed: u64, n: usize, series: usize, draw: impl Fn(&mut dyn FnMut() -> f64) -> f64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let found = (0..series).filter(|_| {
        let mut uniform = || random.random_range(1e-12..1.0);
        let figures: Vec<f64> = (0..n).map(|_| (0.02 * draw(&mut uniform)).exp()).collect();
        matches!(modality(&figures), Modality::Several(_))
    });
    found.count() as f64 / series as f64
}

#[test]
fn the_flood_has_groups() {
    let Modality::Several(modes) = modality(&FLOOD) else { panic!("{:?}", modality(&FLOOD)) };
    assert_eq!((modes[0].from, modes[0].to), (102.9, 109.2));
    assert!((modes[0].location - 105.7).abs() < 0.5 && modes[0].share == 60.0 / 105.0, "{modes:?}");
    assert!((modes.iter().map(|mode| mode.share).sum::<f64>() - 1.0).abs() < 1e-12, "{modes:?}");
}

#[test]
fn what_has_one_mode_is_seldom_called_several() {
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
    let figures: Vec<f64> = [100.0, 120.0, 150.0, 200.0]
        .iter()
        .flat_map(|at| (0..10).map(move |i| at + f64::from(i) * 0.1))
        .collect();
    let Modality::Several(modes) = modality(&figures) else { panic!("{:?}", modality(&figures)) };
    let found: Vec<f64> = modes.iter().map(|mode| mode.location).collect();
    let expected = [100.45, 120.45, 150.45, 200.45];
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9), "{modes:?}");
    assert!(modes.len() == 4 && modes.iter().all(|mode| mode.share == 0.25), "{modes:?}");
}

#[test]
fn few_or_equal_runs_have_no_groups() {
    assert_eq!(modality(&FLOOD[..11]), Modality::TooFewRuns);
    assert_eq!(modality(&[5.0; 30]), Modality::One);
    // two stragglers are no group
    let mut stragglers: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
    stragglers.extend([400.0, 410.0]);
    assert_eq!(modality(&stragglers), Modality::One);
}

#[test]
#[should_panic(expected = "no logarithm")]
fn nothing_has_no_logarithm() {
    let _ = modality(&[1.0, 0.0]);
}
