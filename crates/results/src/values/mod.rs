//! Values and warnings computed from the records of runs.

mod assemble;
pub(crate) mod cell_warnings;
mod claims;
mod duet;
mod figures;
mod foresight;
mod format;
mod lateness;
mod maximum;
mod noise;
mod paced;
mod packing;
mod reference;
pub(crate) mod rules;
mod search;
pub(crate) mod selftest;
pub(crate) mod steady;
mod trial;
mod writing_time;

pub use assemble::Assembler;
pub use claims::{
    Claim, comparison_claims, flows_of, least_blocks, level_claims, metrics_of, noise_floor_claims,
};
pub use format::{format_micros, format_signed, format_spread, format_value};
pub use lateness::{Lateness, Sender};
pub use maximum::with_rate;
pub use noise::over_half_noisy;
pub use packing::Packing;
pub use rules::{MAX_LATENCY_LOSS_PCT, WIDE_SPREAD};
pub use selftest::TOLD_BLOCKS;
pub use steady::{steady_latency, steady_rate};
pub use trial::{TRIAL_WINDOWS, TrialLog, TrialShown, stats_goal};
pub use writing_time::WritingTime;
