//! Number of blocks, decided once from a pilot before any conclusion: Stein's two-stage procedure.
//!
//! The pilot's blocks give the scatter of log ratios, and that alone determines the total number of blocks. The
//! interval is computed when all of them are done. The effect seen in the pilot has no influence, so a lucky pilot
//! does not end the experiment. Stein's quantiles have the pilot's degrees of freedom: a standard deviation
//! estimated from 6 blocks may be 60 % too small, and the number of blocks allows for that.
//!
//! The final interval is the signed-rank interval of all blocks, not Stein's own, which keeps the pilot's standard
//! deviation. Its coverage under this rule is verified by simulation, in the calibration.
//!
//! Source: C. Stein, *A Two-Sample Test for a Linear Hypothesis Whose Power is Independent of the Variance*, Annals
//! of Mathematical Statistics 16, 1945.

use crate::{
    multiple::simultaneous_level,
    power::{EFFICIENCY, MOST_BLOCKS, PowerSpec, t_quantile},
    signed_rank::least_blocks,
};

/// Minimum number of blocks with a 95 % interval; the size of the pilot if a single comparison is planned.
pub const PILOT_BLOCKS: usize = 6;

/// Target precision and power of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionTarget {
    /// Half-width of each comparison's interval, relative: 0.02 for ±2 %.
    pub half_width: Option<f64>,
    /// True relative effect to detect with the power of `spec`: 0.02 for 2 %.
    pub effect: Option<f64>,
    /// Level, power and number of comparisons that share the level.
    pub spec: PowerSpec,
}

impl Default for PrecisionTarget {
    /// Returns intervals of ±2 % at 95 %, and a true effect of 2 % detected with 90 % power. The first alone
    /// detects a true 2 % in two thirds of experiments (simulated): an interval as wide as the effect often
    /// includes 0.
    fn default() -> Self {
        let spec = PowerSpec { level: 0.95, power: 0.9, comparisons: 1 };
        Self { half_width: Some(0.02), effect: Some(0.02), spec }
    }
}

/// Number of blocks, including those of the pilot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockPlan {
    /// Number of blocks to execute.
    pub blocks: usize,
    /// Number of blocks that the goal needs; more than `blocks` if the budget is too small.
    pub wanted: usize,
    /// Largest standard deviation of log ratios among the comparisons.
    pub ratio_sd: f64,
}

/// Returns the number of blocks from the pilot's log ratios, one list per comparison. `most` is the maximum number
/// that the time budget allows; it must not depend on the ratios. `None` if no comparison has two blocks.
#[must_use]
pub fn plan_blocks(pilot: &[Vec<f64>], goal: &PrecisionTarget, most: usize) -> Option<BlockPlan> {
    let spreads = pilot.iter().filter_map(|ratios| Some((sample_sd(ratios)?, ratios.len())));
    let wanted = spreads.clone().map(|(sd, blocks)| blocks_wanted(sd, blocks, goal)).max()?;
    let ratio_sd = spreads.map(|(sd, _)| sd).fold(0.0, f64::max);
    let made = pilot.iter().map(Vec::len).max().unwrap_or(0);
    let wanted = wanted.max(made);
    Some(BlockPlan { blocks: wanted.min(most).max(made).max(least(goal)), wanted, ratio_sd })
}

/// Returns the minimum number of blocks with which the goal can be reached at all.
fn least(goal: &PrecisionTarget) -> usize {
    let PowerSpec { level, comparisons, .. } = goal.spec;
    least_blocks(if goal.effect.is_some() { simultaneous_level(level, comparisons) } else { level })
}

fn blocks_wanted(sd: f64, pilot_blocks: usize, goal: &PrecisionTarget) -> usize {
    let freedom = pilot_blocks - 1;
    let spec = &goal.spec;
    let each = simultaneous_level(spec.level, spec.comparisons);
    let two_sided = |level: f64| t_quantile(f64::midpoint(1.0, level), freedom);
    let blocks = |quantiles: f64, relative: f64| (quantiles * sd / relative.ln_1p()).powi(2) / EFFICIENCY;
    let precise = goal.half_width.map_or(0.0, |half| blocks(two_sided(each), half));
    let seen =
        goal.effect.map_or(0.0, |effect| blocks(two_sided(each) + t_quantile(spec.power, freedom), effect));
    let least = least(goal);
    // a float-to-integer cast saturates
    (precise.max(seen).ceil() as usize).clamp(least, MOST_BLOCKS.max(least))
}

/// Returns the standard deviation of a sample; `None` with fewer than two values.
#[must_use]
pub fn sample_sd(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pilot(sd: f64) -> Vec<f64> {
        // six values with this standard deviation
        [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0].map(|value: f64| value * sd * (5.0_f64 / 6.0).sqrt() + 0.3).to_vec()
    }

    #[test]
    fn the_spread_decides_and_the_mean_does_not() {
        let goal = PrecisionTarget::default();
        let plan = plan_blocks(&[pilot(0.014)], &goal, 100).expect("a pilot");
        // ((2.571 + 1.476) * 0.014 / ln 1.02)^2 * pi / 3 = 8.57
        assert_eq!((plan.blocks, plan.wanted), (9, 9));
        assert!((plan.ratio_sd - 0.014).abs() < 1e-12);
        let elsewhere: Vec<f64> = pilot(0.014).iter().map(|ratio| ratio - 5.0).collect();
        assert_eq!(plan_blocks(&[elsewhere], &goal, 100).map(|plan| plan.blocks), Some(9));
        let only_precise = PrecisionTarget { effect: None, ..goal };
        // (2.571 * 0.03 / ln 1.02)^2 * pi / 3 = 15.9
        assert_eq!(plan_blocks(&[pilot(0.03)], &only_precise, 100).map(|plan| plan.blocks), Some(16));
    }

    #[test]
    fn budget_is_met_except_for_the_minimum() {
        let goal = PrecisionTarget::default();
        let blocks = |sd, most| {
            plan_blocks(&[pilot(sd)], &goal, most).map(|plan| (plan.blocks, plan.wanted > plan.blocks))
        };
        assert_eq!(blocks(0.014, 8), Some((8, true)));
        assert_eq!(blocks(0.05, 2), Some((6, true)));
        assert_eq!(blocks(0.0, 100), Some((6, false)));
        assert_eq!(blocks(10.0, usize::MAX), Some((MOST_BLOCKS, false)));
    }

    #[test]
    fn the_noisiest_comparison_decides_and_many_need_more() {
        let goal = PrecisionTarget::default();
        let both = plan_blocks(&[pilot(0.001), pilot(0.014)], &goal, 100).expect("a pilot");
        assert_eq!(both.blocks, 9);
        let forty = PrecisionTarget { spec: PowerSpec { comparisons: 40, ..goal.spec }, ..goal };
        assert_eq!(plan_blocks(&[pilot(0.0001)], &forty, 100).map(|plan| plan.blocks), Some(11));
    }

    #[test]
    fn single_block_is_not_a_pilot() {
        assert_eq!(plan_blocks(&[], &PrecisionTarget::default(), 10), None);
        assert_eq!(plan_blocks(&[vec![0.1]], &PrecisionTarget::default(), 10), None);
        assert_eq!(sample_sd(&[2.0, 4.0]), Some(2.0_f64.sqrt()));
    }
}
