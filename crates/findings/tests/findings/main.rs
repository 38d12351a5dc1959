//! Each finding on an input whose truth is known: one on which it is printed, one on which its opposite is, and one on
//! which nothing is.
#[path = "../../../results/tests/sample/mod.rs"]
mod sample;

mod comparisons;
mod edges;
mod front;
mod knee;
mod load;
mod loss_free;
mod rig;
mod simulated;
mod sizes;
