//! Work that several commands share: drivers, plans, measurements, comparisons and stored outcomes.

mod bundles;
pub mod capacity;
pub mod comparison;
pub mod drivers;
pub mod files;
pub mod found_results;
pub mod host_entries;
pub mod hosts;
#[cfg(feature = "png")]
mod hypot;
pub mod in_parallel;
mod labs;
pub mod local;
pub mod measurement;
pub mod pages;
mod painter;
pub mod perftest;
pub mod preparation;
pub mod recipes;
pub mod results;
pub mod selftests;
