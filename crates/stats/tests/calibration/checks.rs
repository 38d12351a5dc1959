//! Error rates, coverage and power of the methods on simulated experiments with a known effect.

use stats::{
    Block, Conclusion, PILOT_BLOCKS, PowerSpec, PrecisionTarget, Rules, SignedRank, compare, log_ratios,
    plan_blocks, smallest_effect,
};

use crate::{
    rate::Rate,
    worlds::{Rig, World},
};

/// Fixed before any rate was computed.
pub const SEEDS: [u64; 3] = [2026, 1945, 3];
pub const CV: f64 = 0.01;
const RULES: Rules = Rules { level: 0.95, margin: 0.02, power: 0.8, modes: false };

fn differs(family: &[Vec<Block>]) -> bool {
    let found = compare(family, &RULES);
    assert!(found.iter().all(|found| found.incomplete == 0), "a value has no ratio: nothing was tested");
    found.iter().any(|found| matches!(found.conclusion, Conclusion::Differs { .. }))
}

/// Returns the rate of false differences without an effect.
pub fn false_differs(seed: u64, world: World, blocks: usize, experiments: u32) -> Rate {
    let mut rig = Rig::new(seed, world, CV);
    Rate::of(experiments, || differs(&[rig.blocks(blocks, 0.0)]))
}

/// Returns the rate of families with a false difference. No setting has an effect, and each has its own baseline
/// runs.
pub fn false_differs_in_family(seed: u64, world: World, settings: usize, experiments: u32) -> Rate {
    let mut rig = Rig::new(seed, world, CV);
    Rate::of(experiments, || {
        let family: Vec<Vec<Block>> = (0..settings).map(|_| rig.blocks(16, 0.0)).collect();
        differs(&family)
    })
}

/// Returns the rate of false claims in a family of two: a difference without an effect, or equivalence for an
/// effect as large as the margin.
pub fn false_claims_in_mixed_family(seed: u64, blocks: usize, experiments: u32) -> Rate {
    let mut rig = Rig::new(seed, World::Quiet, CV);
    Rate::of(experiments, || {
        let found = compare(&[rig.blocks(blocks, 0.0), rig.blocks(blocks, RULES.margin)], &RULES);
        let differs = matches!(found[0].conclusion, Conclusion::Differs { .. });
        differs
            || matches!(
                found[1].conclusion,
                Conclusion::Equivalent | Conclusion::Differs { within_margin: true, .. }
            )
    })
}

/// Returns the rate of false equivalence for an effect exactly on the margin.
pub fn false_equivalent(seed: u64, world: World, blocks: usize, experiments: u32) -> Rate {
    let mut rig = Rig::new(seed, world, CV);
    Rate::of(experiments, || {
        let found = compare(&[rig.blocks(blocks, RULES.margin)], &RULES);
        matches!(
            found[0].conclusion,
            Conclusion::Equivalent | Conclusion::Differs { within_margin: true, .. }
        )
    })
}

fn covers(blocks: &[Block], effect: f64) -> bool {
    let ranks = SignedRank::new(&log_ratios(blocks)).expect("blocks");
    ranks.interval(RULES.level).expect("six blocks or more").covers(effect.ln_1p())
}

/// Returns the rate at which the interval covers a true effect of 2 %, with a fixed number of blocks.
pub fn coverage(seed: u64, world: World, blocks: usize, experiments: u32) -> Rate {
    let mut rig = Rig::new(seed, world, CV);
    Rate::of(experiments, || covers(&rig.blocks(blocks, 0.02), 0.02))
}

/// Rates of experiments whose number of blocks is planned from a pilot.
pub struct Staged {
    pub covers: Rate,
    /// Detection of a true effect of 2 %.
    pub finds: Rate,
    /// Intervals not wider than the goal.
    pub precise: Rate,
    pub mean_blocks: f64,
}

/// Simulates experiments with a pilot, a plan, the remaining blocks and one interval.
pub fn staged(seed: u64, world: World, cv: f64, goal: &PrecisionTarget, experiments: u32) -> Staged {
    let mut rig = Rig::new(seed, world, cv);
    let (mut found, mut precise, mut blocks) = (0, 0, 0);
    let covers = Rate::of(experiments, || {
        let mut made = rig.blocks(PILOT_BLOCKS, 0.02);
        let plan = plan_blocks(&[log_ratios(&made)], goal, 200).expect("a pilot");
        made.extend(rig.blocks(plan.blocks - PILOT_BLOCKS, 0.02));
        let interval =
            SignedRank::new(&log_ratios(&made)).and_then(|ranks| ranks.interval(0.95)).expect("six or more");
        found += u32::from(interval.low > 0.0);
        precise += u32::from(interval.half_width() <= 0.02_f64.ln_1p());
        blocks += plan.blocks;
        interval.covers(0.02_f64.ln_1p())
    });
    let rate = |times| Rate { times, of: experiments };
    let mean_blocks = blocks as f64 / f64::from(experiments);
    Staged { covers, finds: rate(found), precise: rate(precise), mean_blocks }
}

/// Returns the number of blocks planned for a true effect, and the rate at which they detect it.
pub fn power(seed: u64, cv: f64, effect: f64, spec: &PowerSpec, experiments: u32) -> (usize, Rate) {
    let ratio_sd = (2.0 * cv.powi(2).ln_1p()).sqrt(); // of two independent log-normal values
    let detects =
        |blocks: &usize| smallest_effect(*blocks, ratio_sd, spec).is_some_and(|least| least <= effect);
    let blocks = (2..500).find(detects).expect("a number");
    let mut rig = Rig::new(seed, World::Quiet, cv);
    let level = stats::simultaneous_level(spec.level, spec.comparisons);
    let found = Rate::of(experiments, || {
        let ranks = SignedRank::new(&log_ratios(&rig.blocks(blocks, effect))).expect("blocks");
        ranks.p_differs(0.0) <= 1.0 - level
    });
    (blocks, found)
}
