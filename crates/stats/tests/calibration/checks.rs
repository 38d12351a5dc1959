//! Error rates, coverage and power of the methods on simulated experiments with a known effect.

use stats::{
    Block, Conclusion, PILOT_BLOCKS, PowerSpec, PrecisionTarget, Ranks, Rules, compare, log_ratios,
    plan_blocks, smallest_effect,
};

use crate::{
    rate::Rate,
    worlds::{Rig, World},
};

/// Fixed before any rate was computed.
pub const SEEDS: [u64; 3] = [2026, 1945, 3];
pub const CV: f64 = 0.01;
const RULES: Rules = Rules { level: 0.95, margin: 0.02, power: 0.8 };

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
    let ranks = Ranks::of_blocks(&log_ratios(blocks)).expect("blocks");
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
            Ranks::of_blocks(&log_ratios(&made)).and_then(|ranks| ranks.interval(0.95)).expect("six or more");
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
        let ranks = Ranks::of_blocks(&log_ratios(&rig.blocks(blocks, effect))).expect("blocks");
        ranks.p_differs(0.0) <= 1.0 - level
    });
    (blocks, found)
}

/// Lists of an additive model of settings and bases, means over experiments.
#[allow(dead_code, reason = "the tables do not show it")]
#[derive(Debug)]
pub struct OverBases {
    /// Share of false entries in the list of effects.
    pub false_effects: f64,
    /// Share of the settings with an effect that the list has.
    pub true_effects: f64,
    /// The same of the list of interactions.
    pub false_interactions: f64,
    pub true_interactions: f64,
    /// Share of intervals of settings without an interaction that cover the true effect.
    pub covers: f64,
}

/// Simulates experiments with 38 settings over 7 bases in 3 blocks, normal on the logarithmic scale, and fits the additive model.
#[allow(dead_code, reason = "the tables do not show it")]
pub fn over_bases(seed: u64, experiments: u32) -> OverBases {
    const SETTINGS: usize = 38;
    const BASES: usize = 7;
    const BLOCKS: usize = 3;
    let true_effect = |setting: usize, base: usize| match setting {
        0..8 => 0.03_f64.ln_1p(),
        8..12 if base >= 4 => 0.06_f64.ln_1p(),
        _ => 0.0,
    };
    let mut rig = Rig::new(seed, World::Quiet, CV);
    let mut sums = [0.0; 5];
    for experiment in 0..experiments {
        let mut ratios = vec![vec![Vec::new(); BASES]; SETTINGS];
        for _ in 0..BLOCKS {
            for base in 0..BASES {
                let default = rig.run().ln();
                for (setting, ratios) in ratios.iter_mut().enumerate() {
                    ratios[base].push(rig.run().ln() + true_effect(setting, base) - default);
                }
            }
        }
        let found = stats::additive_effects(&ratios, RULES.level, seed ^ u64::from(experiment));
        let found: Vec<_> = found.into_iter().map(|found| found.expect("ratios")).collect();
        let listed = |of: &dyn Fn(&stats::AdditiveEffect) -> bool| -> Vec<usize> {
            (0..SETTINGS).filter(|setting| of(&found[*setting])).collect()
        };
        let effects = listed(&|found| found.p_exploratory <= 0.05);
        let interactions = listed(&|found| found.p_interaction_exploratory.is_some_and(|p| p <= 0.05));
        let share = |list: &[usize], of: &dyn Fn(usize) -> bool, among: usize| {
            list.iter().filter(|setting| of(**setting)).count() as f64 / among.max(1) as f64
        };
        sums[0] += share(&effects, &|setting| setting >= 12, effects.len());
        sums[1] += share(&effects, &|setting| setting < 8, 8);
        sums[2] += share(&interactions, &|setting| !(8..12).contains(&setting), interactions.len());
        sums[3] += share(&interactions, &|setting| (8..12).contains(&setting), 4);
        let additive: Vec<usize> = (0..SETTINGS).filter(|setting| !(8..12).contains(setting)).collect();
        let covers = |setting: usize| {
            found[setting].interval.is_some_and(|interval| interval.covers(true_effect(setting, 0).exp_m1()))
        };
        sums[4] += share(&additive, &covers, additive.len());
    }
    let [false_effects, true_effects, false_interactions, true_interactions, covers] =
        sums.map(|sum| sum / f64::from(experiments));
    OverBases { false_effects, true_effects, false_interactions, true_interactions, covers }
}
