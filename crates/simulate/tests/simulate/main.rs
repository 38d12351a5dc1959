//! Virtual runs against the truth of their configuration.

mod between;
mod duet;
mod paced;
mod rig;
mod search;
mod separated;
mod share;
mod steady;
mod truth;
