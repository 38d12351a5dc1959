//! Tests of results of a small deterministic sample experiment.
mod assemble;
mod claims;
mod directory;
mod frozen;
mod histogram;
#[path = "../sample/mod.rs"]
mod sample;
mod schema;
mod search;
mod smallest_difference;
mod steady;
