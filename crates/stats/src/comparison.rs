//! Comparison of two cells.
//!
//! Each block gives the logarithm of the ratio of treatment to baseline. Estimate, interval and tests are those of
//! [`Ranks::of_blocks`]. Runs that share no blocks are unpaired and are compared by [`Ranks::of_groups`]. All claims of
//! one family are tested together: pass everything that is read together to one call of [`compare`] or
//! [`compare_sides`].
//!
//! - *Higher* or *lower*: the adjusted p-value is at most `1 - level`.
//! - *Equivalent*: two one-sided tests reject "the ratio is beyond the margin", above and below. For a single
//!   comparison this is the case exactly if the printed interval lies within the margin.
//! - Both kinds of claims share the level: [`differs_and_equivalent`].
//! - Both can hold: an effect that is real and too small to matter. Then both are reported.
//! - Neither: *inconclusive*, with the minimum detectable effect.
//!
//! The baseline has one run per block. The mean of two runs would be less noisy. But with skewed or multimodal
//! values, a treatment without effect would then not be equally likely above and below the baseline, and the test
//! would not be exact.
//!
//! Sources: those of `signed_rank.rs`; D. J. Schuirmann, *A Comparison of the Two One-Sided Tests
//! Procedure and the Power Approach*, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.

use crate::{
    block::{Block, log_ratios},
    comparison_data::ComparisonData,
    multiple::{benjamini_hochberg, differs_and_equivalent, simultaneous_level},
    power::{PowerSpec, SmallestEffects},
    precision::sample_sd,
    ranks::{Interval, Nulls, Ranks},
    referenced,
};

/// Parameters of claims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Confidence level of intervals; for a family of claims, the probability that none is false.
    pub level: f64,
    /// Equivalence margin: ratios from `1 / (1 + margin)` to `1 + margin` do not matter.
    pub margin: f64,
    /// Power for which the minimum detectable effect is computed.
    pub power: f64,
}

impl Rules {
    /// Default parameters.
    pub const DEFAULT: Self = Self { level: 0.95, margin: 0.02, power: 0.8 };
}

/// Direction of the treatment relative to the baseline. [`Better`](crate::Better) says which direction of a metric
/// is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Treatment value greater than that of the baseline.
    Higher,
    /// Treatment value less than that of the baseline.
    Lower,
}

/// Result of one comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conclusion {
    /// Significant difference.
    Differs {
        /// Direction of the difference.
        direction: Direction,
        /// Whether the difference is also shown to be within the margin, too small to matter.
        within_margin: bool,
    },
    /// Equivalence within the margin, without a significant difference.
    Equivalent,
    /// Neither a difference nor equivalence is shown.
    Inconclusive {
        /// Minimum detectable relative effect (0.06 for 6 %) with this number of blocks, the power of the rules and
        /// the observed scatter of log ratios. `None` if all ratios are equal.
        could_have_seen: Option<f64>,
    },
    /// Too few blocks for any claim, whatever the values.
    TooFewBlocks {
        /// Minimum number of blocks with both values, or of runs on each side.
        needs: usize,
    },
}

/// Estimates of a comparison as relative changes: 0.05 for 5 % more than the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Hodges-Lehmann estimate.
    pub estimate: f64,
    /// Wilcoxon interval of this comparison alone. `None` with too few blocks.
    pub interval: Option<Interval>,
    /// Wilcoxon interval at the simultaneous level of the family, for charts. `None` with too few blocks.
    pub simultaneous: Option<Interval>,
    /// p-value of "no difference" for this comparison alone.
    pub p: f64,
    /// `p` adjusted for the family-wise error rate; claims rest on it.
    pub p_adjusted: f64,
    /// `p` adjusted for the false discovery rate, for a list of candidates to investigate.
    pub p_exploratory: f64,
    /// p-value of "the change is beyond the margin", on the scale of a two-sided test and adjusted like `p_adjusted`.
    pub p_beyond_margin: f64,
}

/// One comparison of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of blocks with both values, or of usable runs of the smaller side.
    pub blocks: usize,
    /// Number of blocks that lack a value, or of runs without one. They are excluded. If runs fail *because* of a
    /// setting, that is a bias.
    pub incomplete: usize,
    /// Number of blocks, or runs, without a steady state. They are included.
    pub unsteady: usize,
    /// Estimates; `None` without a usable block.
    pub change: Option<Change>,
    /// Result of the tests.
    pub conclusion: Conclusion,
}

/// Compares all members of a family together, one list of blocks for each.
#[must_use]
pub fn compare(family: &[Vec<Block>], rules: &Rules) -> Vec<Comparison> {
    let family: Vec<ComparisonData> = family.iter().cloned().map(ComparisonData::Blocks).collect();
    compare_sides(&family, rules)
}

/// Compares all members of a family together, paired or not.
#[must_use]
pub fn compare_sides(family: &[ComparisonData], rules: &Rules) -> Vec<Comparison> {
    let nulls = Nulls::default();
    let ranks: Vec<Option<Ranks>> = family.iter().map(|sides| sides.ranks_with(&nulls)).collect();
    let spec = PowerSpec { level: rules.level, power: rules.power, comparisons: family.len() };
    let effects = SmallestEffects::new(&spec);
    let margin = rules.margin.ln_1p();
    // a member without any pair makes no claim, but counts in the family
    let each = |p: &dyn Fn(&Ranks) -> f64| -> Vec<f64> {
        ranks.iter().map(|ranks| ranks.as_ref().map_or(1.0, p)).collect()
    };
    let p = each(&|ranks| ranks.p_differs(0.0));
    let p_beyond = each(&|ranks| (2.0 * ranks.p_less(margin).max(ranks.p_greater(-margin))).min(1.0));
    let p_exploratory = benjamini_hochberg(&p);
    let (p_adjusted, p_beyond_margin) = differs_and_equivalent(&p, &p_beyond);
    let comparison = |i: usize| {
        let sides = &family[i];
        let relative = |interval: Option<Interval>| interval.map(|interval| interval.map(f64::exp_m1));
        let change = ranks[i].as_ref().map(|ranks| Change {
            estimate: ranks.estimate().exp_m1(),
            interval: relative(ranks.interval(rules.level)),
            simultaneous: relative(ranks.interval(simultaneous_level(rules.level, family.len()))),
            p: p[i],
            p_adjusted: p_adjusted[i],
            p_exploratory: p_exploratory[i],
            p_beyond_margin: p_beyond_margin[i],
        });
        let (blocks, incomplete) = sides.complete();
        Comparison {
            blocks,
            incomplete,
            unsteady: sides.unsteady(),
            conclusion: conclude(change.as_ref(), sides, &effects, rules),
            change,
        }
    };
    (0..family.len()).map(comparison).collect()
}

fn conclude(
    change: Option<&Change>,
    sides: &ComparisonData,
    effects: &SmallestEffects<'_>,
    rules: &Rules,
) -> Conclusion {
    let needs = sides.least(effects.level());
    let Some(change) = change else { return Conclusion::TooFewBlocks { needs } };
    let rejects = |p: f64| p <= 1.0 - rules.level + 1e-12;
    let within_margin = rejects(change.p_beyond_margin);
    if rejects(change.p_adjusted) {
        let direction = if change.estimate > 0.0 { Direction::Higher } else { Direction::Lower };
        return Conclusion::Differs { direction, within_margin };
    }
    if within_margin {
        return Conclusion::Equivalent;
    }
    if change.simultaneous.is_none() {
        return Conclusion::TooFewBlocks { needs };
    }
    // `None` if no values could lead to a claim, however large the difference
    let seen = match sides {
        ComparisonData::Blocks(blocks) => {
            let ratios = log_ratios(blocks);
            sample_sd(&ratios).and_then(|sd| effects.of_blocks(ratios.len(), sd))
        }
        ComparisonData::Apart { treatment, baseline } => {
            referenced::smallest_effect(treatment, baseline, effects)
        }
    };
    Conclusion::Inconclusive { could_have_seen: seen.filter(|effect| *effect > 0.0) }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
