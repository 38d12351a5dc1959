//! Statistics: estimates, intervals and claims. Pure functions: no files, no clock; random numbers only from a seed
//! that the caller passes.
//!
//! Comparison of two cells:
//! - [`compare`]: compares a family, each member a list of [`Block`]s, and returns [`Comparison`]s with estimate,
//!   interval and [`Conclusion`]. Start here to turn results into verdicts.
//! - [`judge`]: a criterion: failed, passed or inconclusive.
//! - [`ComparisonData`]: the same for cells that share no blocks, by [`compare_sides`].
//! - [`Ranks`]: the underlying tests, of blocks or of two groups of runs.
//!   [`holm`], [`benjamini_hochberg`], [`simultaneous_level`]: multiple comparisons.
//! - [`modality`]: whether runs are multimodal. [`separate`]: which recorded fields separate the modes.
//!
//! Histories:
//! - [`LevelTest`]: where the level of a history over results changes, with one error rate for all histories.
//!
//! Sample size:
//! - [`plan_blocks`]: from a pilot and a [`PrecisionTarget`] to a number of blocks. Start here to plan runs.
//! - [`smallest_effect`]: the effect that a number of blocks can detect.
//!
//! Rates:
//! - [`search`]: the next rate to try, and the bounds of the highest sustained rate after the trials so far.
//!
//! Two factors:
//! - [`additive_effects`]: the effect of a setting over several levels of another factor, and whether it differs between them.
//!
//! Single cells and runs:
//! - [`supports_quantile`]: whether a number of samples supports a quantile.
//! - [`Spread`]: the spread of the runs of a cell.
//! - [`correlation()`]: how well two series agree in order and size.
//! - [`slope()`]: how much one metric grows with another, robust against outliers.
//! - [`law()`]: a line, a power law or a bend over a numeric axis, with its interval.
//! - [`total`]: a saturating sum of counts from untrusted files.
//! - [`Moments`]: mean and standard deviation of parts, pooled without their samples.
//! - [`format_value`]: a value as text, with three significant digits.
//! - [`steady_state`]: whether a run reached a steady state, and when, by [`changepoints`].
#![forbid(unsafe_code)]

mod additive;
mod block;
mod changepoint;
mod comparison;
mod comparison_data;
mod correlation;
mod format;
mod gate;
#[cfg(test)]
mod golden;
mod law;
mod level_changes;
mod modes;
mod moments;
mod multiple;
mod normal;
mod null_distribution;
mod power;
mod precision;
mod quantile;
mod rank_sum;
mod ranks;
mod referenced;
pub mod search;
mod separation;
mod signed_rank;
mod slope;
mod spread;
mod steady;

pub use additive::{AdditiveEffect, additive_effects};
pub use block::{Block, Run, log_ratios};
pub use changepoint::changepoints;
pub use comparison::{Change, Comparison, Conclusion, Direction, Rules, compare, compare_sides};
pub use comparison_data::ComparisonData;
pub use correlation::correlation;
pub use format::format_value;
pub use gate::{GateBound, GateOutcome, judge};
pub use law::{Estimate, LEAST_LEVELS, Law, law};
pub use level_changes::{LEAST_STRETCH, LevelChange, LevelTest, MOST_TESTED, ReferencedValue};
pub use modes::{LEAST_RUNS, Modality, Mode, modality};
pub use moments::{Moments, total};
pub use multiple::{benjamini_hochberg, differs_and_equivalent, holm, simultaneous_level};
pub use power::{PowerSpec, smallest_effect, smallest_effect_apart};
pub use precision::{BlockPlan, PILOT_BLOCKS, PrecisionTarget, plan_blocks, sample_sd};
pub use quantile::{CONFIDENCE, median_interval, min_n_for, supports_quantile};
pub use rank_sum::least_runs;
pub use ranks::{Interval, Ranks};
pub use referenced::{ELASTICITIES, ReferencedRun, smallest_effect_referenced};
pub use separation::{Field, Separation, Tested, separate};
pub use signed_rank::least_blocks;
pub use slope::{slope, slope_interval};
pub use spread::{Spread, median};
pub use steady::{
    Better, MIN_WINDOWS, SAME_LEVEL, Segment, Steadiness, SteadyState, shortest_segment, steady_state,
};
