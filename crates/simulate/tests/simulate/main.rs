//! Virtual runs against the truth of their configuration.

mod between;
mod duet;
mod rig;
mod steady;
mod truth;
