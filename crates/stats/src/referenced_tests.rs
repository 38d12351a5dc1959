use super::*;
use crate::{
    comparison::{Conclusion, Direction, Rules, compare_sides},
    comparison_data::ComparisonData,
    gate::{GateBound, GateOutcome, judge},
};

/// Returns runs with this value on a host that is `host` times as slow, which the value follows with an elasticity.
/// Runs and references scatter by about 1 %.
fn runs(n: usize, value: f64, host: f64, elasticity: f64) -> Vec<ReferencedRun> {
    let scatter = |i: usize, step: usize| 1.0 + 0.01 * (((i * step) % n) as f64 / n as f64 - 0.5);
    (0..n)
        .map(|i| ReferencedRun {
            run: Run { value: value * host.powf(elasticity) * scatter(i, 5), steady: true },
            references: vec![20_000.0 * host * scatter(i, 7)],
        })
        .collect()
}

fn concluded(effect: f64, host: f64, elasticity: f64) -> Conclusion {
    let sides = ComparisonData::Apart {
        treatment: runs(12, 100.0 * effect, host, elasticity),
        baseline: runs(12, 100.0, 1.0, elasticity),
    };
    compare_sides(&[sides], &Rules::DEFAULT).remove(0).conclusion
}

#[test]
fn change_that_the_host_explains_is_no_claim_for_any_elasticity() {
    for host in [0.4, 0.8, 0.95, 1.05, 1.3, 2.5] {
        for elasticity in [0.3, 0.6, 1.0, 1.4, 1.9] {
            let conclusion = concluded(1.0, host, elasticity);
            assert!(
                matches!(conclusion, Conclusion::Inconclusive { .. }),
                "{host}, {elasticity}: {conclusion:?}"
            );
        }
    }
    // negative control: an elasticity beyond the grid leads to a false claim
    assert!(matches!(concluded(1.0, 1.3, 3.0), Conclusion::Differs { .. }));
}

#[test]
fn change_that_the_host_does_not_explain_is_claimed() {
    let higher = Conclusion::Differs { direction: Direction::Higher, within_margin: false };
    let lower = Conclusion::Differs { direction: Direction::Lower, within_margin: false };
    assert_eq!((concluded(1.1, 1.0, 1.0), concluded(0.9, 1.0, 1.0)), (higher, lower));
    // the host became slower by 3 %: a change of 10 % is more than twice that, 5 % is not
    assert_eq!(concluded(1.1, 1.03, 0.0), higher);
    assert!(matches!(concluded(1.05, 1.03, 0.0), Conclusion::Inconclusive { .. }));
    // the host became faster, the value higher
    assert_eq!(concluded(1.05, 0.97, 0.0), higher);
    assert_eq!(concluded(1.0, 1.0, 1.0), Conclusion::Equivalent);
}

#[test]
fn interval_is_the_hull_and_agrees_with_claims_and_criteria() {
    for (effect, host) in [(1.1, 1.0), (1.1, 1.03), (1.0, 1.02), (0.97, 0.98)] {
        let (treatment, baseline) = (runs(12, 100.0 * effect, host, 0.5), runs(12, 100.0, 1.0, 0.5));
        let without_references = |runs: &[ReferencedRun]| runs.iter().map(|run| run.run.into()).collect();
        let alone = ComparisonData::Apart {
            treatment: without_references(&treatment),
            baseline: without_references(&baseline),
        };
        let sides = ComparisonData::Apart { treatment, baseline };
        let (estimate, interval) = sides.change(0.95).expect("12 runs");
        assert!(interval.covers(estimate), "{estimate}, {interval:?}");
        let (same, narrow) = alone.change(0.95).expect("12 runs");
        assert!(
            (same - estimate).abs() < 1e-12 && interval.low <= narrow.low && narrow.high <= interval.high
        );
        for bound in (-200..200).map(|step| f64::from(step) / 1000.0) {
            let expected = match bound {
                _ if bound < interval.low => GateOutcome::Broken,
                _ if bound > interval.high => GateOutcome::Kept,
                _ => GateOutcome::CannotTell,
            };
            assert_eq!(judge(&sides, GateBound::Above(bound), 0.95, 1), expected, "{bound}");
        }
    }
}

#[test]
fn runs_without_a_reference_take_no_part() {
    let mut treatment = runs(12, 100.0, 1.0, 1.0);
    for run in &mut treatment[..3] {
        run.references = vec![0.0];
    }
    let sides = ComparisonData::Apart { treatment, baseline: runs(12, 100.0, 1.0, 1.0) };
    assert_eq!(sides.complete(), (9, 3));
    let none = ComparisonData::Apart { treatment: Vec::new(), baseline: runs(12, 100.0, 1.0, 1.0) };
    assert!(matches!(compare_sides(&[none], &Rules::DEFAULT)[0].conclusion, Conclusion::TooFewBlocks { .. }));
}

#[test]
fn detectable_effect_grows_with_the_host_change() {
    let seen = |host| match concluded(1.0, host, 0.0) {
        Conclusion::Inconclusive { could_have_seen: Some(seen) } => seen,
        conclusion => panic!("{conclusion:?}"),
    };
    assert!(seen(1.1) > 0.2 && seen(1.1) < 0.25, "{}", seen(1.1));
    assert!(seen(1.3) > seen(1.1) && (seen(0.9) - 0.235).abs() < 0.02, "{}", seen(0.9));
}
