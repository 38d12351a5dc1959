//! Values and warnings computed from the records of runs.

mod assemble;
mod batch_policy;
pub(crate) mod cell_warnings;
mod claims;
mod conclusion_words;
mod cpu_oversubscription;
mod curves;
mod detectable_effects;
mod duet;
mod endpoints;
mod format;
mod lateness;
mod link_ceiling;
mod link_load;
mod losses;
mod max_rate;
mod metrics;
mod noise;
mod paced;
mod published;
mod reference;
pub(crate) mod rules;
mod search;
pub(crate) mod selftest;
mod shortfall;
mod smallest_difference;
mod spread;
pub(crate) mod steady;
mod system_trial;
mod timeliness;
mod trial;
mod writing_time;

pub use assemble::Assembler;
pub use batch_policy::BatchPolicy;
pub use cell_warnings::{full_buffers, late_loss};
pub use claims::{
    Claim, comparison_claims, flows_of, least_blocks, level_claims, metrics_of, noise_floor_claims,
};
pub use conclusion_words::ConclusionWords;
pub use cpu_oversubscription::{CpuOversubscription, Polling};
pub use format::{format_effects, format_micros, format_signed, format_spread, shown_effect};
pub use lateness::{Lateness, Sender};
pub use link_load::LinkLoad;
pub use losses::losses_by_reader;
pub use max_rate::with_rate;
pub use metrics::LackingQuantile;
pub use noise::over_half_noisy;
pub use rules::{MAX_LATENCY_LOSS_PCT, WIDE_SPREAD};
pub use selftest::SHOWN_BLOCKS;
pub use shortfall::Shortfall;
pub use smallest_difference::{SmallestDifference, least_runs_for_claims, smallest_differences};
pub use stats::format_value;
pub use steady::{steady_latency, steady_rate};
pub use system_trial::{SystemTrial, scale_at, system_loads};
pub use trial::{TRIAL_WINDOWS, TrialLog, TrialResult, stats_goal};
pub use writing_time::WritingTime;
