//! The agent: a process that runs one role of one run.
//!
//! Four folders, each of which uses only those before it:
//!
//! ```text
//! base      errors, the interface of a role, clock and timer, resource usage
//! traffic   samples and flows: header, payload, schedule, batching, probes, taking, checking, counting
//! roles     throughput writer and reader, pinger and echo (latency), paced writer and reader
//! session   the runner's requests: opens the driver and the role, and leads the role through its phases
//! ```
//!
//! The hot path of a role stamps, fills, calls the driver, takes, checks and records ([`traffic`], `results::Windows`,
//! `results::SequenceSet`, `control::TimestampLog`). It does not allocate, lock or log; `benches/hot_path.rs` measures its
//! cost.
//!
//! Instead of a run, an agent can run the conformance cases of its driver (crate `conformance`).

pub mod base;
pub mod roles;
pub mod session;
pub mod traffic;

/// Terminates the process at once with status 1, whatever its driver is doing: the runner is gone.
pub fn end_at_once() {
    // SAFETY: `_exit` terminates the process at once and runs no further code of it.
    unsafe { libc::_exit(1) }
}
