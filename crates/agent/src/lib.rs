//! One role of one run.
//!
//! [`session`] answers the runner's orders; the roles do the traffic: [`writer`] and [`reader`], [`pinger`] and [`ponger`],
//! and by a plan [`paced_writer`], which waits with [`pace`], and [`paced_reader`]. The hot path is theirs: stamp ([`header`], [`clock`]), fill ([`payload`]), the driver's own calls, take ([`taker`]), check
//! ([`incoming`]) and record (`results::Windows`, `results::SequenceSet`, `control::Stamps`). It allocates nothing, locks nothing and
//! logs nothing; `benches/hot_path.rs` measures what it costs.
//!
//! Instead of a run an agent may be asked to try its driver against the contract: the cases are of `conformance`.

pub mod asking;
pub mod clock;
pub mod header;
pub mod incoming;
pub mod meters;
pub mod pace;
pub mod paced_reader;
pub mod paced_writer;
pub mod packing;
pub mod payload;
pub mod pinger;
pub mod plans;
pub mod ponger;
pub mod probes;
pub mod reader;
pub mod session;
pub mod taker;
pub mod throttle;
pub mod writer;

mod calls;
mod casting;
mod check;
mod counters;
mod endpoints;
mod error;

/// Ends this process, whatever its driver is doing: whoever gives it orders is gone.
pub fn end_at_once() {
    // SAFETY: runs no code of this process any more; nobody is left to report to.
    unsafe { libc::_exit(1) }
}
