//! Commands, one file each.

pub mod built_in;
pub mod compare;
pub mod drivers;
pub mod generate;
pub mod hosts;
pub mod import;
mod install;
mod interleave;
pub mod lab;
pub mod perftest;
pub mod recipes;
pub mod report_again;
mod report_index;
pub mod results;
mod resume;
pub mod run;
pub mod selftest;
pub mod steward;
mod support;
