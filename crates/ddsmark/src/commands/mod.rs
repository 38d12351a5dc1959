//! Commands, one file each.

pub mod characterize;
pub mod compare;
pub mod drivers;
pub mod generate;
mod install;
mod interleave;
pub mod recipes;
pub mod report_again;
mod resume;
pub mod run;
pub mod selftest;
