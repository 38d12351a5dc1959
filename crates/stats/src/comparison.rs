//! Two cells held against each other, and what may be said of it.
//!
//! For each block, the logarithm of the treatment's figure over the baseline's. Estimate, interval and tests are
//! [`SignedRank`]'s. All claims of one family are judged together: pass everything that is read together to one call of
//! [`compare`].
//!
//! - *Higher* or *lower*: the p-value, adjusted by Holm, is at most `1 - level`.
//! - *Equivalent*: two one-sided tests reject "the ratio is beyond the margin", above and below; adjusted by Holm among
//!   themselves. For a single comparison that is so exactly if the printed interval lies within the margin.
//! - Both can hold: an effect that is real and too small to matter. Both are said.
//! - Neither: *inconclusive*, with the effect that could have been seen.
//!
//! The baseline is one run a block. The mean of two would be less noisy, but then a treatment that does nothing is not as
//! likely above as below it when figures are skewed or in groups, and the test is no longer exact.
//!
//! Sources: those of [`SignedRank`]; D. J. Schuirmann, *A Comparison of the Two One-Sided Tests Procedure and the Power
//! Approach*, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.

use crate::{
    Asked, Interval, Modality, SignedRank, bca, benjamini_hochberg, hodges_lehmann, holm, least_blocks,
    modality, sample_sd, simultaneous_level, smallest_effect,
};

/// What a run gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The figure that is compared. One that is 0, negative or not finite has no ratio: as if the run had failed.
    pub figure: f64,
    /// Whether it kept its level. True where that was not judged.
    pub steady: bool,
}

/// The two runs of a block; none where a run failed or was not made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Of the cell that is judged.
    pub treatment: Option<Run>,
    /// Of the cell that it is held against.
    pub baseline: Option<Run>,
}

impl Block {
    /// The logarithm of treatment over baseline, if both are there.
    #[must_use]
    pub fn log_ratio(&self) -> Option<f64> {
        let usable =
            |run: Option<Run>| run.map(|run| run.figure).filter(|figure| *figure > 0.0 && figure.is_finite());
        Some((usable(self.treatment)? / usable(self.baseline)?).ln())
    }
}

/// The log ratios of the blocks that have both figures.
#[must_use]
pub fn log_ratios(blocks: &[Block]) -> Vec<f64> {
    blocks.iter().filter_map(Block::log_ratio).collect()
}

/// By which rules claims are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Confidence of intervals; for a family of claims, the probability that none is false.
    pub level: f64,
    /// Ratios from `1 / (1 + margin)` to `1 + margin` do not matter.
    pub margin: f64,
    /// With which probability an effect "could have been seen".
    pub power: f64,
    /// Resamples of the cross-check; 0 for none.
    pub resamples: usize,
    /// Of the cross-check's random numbers.
    pub seed: u64,
    /// Whether to look for groups of runs.
    pub modes: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { level: 0.95, margin: 0.02, power: 0.8, resamples: 2000, seed: 1, modes: true }
    }
}

/// Which way the treatment lies from the baseline. Whether that is good is the figure's affair: see
/// [`Better`](crate::Better).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Its figure is greater.
    Higher,
    /// Its figure is less.
    Lower,
}

/// What may be said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conclusion {
    /// A real difference; `within_margin` if it is also shown to be too small to matter.
    Differs {
        /// Which way.
        direction: Direction,
        /// Equivalent within the margin too.
        within_margin: bool,
    },
    /// No difference beyond the margin, and none shown within it.
    Equivalent,
    /// Neither is shown.
    Inconclusive {
        /// The relative effect, 0.06 for 6 %, that so many blocks would have found with the power of the rules, where
        /// log ratios scatter as these did. None where all ratios are equal.
        could_have_seen: Option<f64>,
    },
    /// Not enough for any claim, whatever the figures.
    TooFewBlocks {
        /// Blocks with both figures from which on there may be one.
        needs: usize,
    },
}

/// Figures of a comparison: relative changes, 0.05 for 5 % more than the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Of Hodges and Lehmann.
    pub estimate: f64,
    /// Wilcoxon's, for this comparison alone. None with too few blocks.
    pub interval: Option<Interval>,
    /// The same, wide enough that all of the family cover at once: for charts. None with too few blocks.
    pub simultaneous: Option<Interval>,
    /// The bootstrap's, for this comparison alone: a cross-check that no claim rests on.
    pub cross_check: Option<Interval>,
    /// That nothing differs; for this comparison alone.
    pub p: f64,
    /// Adjusted for the probability of any false claim in the family: what a claim rests on.
    pub p_holm: f64,
    /// Adjusted for the share of false ones: for a list of what to look at next.
    pub p_exploratory: f64,
    /// That the change is beyond the margin, on the scale of a two-sided test, and adjusted like `p_holm`.
    pub p_beyond_margin: f64,
}

/// One comparison of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Blocks with both figures: what all rests on.
    pub blocks: usize,
    /// Blocks that miss one or both. They take no part; if runs fail *because* of a setting, that is a bias.
    pub incomplete: usize,
    /// Blocks of which a run had no steady state. They take part.
    pub unsteady: usize,
    /// None without a block.
    pub change: Option<Change>,
    /// What may be said.
    pub conclusion: Conclusion,
    /// Whether the treatment's runs fall into groups; none if the rules do not ask.
    pub treatment_modes: Option<Modality>,
    /// Whether the baseline's do.
    pub baseline_modes: Option<Modality>,
}

/// Judges all comparisons of a family together, one list of blocks for each.
#[must_use]
pub fn compare(family: &[Vec<Block>], rules: &Rules) -> Vec<Comparison> {
    let ratios: Vec<Vec<f64>> = family.iter().map(|blocks| log_ratios(blocks)).collect();
    let ranks: Vec<Option<SignedRank>> = ratios.iter().map(|ratios| SignedRank::of(ratios)).collect();
    let margin = rules.margin.ln_1p();
    // what has no block claims nothing, but is part of the family
    let each = |p: &dyn Fn(&SignedRank) -> f64| -> Vec<f64> {
        ranks.iter().map(|ranks| ranks.as_ref().map_or(1.0, p)).collect()
    };
    let p = each(&|ranks| ranks.p_differs(0.0));
    let p_beyond = each(&|ranks| (2.0 * ranks.p_less(margin).max(ranks.p_greater(-margin))).min(1.0));
    let (p_holm, p_exploratory, p_beyond_margin) = (holm(&p), benjamini_hochberg(&p), holm(&p_beyond));
    let comparison = |i: usize| {
        let change = ranks[i].as_ref().map(|ranks| {
            let (interval, simultaneous, cross_check) = intervals(&ratios[i], ranks, family.len(), rules);
            Change {
                estimate: ranks.estimate().exp_m1(),
                interval,
                simultaneous,
                cross_check,
                p: p[i],
                p_holm: p_holm[i],
                p_exploratory: p_exploratory[i],
                p_beyond_margin: p_beyond_margin[i],
            }
        });
        let runs = |of: fn(&Block) -> Option<Run>| family[i].iter().filter_map(of);
        let unsteady =
            |block: &&Block| [block.treatment, block.baseline].iter().flatten().any(|run| !run.steady);
        let modes = |of: fn(&Block) -> Option<Run>| {
            let figures = runs(of).map(|run| run.figure).filter(|figure| *figure > 0.0 && figure.is_finite());
            rules.modes.then(|| modality(&figures.collect::<Vec<_>>()))
        };
        Comparison {
            blocks: ratios[i].len(),
            incomplete: family[i].len() - ratios[i].len(),
            unsteady: family[i].iter().filter(unsteady).count(),
            conclusion: conclude(change.as_ref(), &ratios[i], family.len(), rules),
            change,
            treatment_modes: modes(|block| block.treatment),
            baseline_modes: modes(|block| block.baseline),
        }
    };
    (0..family.len()).map(comparison).collect()
}

type Intervals = (Option<Interval>, Option<Interval>, Option<Interval>);

/// Alone, simultaneous, and by bootstrap; of ratios.
fn intervals(ratios: &[f64], ranks: &SignedRank, comparisons: usize, rules: &Rules) -> Intervals {
    let relative = |interval: Option<Interval>| interval.map(|interval| interval.map(f64::exp_m1));
    let middle = |values: &[f64]| hodges_lehmann(values).unwrap_or(0.0);
    (
        relative(ranks.interval(rules.level)),
        relative(ranks.interval(simultaneous_level(rules.level, comparisons))),
        relative(bca(ratios, middle, rules.level, rules.resamples, rules.seed)),
    )
}

fn conclude(change: Option<&Change>, ratios: &[f64], comparisons: usize, rules: &Rules) -> Conclusion {
    let least = least_blocks(simultaneous_level(rules.level, comparisons));
    let Some(change) = change else { return Conclusion::TooFewBlocks { needs: least } };
    let rejects = |p: f64| p <= 1.0 - rules.level + 1e-12;
    let within_margin = rejects(change.p_beyond_margin);
    if rejects(change.p_holm) {
        let direction = if change.estimate > 0.0 { Direction::Higher } else { Direction::Lower };
        return Conclusion::Differs { direction, within_margin };
    }
    if within_margin {
        return Conclusion::Equivalent;
    }
    if ratios.len() < least {
        return Conclusion::TooFewBlocks { needs: least };
    }
    let asked = Asked { level: rules.level, power: rules.power, comparisons };
    let seen = sample_sd(ratios).and_then(|sd| smallest_effect(ratios.len(), sd, &asked));
    Conclusion::Inconclusive { could_have_seen: seen.filter(|effect| *effect > 0.0) }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
