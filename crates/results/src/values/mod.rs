//! Values and warnings computed from the records of runs.

mod assemble;
mod batch_policy;
pub(crate) mod cell_warnings;
mod claims;
mod conclusion_words;
mod cpu_oversubscription;
mod curves;
mod detectable_effects;
mod differing_runs;
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

pub use stats::format_value;

pub use self::{
    assemble::*, batch_policy::*, cell_warnings::*, claims::*, conclusion_words::*, cpu_oversubscription::*,
    format::*, lateness::*, link_load::*, losses::*, max_rate::*, metrics::*, noise::*, rules::*,
    selftest::*, shortfall::*, smallest_difference::*, steady::*, system_trial::*, timeliness::*, trial::*,
    writing_time::*,
};
