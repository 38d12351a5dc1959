use super::*;
use crate::golden;

const ONE: PowerSpec = PowerSpec { level: 0.95, power: 0.8, comparisons: 1 };
const FORTY: PowerSpec = PowerSpec { comparisons: 40, ..ONE };

#[test]
fn scipy_has_the_same_noncentral_t() {
    for case in golden::cases("noncentral_t") {
        let ours = t_above(case.number("t"), case.number("freedom"), case.number("shift"));
        assert!((ours - case.number("above")).abs() < 1e-5, "{ours}, {}", case.number("above"));
    }
}

/// Returns the standard deviation of log ratios of two independent runs, from the coefficient of variation of a run.
fn ratio_sd(between_run_cv: f64) -> f64 {
    (2.0 * between_run_cv.powi(2).ln_1p()).sqrt()
}

#[test]
fn power_at_the_smallest_effect_is_the_requested_one() {
    for spec in [ONE, FORTY] {
        for sd in [0.005, 0.02, 0.05] {
            for blocks in [11, 12, 20, 40, 100] {
                let effect = smallest_effect(blocks, sd, &spec).expect("enough blocks");
                let power = Test::new(blocks, &spec).expect("enough blocks").power(effect.ln_1p() / sd);
                assert!((power - spec.power).abs() < 1e-6, "{power} for {effect} with {blocks} blocks");
                let noisier = smallest_effect(blocks, sd * 1.3, &spec).expect("enough blocks");
                assert!(noisier > effect, "{noisier} with more noise, {effect} with less");
            }
        }
    }
}

#[test]
fn too_few_blocks_see_nothing() {
    assert_eq!(smallest_effect(5, 0.01, &ONE), None);
    assert!(smallest_effect(6, 0.01, &ONE).is_some());
    assert_eq!(smallest_effect(10, 0.01, &FORTY), None);
    assert!(smallest_effect(11, 0.01, &FORTY).is_some());
    assert_eq!(smallest_effect(8, 0.0, &ONE), Some(0.0));
}

/// Unpaired runs per setting by a t test, 80 % power, the strictest step of Holm over 40: CV, effect, runs.
const UNPAIRED: [(f64, f64, f64); 7] = [
    (0.005, 0.01, 9.0),
    (0.01, 0.01, 34.0),
    (0.01, 0.02, 9.0),
    (0.023, 0.01, 174.0),
    (0.023, 0.02, 44.0),
    (0.05, 0.02, 207.0),
    (0.05, 0.05, 34.0),
];

#[test]
fn pairs_of_independent_runs_need_little_more_than_unpaired_ones() {
    for (cv, effect, runs) in UNPAIRED {
        let detects = |blocks: &usize| {
            smallest_effect(*blocks, ratio_sd(cv), &FORTY).is_some_and(|least| least <= effect)
        };
        let blocks = (2..500).find(detects).expect("a number") as f64;
        // ranks need 5 % more, logarithms of effects up to 2 %, half the degrees of freedom up to eight blocks
        assert!(
            (runs..=1.02 * runs / EFFICIENCY + 8.0).contains(&blocks),
            "CV {cv}, effect {effect}: {blocks}, {runs}"
        );
    }
}

#[test]
fn runs_apart_see_what_the_same_number_of_independent_pairs_does_or_a_little_less() {
    for runs in [8, 12, 20, 40] {
        let apart = smallest_effect_apart((runs, runs), 0.01, &ONE).expect("enough runs");
        let paired = smallest_effect(runs, ratio_sd(0.01), &ONE).expect("enough blocks");
        assert!((0.85..1.05).contains(&(apart / paired)), "{runs}: {apart}, {paired}");
    }
    assert_eq!(smallest_effect_apart((3, 3), 0.01, &ONE), None);
    assert_eq!(smallest_effect_apart((0, 9), 0.01, &ONE), None);
    assert!(smallest_effect_apart((4, 40), 0.01, &ONE) > smallest_effect_apart((22, 22), 0.01, &ONE));
}

#[test]
fn effects_of_a_family_are_those_of_each_comparison_alone() {
    for spec in [ONE, FORTY] {
        let family = SmallestEffects::new(&spec);
        for (runs, sd) in [(17, 0.01), (15, 0.2), (17, 0.2), (3, 0.01), (17, 0.0)] {
            assert_eq!(family.of_blocks(runs, sd), smallest_effect(runs, sd, &spec));
            for sides in [(runs, 15), (15, runs)] {
                assert_eq!(family.apart(sides, sd), smallest_effect_apart(sides, sd, &spec));
            }
        }
    }
}
