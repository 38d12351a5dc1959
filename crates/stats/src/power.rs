//! What a number of blocks can see: before anything is measured, and when nothing was found.
//!
//! The power of the signed-rank test for normal values is taken for that of a t test at the level which the ranks of `n`
//! blocks really give, with `3/π` of the blocks: the test's asymptotic efficiency. Where it promises 80 %, simulation finds
//! 78 to 84 %; where it promises 90 %, 90 to 93 % (`make bench`; normal values, 1 and 40 comparisons, 7 to 49 blocks).
//! Values with wider tails than normal ones are told apart better than it says, since ranks lose less to them.
//!
//! Sources: E. L. Lehmann, *Nonparametrics: Statistical Methods Based on Ranks*, 1975, section 4.3 (efficiency); J. Cohen,
//! *Statistical Power Analysis for the Behavioral Sciences*, 2nd edition, 1988, chapter 2 (noncentral t).

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::{normal, rank_sum, signed_rank::Null, simultaneous_level};

/// Of the signed-rank test to the t test, for normal values.
pub(crate) const EFFICIENCY: f64 = 3.0 / std::f64::consts::PI;
/// More blocks than this are never planned.
pub const MOST_BLOCKS: usize = 500;

/// What is asked of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The level of confidence of a claim: 0.95.
    pub level: f64,
    /// With which probability a true effect shall be found: 0.8.
    pub power: f64,
    /// How many comparisons share the level. Planned is for the first step of Holm, the strictest.
    pub comparisons: usize,
}

/// The standard deviation of log ratios within a block, from the relative standard deviation of a figure between runs of
/// one cell. Both runs of a pair vary, independently.
#[must_use]
pub fn ratio_sd(between_run_cv: f64) -> f64 {
    // a log-normal figure with this CV has this standard deviation of its logarithm
    (2.0 * between_run_cv.powi(2).ln_1p()).sqrt()
}

/// The smallest relative effect, 0.06 for 6 %, that as many blocks find with the power asked for, where log ratios have
/// this standard deviation. None where the blocks are too few for any: see [`least_blocks`](crate::least_blocks).
#[must_use]
pub fn smallest_effect(blocks: usize, ratio_sd: f64, asked: &Asked) -> Option<f64> {
    Some(Test::of(blocks, asked)?.smallest_effect(ratio_sd, asked.power))
}

/// The same for runs that share no blocks: so many on each side, with this standard deviation of the logarithm of a figure
/// between the runs of one side. None where they are too few for any effect.
#[must_use]
pub fn smallest_effect_apart(runs: (usize, usize), run_sd: f64, asked: &Asked) -> Option<f64> {
    Some(Test::apart(runs, asked)?.smallest_effect(run_sd, asked.power))
}

/// The least number of blocks that finds a relative effect of this size with the power asked for. None where
/// [`MOST_BLOCKS`] do not.
///
/// # Panics
/// If `effect` is not above 0.
#[must_use]
pub fn blocks_needed(effect: f64, ratio_sd: f64, asked: &Asked) -> Option<usize> {
    assert!(effect > 0.0, "no number of blocks finds an effect of {effect}");
    // ranks are whole numbers: with one block more, the level may fall and power with it. So one by one
    (2..=MOST_BLOCKS).find(|blocks| {
        Test::of(*blocks, asked).is_some_and(|test| test.power(effect.ln_1p() / ratio_sd) >= asked.power)
    })
}

/// A two-sided test of a shift.
struct Test {
    /// The variance of one value over that of the estimate, for a t test.
    n: f64,
    freedom: f64,
    /// Where the t test of its level rejects.
    t: f64,
}

impl Test {
    /// With so many blocks.
    fn of(blocks: usize, asked: &Asked) -> Option<Self> {
        // above some number the steps between the probabilities that ranks give are too small to matter
        let exact = |tail| match blocks {
            ..=60 => {
                let null = Null::of(blocks);
                null.critical(tail).map(|c| null.at_most(c))
            }
            _ => Some(tail),
        };
        if blocks < 2 {
            return None;
        }
        Some(Self::at(blocks as f64, blocks - 1, exact(tail(asked))?))
    }

    /// With so many runs on each side.
    fn apart((treated, based): (usize, usize), asked: &Asked) -> Option<Self> {
        let exact = |tail| match treated.max(based) {
            ..=60 => {
                let null = rank_sum::Null::of(treated, based);
                null.critical(tail).map(|c| null.at_most(c))
            }
            _ => Some(tail),
        };
        if treated == 0 || based == 0 {
            return None;
        }
        let n = (treated * based) as f64 / (treated + based) as f64;
        Some(Self::at(n, treated + based - 2, exact(tail(asked))?))
    }

    fn at(n: f64, freedom: usize, tail: f64) -> Self {
        Self { n, freedom: freedom as f64, t: t_quantile(1.0 - tail, freedom) }
    }

    fn smallest_effect(&self, sd: f64, power: f64) -> f64 {
        // in standard deviations: found by halving, as power grows with it; to 1e-9
        let (mut too_small, mut enough) = (0.0, 1.0);
        while self.power(enough) < power {
            enough *= 2.0;
        }
        for _ in 0..30 {
            let middle = f64::midpoint(too_small, enough);
            if self.power(middle) < power { too_small = middle } else { enough = middle }
        }
        (enough * sd).exp_m1()
    }

    /// The probability to reject when the effect is this many standard deviations.
    fn power(&self, effect: f64) -> f64 {
        if effect.is_infinite() {
            return 1.0;
        }
        let shift = effect * (self.n * EFFICIENCY).sqrt();
        let freedom = self.freedom;
        // to be found on the wrong side is possible only for what is hardly there
        let wrong_side = if shift < 4.0 { t_above(self.t, freedom, -shift) } else { 0.0 };
        t_above(self.t, freedom, shift) + wrong_side
    }
}

/// What may lie in each tail.
fn tail(asked: &Asked) -> f64 {
    (1.0 - simultaneous_level(asked.level, asked.comparisons)) / 2.0
}

/// The value that Student's t with these degrees of freedom stays below with probability `p`.
pub(crate) fn t_quantile(p: f64, freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, freedom as f64).expect("one degree of freedom or more").inverse_cdf(p)
}

/// `P(T > t)` for the noncentral t: over all values that the standard deviation in its denominator can have, by Simpson's
/// rule, of the normal probability given that value.
fn t_above(t: f64, freedom: f64, shift: f64) -> f64 {
    const STEPS: usize = 100;
    let reach = 8.0 / (2.0 * freedom).sqrt();
    let (from, to) = ((1.0 - reach).max(1e-12), 1.0 + reach);
    let (mut above, mut all) = (0.0, 0.0);
    for step in 0..=STEPS {
        let sd = from + (to - from) * step as f64 / STEPS as f64;
        // of chi over its degrees of freedom, on the scale of its peak near 1
        let density = ((freedom - 1.0) * sd.ln() - freedom * (sd * sd - 1.0) / 2.0).exp();
        let weight = if step == 0 || step == STEPS { 1.0 } else { [2.0, 4.0][step % 2] };
        if density > 0.0 {
            all += weight * density;
            above += weight * density * normal::cdf(shift - t * sd);
        }
    }
    above / all
}

#[cfg(test)]
#[path = "power_tests.rs"]
mod tests;
