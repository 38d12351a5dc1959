//! Tests of the runner with scripted agents.

mod describe;
mod duet;
mod elsewhere;
mod evaluation;
mod failures;
mod max_rates;
mod paced;
mod preflight;
mod requests;
mod resume;
mod rig;
