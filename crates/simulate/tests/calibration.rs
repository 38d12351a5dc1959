//! How often whole simulated experiments claim what is not, and find what is there; and how often searches find the capacity.
//! `make bench` prints the whole tables; here are fewer experiments, and bounds that so many can be held to.

#[path = "calibration/campaign.rs"]
mod campaign;
#[path = "../../stats/tests/calibration/rate.rs"]
mod rate;
#[path = "simulate/rig.rs"]
#[allow(dead_code, reason = "it has more than is needed here")]
mod rig;
#[path = "calibration/searches.rs"]
mod searches;

use campaign::{Campaign, EFFECT, SEEDS, WORLDS, World, tally, tally_apart};
use searches::{FOUND, SYSTEMS, searches};
use stats::{Asked, smallest_effect_apart};

const CV: f64 = 0.01;

/// Where nothing differs: the true rate is 5 % or less. So many experiments reach the bound by chance about once in a
/// thousand times.
#[test]
fn what_does_nothing_is_seldom_said_to_differ() {
    for world in WORLDS {
        let tally = tally(Campaign::new(SEEDS[0], world, CV, 0.0), 0.0, 300);
        for rate in [tally.differs, tally.twin_differs] {
            assert!(rate.share() <= 0.09, "{world:?}: {rate:?}");
        }
    }
}

#[test]
fn a_true_effect_is_found_and_covered() {
    let tally = tally(Campaign::new(SEEDS[0], World::Quiet, CV, EFFECT), EFFECT, 600);
    assert!(tally.differs.bounds().1 >= 0.9 && tally.differs.share() >= 0.87, "{:?}", tally.differs);
    let (low, high) = tally.covers.bounds();
    assert!(low <= 0.97 && high >= 0.93, "{:?}", tally.covers);
    assert!((6.0..20.0).contains(&tally.mean_blocks), "{} blocks", tally.mean_blocks);
    assert!(tally.twin_differs.share() <= 0.08, "{:?}", tally.twin_differs);
}

/// Runs of two results can come in any order in these worlds: 300 pairs of them reach the bound by chance about once in a
/// thousand times.
#[test]
fn two_results_that_do_not_differ_are_seldom_said_to() {
    for world in [World::Quiet, World::Modes] {
        let tally = tally_apart(Campaign::new(SEEDS[0], world, CV, 0.0), 0.0, 12, 300);
        assert!(tally.differs.share() <= 0.09, "{world:?}: {:?}", tally.differs);
        let (low, high) = tally.covers.bounds();
        assert!(low <= 0.97 && high >= 0.93, "{world:?}: {:?}", tally.covers);
    }
}

#[test]
fn of_two_results_the_effect_that_could_be_seen_is_seen_as_often_as_said() {
    let asked = Asked { level: 0.95, power: 0.8, comparisons: 1 };
    let effect = smallest_effect_apart((12, 12), CV, &asked).expect("enough runs");
    let tally = tally_apart(Campaign::new(SEEDS[0], World::Quiet, CV, effect), effect, 12, 600);
    let (low, high) = tally.differs.bounds();
    assert!(low <= 0.85 && high >= 0.78, "{:?} at {effect}", tally.differs);
}

/// They can fail, and that is what `compare` says each time: what changes on the host meanwhile is taken for an effect.
#[test]
fn of_two_results_a_drift_that_goes_on_is_an_effect() {
    let tally = tally_apart(Campaign::new(SEEDS[0], World::Drift, CV, 0.0), 0.0, 12, 50);
    assert!(tally.differs.bounds().0 > 0.5, "{:?}", tally.differs);
}

/// The checks above can fail: where order is not drawn, a drift is taken for an effect.
#[test]
fn experiments_in_one_order_are_caught() {
    let campaign = Campaign::new(SEEDS[0], World::Drift, CV / 10.0, 0.0).in_one_order();
    let wrong = tally(campaign, 0.0, 50);
    assert!(wrong.differs.bounds().0 > 0.5, "{:?}", wrong.differs);
}

/// The share is the same as of the 500 searches of `make bench`, and was fixed before it was read.
#[test]
fn a_search_finds_the_known_capacity_within_the_goals_width() {
    for system in &SYSTEMS {
        let found = searches(system, 40, 1.0);
        for (goal, within) in system.goals().iter().zip(&found.within_width) {
            assert!(f64::from(*within) >= 40.0 * FOUND, "{}, {}: {within} of 40", system.name, goal.name);
        }
    }
}

/// The check above can fail: a capacity that is told too high by three widths is not found.
#[test]
fn a_search_does_not_find_another_capacity() {
    for system in [&SYSTEMS[0], &SYSTEMS[5]] {
        let goals = system.goals();
        let found = searches(system, 20, 1.0 + 3.0 * goals[0].width);
        for (goal, within) in goals.iter().zip(&found.within_width) {
            assert!(*within <= 2, "{}, {}: {within} of 20", system.name, goal.name);
        }
    }
}
