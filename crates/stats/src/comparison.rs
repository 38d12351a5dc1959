//! Two cells held against each other, and what may be said of it.
//!
//! For each block, the logarithm of the treatment's figure over the baseline's. Estimate, interval and tests are
//! [`SignedRank`](crate::SignedRank)'s. Runs that share no blocks are compared one by one, by
//! [`RankSum`]. All claims of one family are judged together: pass everything that is read together to one
//! call of [`compare`] or [`compare_sides`].
//!
//! - *Higher* or *lower*: the adjusted p-value is at most `1 - level`.
//! - *Equivalent*: two one-sided tests reject "the ratio is beyond the margin", above and below. For a single comparison that is
//!   so exactly if the printed interval lies within the margin.
//! - Both kinds of claims share the level: [`differs_and_equivalent`].
//! - Both can hold: an effect that is real and too small to matter. Both are said.
//! - Neither: *inconclusive*, with the effect that could have been seen.
//!
//! The baseline is one run a block. The mean of two would be less noisy, but then a treatment that does nothing is not as
//! likely above as below it when figures are skewed or in groups, and the test is no longer exact.
//!
//! Sources: those of [`SignedRank`](crate::SignedRank); D. J. Schuirmann, *A Comparison of the Two One-Sided Tests Procedure and the Power
//! Approach*, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.

use crate::{
    Asked, Interval, Modality, RankSum, Sides, benjamini_hochberg, differs_and_equivalent, modality,
    power::{smallest_effect, smallest_effect_apart},
    referenced, sample_sd,
    sides::{Ranks, logs, pooled_sd},
    simultaneous_level,
};

/// What a run gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The figure that is compared. One that is 0, negative or not finite has no ratio: as if the run had failed.
    pub figure: f64,
    /// Whether it kept its level. True where that was not judged.
    pub steady: bool,
}

impl Run {
    /// The figure, if it has a ratio.
    pub(crate) fn usable(&self) -> Option<f64> {
        (self.figure > 0.0 && self.figure.is_finite()).then_some(self.figure)
    }
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
        let usable = |run: Option<Run>| run.and_then(|run| run.usable());
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

impl Rules {
    /// Rules by which claims are made by default.
    pub const DEFAULT: Self =
        Self { level: 0.95, margin: 0.02, power: 0.8, resamples: 2000, seed: 1, modes: true };
}

impl Default for Rules {
    fn default() -> Self {
        Self::DEFAULT
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
        /// Blocks with both figures, or runs on each side, from which on there may be one.
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
    /// The bootstrap's, for this comparison alone: a cross-check that no claim rests on. None without blocks.
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
    /// Blocks with both figures, or runs of the smaller side: what all rests on.
    pub blocks: usize,
    /// Blocks that miss one or both, or runs without one. They take no part; if runs fail *because* of a setting, that is a bias.
    pub incomplete: usize,
    /// Blocks, or runs, that had no steady state. They take part.
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
    let family: Vec<Sides> = family.iter().cloned().map(Sides::Blocks).collect();
    compare_sides(&family, rules)
}

/// Judges all comparisons of a family together, however each was measured.
#[must_use]
pub fn compare_sides(family: &[Sides], rules: &Rules) -> Vec<Comparison> {
    let ranks: Vec<Option<Ranks>> = family.iter().map(Sides::ranks).collect();
    let margin = rules.margin.ln_1p();
    // what has no pair claims nothing, but is part of the family
    let each = |p: &dyn Fn(&Ranks) -> f64| -> Vec<f64> {
        ranks.iter().map(|ranks| ranks.as_ref().map_or(1.0, p)).collect()
    };
    let p = each(&|ranks| ranks.p_differs(0.0));
    let p_beyond = each(&|ranks| (2.0 * ranks.p_less(margin).max(ranks.p_greater(-margin))).min(1.0));
    let p_exploratory = benjamini_hochberg(&p);
    let (p_holm, p_beyond_margin) = differs_and_equivalent(&p, &p_beyond);
    let comparison = |i: usize| {
        let sides = &family[i];
        let relative = |interval: Option<Interval>| interval.map(|interval| interval.map(f64::exp_m1));
        let change = ranks[i].as_ref().map(|ranks| Change {
            estimate: ranks.estimate().exp_m1(),
            interval: relative(ranks.interval(rules.level)),
            simultaneous: relative(ranks.interval(simultaneous_level(rules.level, family.len()))),
            cross_check: relative(sides.bootstrap(rules.level, rules.resamples, rules.seed)),
            p: p[i],
            p_holm: p_holm[i],
            p_exploratory: p_exploratory[i],
            p_beyond_margin: p_beyond_margin[i],
        });
        let modes = |runs: &[Run]| {
            let figures: Vec<f64> = runs.iter().filter_map(Run::usable).collect();
            rules.modes.then(|| modality(&figures))
        };
        let (blocks, incomplete) = sides.complete();
        Comparison {
            blocks,
            incomplete,
            unsteady: sides.unsteady(),
            conclusion: conclude(change.as_ref(), sides, family.len(), rules),
            change,
            treatment_modes: modes(&sides.treatment()),
            baseline_modes: modes(&sides.baseline()),
        }
    };
    (0..family.len()).map(comparison).collect()
}

fn conclude(change: Option<&Change>, sides: &Sides, comparisons: usize, rules: &Rules) -> Conclusion {
    let level = simultaneous_level(rules.level, comparisons);
    let needs = sides.least(level);
    let Some(change) = change else { return Conclusion::TooFewBlocks { needs } };
    let rejects = |p: f64| p <= 1.0 - rules.level + 1e-12;
    let within_margin = rejects(change.p_beyond_margin);
    if rejects(change.p_holm) {
        let direction = if change.estimate > 0.0 { Direction::Higher } else { Direction::Lower };
        return Conclusion::Differs { direction, within_margin };
    }
    if within_margin {
        return Conclusion::Equivalent;
    }
    let asked = Asked { level: rules.level, power: rules.power, comparisons };
    // None where no figures could have made a claim, however great the difference
    let seen = match sides {
        Sides::Blocks(blocks) => {
            let ratios = log_ratios(blocks);
            if ratios.len() < needs {
                return Conclusion::TooFewBlocks { needs };
            }
            sample_sd(&ratios).and_then(|sd| smallest_effect(ratios.len(), sd, &asked))
        }
        Sides::Apart { treatment, baseline } => {
            let (treatment, baseline) = (logs(treatment), logs(baseline));
            if RankSum::of(&treatment, &baseline).is_none_or(|ranks| ranks.interval(level).is_none()) {
                return Conclusion::TooFewBlocks { needs };
            }
            pooled_sd(&treatment, &baseline)
                .and_then(|sd| smallest_effect_apart((treatment.len(), baseline.len()), sd, &asked))
        }
        Sides::Referenced { treatment, baseline } => {
            if sides.change(level).is_none() {
                return Conclusion::TooFewBlocks { needs };
            }
            referenced::smallest_effect(treatment, baseline, &asked)
        }
    };
    Conclusion::Inconclusive { could_have_seen: seen.filter(|effect| *effect > 0.0) }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
