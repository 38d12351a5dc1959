//! One run: its identification, its phases, and the record that the collector makes of it.

mod discovery;
pub(crate) mod endpoint_progress;
pub(crate) mod executor;
mod late_join;
pub(crate) mod planned_files;
pub(crate) mod run_clocks;
pub(crate) mod run_ids;
pub(crate) mod run_phases;
mod schedule_start;
mod traffic;
