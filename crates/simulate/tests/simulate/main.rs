//! Virtual runs against the truth of their configuration.

mod between;
mod duet;
mod paced;
mod rig;
mod search;
mod separated;
mod steady;
mod truth;
