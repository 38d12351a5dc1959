//! Workload `paced` in a result: the schedule, how the sender kept it, and values over the runs of a cell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::schema::{
    counted::DeliveryCounts,
    latency::CellLatency,
    throttle::ThrottleStats,
    timeliness::{CellTimeliness, SystemOutcome},
};

/// Paced run: its schedule, and how the sender kept it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paced {
    /// Number of planned samples: those whose intended send time lies within the measurement.
    pub planned: u64,
    /// Planned samples per second of the measurement. Null without intended send times.
    pub planned_sps: Option<f64>,
    /// Number of planned samples that were not tried before the measurement ended.
    pub unsent: u64,
    /// Whether the sender, not the middleware, determines the response times. Its 99 % send lag exceeds a tenth of
    /// the period or of the median response time, and back-pressure is not the cause.
    pub sender_limited: bool,
    /// Whether back-pressure made the writer late. The send lag exceeds the same limit, most of it is due to write
    /// calls, and the writing thread had time left.
    pub back_pressure: bool,
    /// Record of the throttle. Absent for loads without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<ThrottleStats>,
    /// Time that the sender spins at the end of each wait, in ns; 0: it only sleeps.
    pub spin_ns: u64,
}

/// Values over the valid runs of a paced cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacedCell {
    /// Number of planned samples: sum over the runs.
    pub planned: u64,
    /// Planned samples per second: median over the runs. Null without intended send times.
    pub planned_sps: Option<f64>,
    /// Number of planned samples that were not tried before the measurement ended: sum over the runs.
    pub unsent: u64,
    /// Number of runs in which the sender determines the response times.
    pub sender_limited_runs: u32,
    /// Number of runs in which back-pressure made the writer late.
    pub back_pressure_runs: u32,
    /// Flows, in the order of the plan.
    pub flows: Vec<CellFlow>,
    /// In how many runs all flows met their deadlines. Absent without deadlines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemOutcome>,
}

/// Flow of a paced cell, over its valid runs. Counts are sums over the runs.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellFlow {
    /// Name of the flow.
    pub name: String,
    /// Endpoint that wrote it, by id.
    #[serde(default)]
    pub writer: String,
    /// Endpoint that received it, by id.
    #[serde(default)]
    pub reader: String,
    /// Payload of a sample, in bytes.
    pub size_bytes: u64,
    /// Description of the load.
    pub load: String,
    /// Number of planned samples: those whose intended send time lies within the measurement.
    pub planned: u64,
    /// Number of distinct samples that the writer tried to write.
    pub offered: u64,
    /// Sample counts of the reader.
    pub counted: DeliveryCounts,
    /// Number of delivered samples that count for the delivered rate, as `delivered_in_time` of a run's throughput.
    pub delivered_in_time: u64,
    /// Latencies by kind: `service`, `response`, `send_lag`, `write_call`; `age` with a deadline.
    pub latency: BTreeMap<String, CellLatency>,
    /// Samples that missed the deadline of the flow. Absent without a deadline.
    pub timeliness: Option<CellTimeliness>,
    /// Number of samples that have a `service` time, but arrived too late for a `response` time.
    pub unplaced: u64,
    /// Number of delivered samples that arrived later than a mean period (for bursts, the time between two of them) after their
    /// intended send time, within the accuracy of the histogram. Absent without intended send times.
    pub late: Option<u64>,
    /// Share of the send lags of all samples that is due to write calls, in percent. Absent if no sample was late,
    /// and without intended send times.
    pub lag_in_writes_pct: Option<f64>,
}

/// Returns the kind of a histogram of one of several flows: `KIND@FLOW`.
#[must_use]
pub fn kind_of_flow(kind: &str, flow: &str) -> String {
    format!("{kind}@{flow}")
}
