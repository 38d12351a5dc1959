//! Virtual runs against the truth of their configuration.

mod between;
mod rig;
mod separated;
mod steady;
mod truth;
