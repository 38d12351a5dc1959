//! The agent: a process that runs one role of one run.
//!
//! [`session`] executes the runner's orders. The roles generate and receive the traffic: [`writer`] and [`reader`]
//! (throughput), [`pinger`] and [`ponger`] (latency), [`paced_writer`] and [`paced_reader`] (open loop, timed by
//! [`pace`]).
//!
//! The hot path of a role stamps ([`header`], [`clock`]), fills ([`payload`]), calls the driver, takes ([`taker`]),
//! checks ([`incoming`]) and records (`results::Windows`, `results::SequenceSet`, `control::Stamps`). It does not
//! allocate, lock or log; `benches/hot_path.rs` measures its cost.
//!
//! Instead of a run, an agent can run the conformance cases of its driver (crate `conformance`).

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

/// Terminates the process at once with status 1, whatever its driver is doing: the runner is gone.
pub fn end_at_once() {
    // SAFETY: `_exit` terminates the process at once and runs no further code of it.
    unsafe { libc::_exit(1) }
}
