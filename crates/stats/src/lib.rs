//! Numbers to estimates, intervals and claims. Pure: no file, no clock; random numbers only by a seed that is passed.
//!
//! What two cells differ in:
//! - [`compare`]: a family of comparisons, each a list of [`Block`]s, to [`Comparison`]s with estimate, interval and
//!   [`Conclusion`]. Where words are made of verdicts, begin here.
//! - [`judge`]: a stated criterion, broken, kept, or not to be told.
//! - [`Sides`]: the same for cells that share no blocks, by [`compare_sides`] and [`judge_sides`].
//! - [`SignedRank`] and, without blocks, [`RankSum`]: what all rest on. [`bca`]: the cross-check. [`holm`], [`benjamini_hochberg`],
//!   [`simultaneous_level`]: many at once.
//! - [`modality`]: whether runs fall into groups. [`separate`]: which recorded fields go with them.
//!
//! How much to measure:
//! - [`plan_blocks`]: from a pilot and a [`Goal`] to a number of blocks. Where runs are planned, begin here.
//! - [`smallest_effect`] and [`blocks_needed`]: what a number of blocks can see, and the inverse.
//! - [`Components`]: where variance arises, and how many windows a run is worth.
//!
//! Rates:
//! - [`search`]: which rate to try next, and what the trials made say of the highest one that is sustained.
//!
//! Single cells and runs:
//! - [`supports_quantile`], [`quantile_ranks`]: may a quantile be stated of so many samples, and between which of them
//!   does it lie?
//! - [`Spread`]: how far the runs of a cell lie apart.
//! - [`slope()`]: how much one figure grows with another, whatever a few outliers say.
//! - [`total`]: a sum of counts that anybody may have written.
//! - [`Moments`]: mean and standard deviation of parts, pooled without going back to the samples.
//! - [`steady_state`]: had a run reached its level, and from when on? By [`changepoints`].
//! - [`effective_n`]: how many independent samples a series with a memory is worth.
#![forbid(unsafe_code)]

mod batch_means;
mod bootstrap;
mod changepoint;
mod comparison;
mod components;
mod gate;
#[cfg(test)]
mod golden;
mod modes;
mod moments;
mod multiple;
mod normal;
mod power;
mod precision;
mod quantile;
mod rank_sum;
mod referenced;
pub mod search;
mod separation;
mod sides;
mod signed_rank;
mod slope;
mod spread;
mod steady;

pub use batch_means::{EffectiveN, effective_n};
pub use bootstrap::bca;
pub use changepoint::changepoints;
pub use comparison::{
    Block, Change, Comparison, Conclusion, Direction, Rules, Run, compare, compare_sides, log_ratios,
};
pub use components::{Allocation, Components};
pub use gate::{Forbidden, Outcome, judge, judge_sides};
pub use modes::{LEAST_RUNS, Modality, Mode, modality};
pub use moments::{Moments, total};
pub use multiple::{benjamini_hochberg, differs_and_equivalent, holm, simultaneous_level};
pub use power::{Asked, MOST_BLOCKS, blocks_needed, ratio_sd, smallest_effect, smallest_effect_apart};
pub use precision::{BlockPlan, Goal, PILOT_BLOCKS, plan_blocks, sample_sd};
pub use quantile::{CONFIDENCE, Ranks, min_n_for, quantile_ranks, supports_quantile};
pub use rank_sum::{RankSum, least_runs};
pub use referenced::{ELASTICITIES, ReferencedRun};
pub use separation::{Field, Separation, Tested, separate};
pub use sides::Sides;
pub use signed_rank::{Interval, SignedRank, hodges_lehmann, least_blocks};
pub use slope::{slope, slope_interval};
pub use spread::{Spread, median};
pub use steady::{
    Better, MIN_WINDOWS, SAME_LEVEL, Segment, SteadyState, Verdict, shortest_segment, steady_state,
};
