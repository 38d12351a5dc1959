//! Criteria such as "p99 at most 5 % higher": failed, passed or inconclusive.
//!
//! A criterion is decided by the same interval as a comparison. It fails if the interval lies beyond the bound,
//! passes if the interval lies on the allowed side, and is inconclusive if the interval contains the bound. Several
//! criteria on one result share the level: a change without effect fails any of them with a probability of at most
//! half of `1 - level`.

use crate::{comparison_data::ComparisonData, multiple::simultaneous_level};

/// Bound of a criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateBound {
    /// Upper bound of the relative change: 0.05 forbids an increase of more than 5 %.
    Above(f64),
    /// Lower bound of the relative change: -0.05 forbids a decrease of more than 5 %.
    Below(f64),
}

/// Outcome of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateOutcome {
    /// Failed: the interval lies beyond the bound.
    Broken,
    /// Passed: the interval lies on the allowed side of the bound.
    Kept,
    /// Inconclusive: the interval contains the bound.
    CannotTell,
    /// Too few blocks for an interval of this level, whatever the values.
    TooFewBlocks {
        /// Minimum number of blocks with both values, or of runs on each side.
        needs: usize,
    },
}

/// Evaluates one criterion out of `criteria` on the same result, paired or not.
///
/// # Panics
/// Panics if the bound is -1 or less: a value cannot decrease by more than 100 %.
#[must_use]
pub fn judge(sides: &ComparisonData, forbidden: GateBound, level: f64, criteria: usize) -> GateOutcome {
    let (GateBound::Above(change) | GateBound::Below(change)) = forbidden;
    assert!(change > -1.0, "a change of {change} has no ratio");
    let bound = change.ln_1p();
    let level = simultaneous_level(level, criteria);
    let Some(ranks) = sides.ranks().filter(|ranks| ranks.interval(level).is_some()) else {
        return GateOutcome::TooFewBlocks { needs: sides.least(level) };
    };
    let rejects = |p: f64| 2.0 * p <= 1.0 - level + 1e-12;
    let (above, below) = (rejects(ranks.p_greater(bound)), rejects(ranks.p_less(bound)));
    match forbidden {
        GateBound::Above(_) if above => GateOutcome::Broken,
        GateBound::Below(_) if below => GateOutcome::Broken,
        _ if above || below => GateOutcome::Kept,
        _ => GateOutcome::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        block::{Block, Run, log_ratios},
        ranks::Ranks,
        referenced::ReferencedRun,
    };

    fn blocks(ratios: &[f64]) -> Vec<Block> {
        let run = |value| Some(Run { value, steady: true });
        ratios.iter().map(|ratio| Block { treatment: run(200.0 * ratio), baseline: run(200.0) }).collect()
    }

    fn judge_blocks(blocks: &[Block], forbidden: GateBound, level: f64, criteria: usize) -> GateOutcome {
        judge(&ComparisonData::Blocks(blocks.to_vec()), forbidden, level, criteria)
    }

    /// Returns 12 blocks with ratios within 3 % of `ratio`.
    fn around(ratio: f64) -> Vec<Block> {
        blocks(&(0..12).map(|i| ratio * (1.0 + 0.03 * (f64::from(i) - 5.5) / 5.5)).collect::<Vec<_>>())
    }

    #[test]
    fn bound_is_broken_kept_or_undecided() {
        let above = |ratio| judge_blocks(&around(ratio), GateBound::Above(0.05), 0.95, 1);
        let below = |ratio| judge_blocks(&around(ratio), GateBound::Below(-0.05), 0.95, 1);
        assert_eq!(
            (above(1.10), above(1.05), above(1.0)),
            (GateOutcome::Broken, GateOutcome::CannotTell, GateOutcome::Kept)
        );
        assert_eq!(
            (below(0.90), below(0.95), below(1.0)),
            (GateOutcome::Broken, GateOutcome::CannotTell, GateOutcome::Kept)
        );
        // a significant increase below the bound
        assert_eq!(above(1.02), GateOutcome::Kept);
    }

    #[test]
    fn several_criteria_share_the_level() {
        // 12 of 12 above the bound: p = 2 / 4096, enough for 100 criteria and not for 103
        let ratios = blocks(&[1.06; 12]);
        assert_eq!(judge_blocks(&ratios, GateBound::Above(0.05), 0.95, 100), GateOutcome::Broken);
        assert_eq!(
            judge_blocks(&ratios, GateBound::Above(0.05), 0.95, 103),
            GateOutcome::TooFewBlocks { needs: 13 }
        );
    }

    #[test]
    fn five_blocks_tell_nothing() {
        let five = judge_blocks(&blocks(&[2.0; 5]), GateBound::Above(0.05), 0.95, 1);
        assert_eq!(five, GateOutcome::TooFewBlocks { needs: 6 });
        assert_eq!(judge_blocks(&blocks(&[2.0; 6]), GateBound::Above(0.05), 0.95, 1), GateOutcome::Broken);
    }

    #[test]
    fn runs_apart_are_judged_by_the_same_rules() {
        let runs = |ratio: f64, n: u32| -> Vec<ReferencedRun> {
            let value = |i| 200.0 * ratio * (1.0 + 0.002 * f64::from(i));
            (0..n).map(|i| Run { value: value(i), steady: true }.into()).collect()
        };
        let judge_apart = |ratio: f64, n| {
            let sides = ComparisonData::Apart { treatment: runs(ratio, n), baseline: runs(1.0, n) };
            judge(&sides, GateBound::Above(0.05), 0.95, 1)
        };
        assert_eq!(
            (judge_apart(1.10, 8), judge_apart(1.05, 8), judge_apart(1.0, 8)),
            (GateOutcome::Broken, GateOutcome::CannotTell, GateOutcome::Kept)
        );
        assert_eq!(judge_apart(2.0, 3), GateOutcome::TooFewBlocks { needs: 4 });
    }

    #[test]
    fn undecided_bounds_are_exactly_those_in_the_interval() {
        let made = around(1.03);
        let interval =
            Ranks::of_blocks(&log_ratios(&made)).and_then(|ranks| ranks.interval(0.95)).expect("12 blocks");
        let interval = interval.map(f64::exp_m1);
        for bound in (0..100).map(|step| f64::from(step) / 1000.0) {
            let outcome = judge_blocks(&made, GateBound::Above(bound), 0.95, 1);
            let expected = match bound {
                _ if bound < interval.low => GateOutcome::Broken,
                _ if bound > interval.high => GateOutcome::Kept,
                _ => GateOutcome::CannotTell,
            };
            assert_eq!(outcome, expected, "{bound}");
        }
    }
}
