//! From an experiment file to a plan: cells, design, schedule of runs, and searches.

pub(crate) mod adaptation;
pub(crate) mod axes;
pub(crate) mod batches;
pub(crate) mod capabilities;
pub(crate) mod changes;
pub(crate) mod choices;
pub(crate) mod duet;
pub(crate) mod effort;
pub(crate) mod exclusion;
pub(crate) mod expansion;
pub(crate) mod experiment;
pub(crate) mod experiment_file;
pub(crate) mod hosts;
pub(crate) mod instances;
pub(crate) mod interleave;
pub(crate) mod limits;
pub(crate) mod loads;
pub(crate) mod matrix;
pub(crate) mod max_rates;
pub(crate) mod plan_inputs;
pub(crate) mod planner;
pub(crate) mod probes;
pub(crate) mod queue_checks;
pub(crate) mod schedule;
pub(crate) mod search;
pub(crate) mod search_section;
