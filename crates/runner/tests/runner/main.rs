//! Tests of the runner with scripted agents.

mod bad_days;
mod describe;
mod duet;
mod figures;
mod maxima;
mod paced;
mod rehearse;
mod resume;
mod rig;
