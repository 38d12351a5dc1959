//! Each finding on inputs with a known truth: one that yields it, one that yields its opposite, and one that yields
//! none.
#[path = "../../../results/tests/sample/mod.rs"]
mod sample;

mod comparisons;
mod edges;
mod front;
mod knee;
mod load;
mod loss_free;
mod rig;
mod rings;
mod scaling;
mod sharing;
mod simulated;
mod sizes;
