//! Simulation of complete runs in virtual time, without sleeping.
//!
//! A [`Simulator`] executes a cell as runner and agents do, with a simulated clock: a warm-up, then pings one after the
//! other, or several samples at a time around a ring, or writes as fast as back-pressure allows, or writes at planned
//! times, and a drain; or participants find each other. The endpoints of a run and their links follow from its
//! [`experiment::RunTopology`]. It returns the [`collector::RunReports`] that agents would send. The crate `collector`
//! evaluates them as it does for the runner, so each of its checks can be tested on thousands of runs, as can
//! everything that reads results.
//! [`sim_model::GroundTruth`] gives the exact expected values.
//!
//! Batches are flushed by the rule of the agents ([`results::BatchPolicy`]), also with turbo. Unsupported factors are
//! rejected, such as receive groups, echo probes, and throttled rates, which depend on probes.
//!
//! The options of a cell configure the middleware; a [`HostModel`] configures the host and its variation between runs.
#![forbid(unsafe_code)]

mod arrival;
mod capabilities;
mod describe;
mod discovery;
pub mod drain;
mod experiments;
mod host_model;
mod late_join;
mod late_reader;
mod latency;
mod link;
mod max_rates;
mod pipelined;
mod reader;
mod reports;
mod round_trips;
mod series;
mod setup;
mod simulator;
mod stream;
mod streaming;

use results::{DeliveryCounts, Histograms, Run, Throughput};

pub use describe::describe;
pub use host_model::{HostChange, HostModel, RunVariation};
pub use series::Series;
pub use simulator::Simulator;

/// Time of the simulated host between two pings, and default time of a write, in ns. It limits the number of samples
/// of a run.
pub const HOST_NS: u64 = 1_000;

/// Record of one run.
#[derive(Clone, Debug)]
pub struct SimulatedRun {
    /// Run.
    pub run: Run,
    /// Histograms by kind.
    pub histograms: Histograms,
}

/// Metrics of a run without its record, for thousands of experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedMetrics {
    /// Exact median RTT in ns; `None` with too few pings.
    pub rtt_p50_ns: Option<u64>,
    /// 99 % quantile of the RTT in ns.
    pub rtt_p99_ns: Option<u64>,
    /// Exact median response time of a paced run in ns, from the intended send time.
    pub response_p50_ns: Option<u64>,
    /// 99 % quantile of the response time in ns.
    pub response_p99_ns: Option<u64>,
    /// Number of samples of a paced run whose intended send time is in the measurement.
    pub planned: Option<u64>,
    /// Number of planned samples that were not offered before the end of the measurement.
    pub unsent: Option<u64>,
    /// Rates of a throughput run or a paced run.
    pub throughput: Option<Throughput>,
    /// Delivery counts.
    pub counted: DeliveryCounts,
}
