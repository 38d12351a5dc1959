//! Whole runs of the simulated middleware in virtual time: nothing sleeps.
//!
//! A [`Lab`] measures a cell as runner and agents do, with the clock in its own hands: a warm-up, then pings one after the
//! other, or writes as fast as back-pressure allows, or at planned times. What comes out is a [`results::Run`] with its histograms, as
//! [`results::Assembler`] takes it. What must come out is known from [`sim_model::Truth`]; so the statistics of a result,
//! and whatever reads results, can be tested on thousands of experiments.
//!
//! Batches leave by the agents' own rule ([`results::Packing`]), turbo too. What virtual time has not is refused: samples received in
//! groups, and a throttled rate, which follows probes.
//!
//! What the middleware does is its options; what the host does beside it, and from run to run, is a [`Machine`].
#![forbid(unsafe_code)]

mod capabilities;
mod describe;
mod lab;
mod latency;
mod machine;
mod maxima;
mod paced;
mod record;
mod throughput;
mod usage;
mod way;

use results::{Counted, Histograms, Run, Throughput};

pub use describe::describe;
pub use lab::Lab;
pub use machine::{Between, HostChange, Machine};
pub use record::Series;

/// What the simulated host spends between two pings, and on a write where nothing else is said, in ns. It bounds how many
/// samples a run has.
pub const HOST_NS: u64 = 1_000;

/// What was measured in one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run.
    pub run: Run,
    /// Its histograms by kind.
    pub histograms: Histograms,
}

/// What a run says, without its record: for thousands of experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Median round trip, exact; none where too few pings came back to support it.
    pub rtt_p50_ns: Option<u64>,
    /// Its 99 % quantile.
    pub rtt_p99_ns: Option<u64>,
    /// Median response of an open loop, from the intended time, exact.
    pub response_p50_ns: Option<u64>,
    /// Its 99 % quantile.
    pub response_p99_ns: Option<u64>,
    /// Samples whose intended time lay within the measured time of an open loop.
    pub planned: Option<u64>,
    /// Of these: not tried before the end of the measured time.
    pub unsent: Option<u64>,
    /// Of a run of throughput or of an open loop.
    pub throughput: Option<Throughput>,
    /// What was sent and what came.
    pub counted: Counted,
}
