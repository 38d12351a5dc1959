//! Tests of the runner with scripted agents.

mod describe;
mod duet;
mod failures;
mod figures;
mod max_rates;
mod paced;
mod rehearse;
mod resume;
mod rig;
