//! A stated criterion, such as "p99 no more than 5 % higher": is it broken, kept, or can the data not tell?
//!
//! Decided by the same interval as everything else: one that lies beyond the bound breaks the criterion, one that lies on
//! the other side keeps it, and one that holds the bound cannot tell. Several criteria that are put to one result share the
//! level, so that a change that does nothing breaks any of them with at most half of `1 - level`.

use crate::{Block, Sides, simultaneous_level};

/// What a criterion forbids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Forbidden {
    /// A change of more than this: 0.05 forbids 5 % more.
    Above(f64),
    /// A change of less than this: -0.05 forbids 5 % less.
    Below(f64),
}

/// What the data say of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The change is in what is forbidden.
    Broken,
    /// It is not.
    Kept,
    /// The interval holds the bound.
    CannotTell,
    /// No interval of this level, whatever the figures.
    TooFewBlocks {
        /// Blocks with both figures, or runs on each side, from which on there may be one.
        needs: usize,
    },
}

/// Judges one of `criteria` that are put to the same result.
///
/// # Panics
/// If the bound is -1 or less: no figure falls by more than all of it.
#[must_use]
pub fn judge(blocks: &[Block], forbidden: Forbidden, level: f64, criteria: usize) -> Outcome {
    judge_sides(&Sides::Blocks(blocks.to_vec()), forbidden, level, criteria)
}

/// The same, however the two sides were measured.
///
/// # Panics
/// If the bound is -1 or less.
#[must_use]
pub fn judge_sides(sides: &Sides, forbidden: Forbidden, level: f64, criteria: usize) -> Outcome {
    let (Forbidden::Above(change) | Forbidden::Below(change)) = forbidden;
    assert!(change > -1.0, "a change of {change} has no ratio");
    let bound = change.ln_1p();
    let level = simultaneous_level(level, criteria);
    let Some(ranks) = sides.ranks().filter(|ranks| ranks.interval(level).is_some()) else {
        return Outcome::TooFewBlocks { needs: sides.least(level) };
    };
    let rejects = |p: f64| 2.0 * p <= 1.0 - level + 1e-12;
    let (above, below) = (rejects(ranks.p_greater(bound)), rejects(ranks.p_less(bound)));
    match forbidden {
        Forbidden::Above(_) if above => Outcome::Broken,
        Forbidden::Below(_) if below => Outcome::Broken,
        _ if above || below => Outcome::Kept,
        _ => Outcome::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, SignedRank, log_ratios};

    fn blocks(ratios: &[f64]) -> Vec<Block> {
        let run = |figure| Some(Run { figure, steady: true });
        ratios.iter().map(|ratio| Block { treatment: run(200.0 * ratio), baseline: run(200.0) }).collect()
    }

    /// 12 ratios around this one, the farthest 3 % off.
    fn around(ratio: f64) -> Vec<Block> {
        blocks(&(0..12).map(|i| ratio * (1.0 + 0.03 * (f64::from(i) - 5.5) / 5.5)).collect::<Vec<_>>())
    }

    #[test]
    fn a_bound_is_broken_kept_or_too_close_to_tell() {
        let above = |ratio| judge(&around(ratio), Forbidden::Above(0.05), 0.95, 1);
        let below = |ratio| judge(&around(ratio), Forbidden::Below(-0.05), 0.95, 1);
        assert_eq!(
            (above(1.10), above(1.05), above(1.0)),
            (Outcome::Broken, Outcome::CannotTell, Outcome::Kept)
        );
        assert_eq!(
            (below(0.90), below(0.95), below(1.0)),
            (Outcome::Broken, Outcome::CannotTell, Outcome::Kept)
        );
        // a real increase that does not reach the bound
        assert_eq!(above(1.02), Outcome::Kept);
    }

    #[test]
    fn several_criteria_share_the_level() {
        // 12 of 12 above the bound: p = 2 / 4096, enough for 100 of them and not for 103
        let ratios = blocks(&[1.06; 12]);
        assert_eq!(judge(&ratios, Forbidden::Above(0.05), 0.95, 100), Outcome::Broken);
        assert_eq!(judge(&ratios, Forbidden::Above(0.05), 0.95, 103), Outcome::TooFewBlocks { needs: 13 });
    }

    #[test]
    fn five_blocks_tell_nothing() {
        let five = judge(&blocks(&[2.0; 5]), Forbidden::Above(0.05), 0.95, 1);
        assert_eq!(five, Outcome::TooFewBlocks { needs: 6 });
        assert_eq!(judge(&blocks(&[2.0; 6]), Forbidden::Above(0.05), 0.95, 1), Outcome::Broken);
    }

    #[test]
    fn runs_apart_are_judged_by_the_same_rules() {
        let runs = |ratio: f64, n: u32| -> Vec<Run> {
            let figure = |i| 200.0 * ratio * (1.0 + 0.002 * f64::from(i));
            (0..n).map(|i| Run { figure: figure(i), steady: true }).collect()
        };
        let judge = |ratio: f64, n| {
            let sides = Sides::Apart { treatment: runs(ratio, n), baseline: runs(1.0, n) };
            judge_sides(&sides, Forbidden::Above(0.05), 0.95, 1)
        };
        assert_eq!(
            (judge(1.10, 8), judge(1.05, 8), judge(1.0, 8)),
            (Outcome::Broken, Outcome::CannotTell, Outcome::Kept)
        );
        assert_eq!(judge(2.0, 3), Outcome::TooFewBlocks { needs: 4 });
    }

    #[test]
    fn what_cannot_be_told_is_just_what_the_interval_holds() {
        let made = around(1.03);
        let interval =
            SignedRank::of(&log_ratios(&made)).and_then(|ranks| ranks.interval(0.95)).expect("12 blocks");
        let interval = interval.map(f64::exp_m1);
        for bound in (0..100).map(|step| f64::from(step) / 1000.0) {
            let outcome = judge(&made, Forbidden::Above(bound), 0.95, 1);
            let expected = match bound {
                _ if bound < interval.low => Outcome::Broken,
                _ if bound > interval.high => Outcome::Kept,
                _ => Outcome::CannotTell,
            };
            assert_eq!(outcome, expected, "{bound}");
        }
    }
}
