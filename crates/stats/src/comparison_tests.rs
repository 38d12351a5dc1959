use super::*;
use crate::{block::Run, referenced::ReferencedRun};

const QUIET: Rules = Rules { level: 0.95, margin: 0.02, power: 0.8 };

fn run(value: f64) -> Option<Run> {
    Some(Run { value, steady: true })
}

/// Returns blocks with ratios evenly spaced from `ratio - reach` to `ratio + reach`.
fn blocks(n: usize, ratio: f64, reach: f64) -> Vec<Block> {
    let ratio = |i: usize| ratio + reach * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
    (0..n).map(|i| Block { treatment: run(300.0 * ratio(i)), baseline: run(300.0) }).collect()
}

fn alone(blocks: Vec<Block>) -> Comparison {
    compare(&[blocks], &QUIET).remove(0)
}

fn conclusion(n: usize, ratio: f64, reach: f64) -> Conclusion {
    alone(blocks(n, ratio, reach)).conclusion
}

#[test]
fn each_conclusion_has_its_data() {
    use Conclusion::{Differs, Equivalent, TooFewBlocks};
    use Direction::{Higher, Lower};
    assert_eq!(conclusion(12, 0.96, 0.02), Differs { direction: Lower, within_margin: false });
    assert_eq!(conclusion(12, 1.06, 0.02), Differs { direction: Higher, within_margin: false });
    assert_eq!(conclusion(12, 0.994, 0.004), Differs { direction: Lower, within_margin: true });
    assert_eq!(conclusion(12, 1.0, 0.01), Equivalent);
    assert_eq!(conclusion(5, 2.0, 0.001), TooFewBlocks { needs: 6 });
    let Conclusion::Inconclusive { could_have_seen: Some(seen) } = conclusion(12, 1.01, 0.1) else {
        panic!("{:?}", conclusion(12, 1.01, 0.1))
    };
    // (t with 11 degrees of freedom at 97.5 % and 80 %) * 0.065 / sqrt 12, plus a little for the ranks
    assert!((0.055..0.065).contains(&seen), "{seen}");
}

#[test]
fn comparison_has_estimate_interval_and_p_value() {
    let found = alone(blocks(12, 0.96, 0.02));
    let change = found.change.expect("blocks");
    let interval = change.interval.expect("12 blocks");
    assert!((change.estimate + 0.04).abs() < 1e-3, "{change:?}");
    assert!(interval.covers(-0.04) && interval.low < -0.045 && interval.high > -0.035, "{interval:?}");
    assert!(interval.level >= 0.95 && change.p < 0.001 && change.p_adjusted == change.p, "{change:?}");
    assert_eq!(change.simultaneous, change.interval);
    assert_eq!((found.blocks, found.incomplete, found.unsteady), (12, 0, 0));
}

#[test]
fn failed_and_unsteady_runs_are_counted() {
    let mut made = blocks(12, 0.96, 0.02);
    made[0].treatment = None;
    made[1].baseline = None;
    made[2] = Block { treatment: None, baseline: None };
    made[3].treatment = run(0.0);
    made[4].treatment = made[4].treatment.map(|run| Run { steady: false, ..run });
    let found = alone(made);
    assert_eq!((found.blocks, found.incomplete, found.unsteady), (8, 4, 1));
    assert!(matches!(found.conclusion, Conclusion::Differs { direction: Direction::Lower, .. }));
    let nothing = alone(vec![Block { treatment: None, baseline: run(1.0) }; 8]);
    assert_eq!((nothing.blocks, nothing.incomplete, nothing.change), (0, 8, None));
    assert_eq!(nothing.conclusion, Conclusion::TooFewBlocks { needs: 6 });
    assert_eq!(compare(&[], &QUIET), []);
}

#[test]
fn a_family_claims_less_than_its_members_alone() {
    // one clear difference, and one with p = 0.03 alone
    let plain = blocks(12, 1.1, 0.02);
    let doubtful = blocks(6, 1.02, 0.015);
    assert!(matches!(alone(doubtful.clone()).conclusion, Conclusion::Differs { .. }));
    let found = compare(&[plain, doubtful, blocks(12, 1.0, 0.1)], &QUIET);
    assert!(matches!(found[0].conclusion, Conclusion::Differs { .. }));
    assert_eq!(found[1].conclusion, Conclusion::TooFewBlocks { needs: 7 });
    let change = found[1].change.expect("blocks");
    // the clear one leaves half a share: 2.5 of 3
    assert_eq!((change.p, change.p_adjusted, change.p_exploratory), (0.03125, 0.078125, 0.046875));
    assert!(change.interval.is_some() && change.simultaneous.is_none());
    let wide = found[0].change.expect("blocks");
    assert!(wide.simultaneous.expect("12").half_width() > wide.interval.expect("12").half_width());
}

#[test]
fn equal_ratios_are_equivalent_whatever_their_number() {
    assert_eq!(conclusion(8, 1.0, 0.0), Conclusion::Equivalent);
    // exactly on the margin: neither beyond nor within it
    assert!(matches!(conclusion(8, 1.02, 0.0), Conclusion::Differs { within_margin: false, .. }));
}

#[test]
fn runs_apart_have_each_conclusion_too() {
    use Conclusion::{Differs, Equivalent, Inconclusive, TooFewBlocks};
    let runs = |n: usize, middle: f64, reach: f64| -> Vec<ReferencedRun> {
        let at = |i: usize| middle * (1.0 + reach * (2.0 * i as f64 / (n - 1) as f64 - 1.0));
        (0..n).map(|i| Run { value: at(i), steady: i > 0 }.into()).collect()
    };
    let compare = |n, middle, reach| {
        let sides =
            ComparisonData::Apart { treatment: runs(n, middle, reach), baseline: runs(n, 300.0, reach) };
        compare_sides(&[sides], &QUIET).remove(0)
    };
    let lower = compare(10, 285.0, 0.01);
    assert_eq!(lower.conclusion, Differs { direction: Direction::Lower, within_margin: false });
    let change = lower.change.expect("runs");
    assert!(change.interval.expect("10 runs").covers(-0.05), "{change:?}");
    assert_eq!((lower.blocks, lower.incomplete, lower.unsteady), (10, 0, 2));
    assert_eq!(compare(10, 300.0, 0.01).conclusion, Equivalent);
    assert_eq!(compare(3, 600.0, 0.01).conclusion, TooFewBlocks { needs: 4 });
    let wide = compare(10, 303.0, 0.1).conclusion;
    assert!(matches!(wide, Inconclusive { could_have_seen: Some(seen) } if seen > 0.05), "{wide:?}");
    // 6 and 3 runs are enough: one of 84 orders
    let few = ComparisonData::Apart { treatment: runs(6, 600.0, 0.01), baseline: runs(3, 300.0, 0.01) };
    assert!(matches!(compare_sides(&[few], &QUIET)[0].conclusion, Differs { .. }));
}
