//! Plan of a run, for the simulations of all workloads.

use experiment::{Design, Factors, RunTopology};

/// Plan of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunSetup<'a> {
    pub topology: &'a RunTopology,
    pub factors: &'a Factors,
    /// Design with the seed of the run.
    pub design: &'a Design,
    /// Time limit of the drain.
    pub drain_ns: u64,
    /// Minimum time without an echo after which a ping is lost.
    pub ping_ns: u64,
}
