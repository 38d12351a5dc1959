//! The runner with agents that do as they are told: well, badly, or not at all.

mod bad_days;
mod describe;
mod duet;
mod figures;
mod maxima;
mod paced;
mod rehearse;
mod resume;
mod rig;
