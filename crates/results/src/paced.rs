//! Workload `paced` in a result: the schedule, how the sender kept it, and values over the runs of a cell.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{median, total};

use crate::{Cell, CellLatency, Counted, Histograms, Latency, Run, Throttle, latency::cell_latency};

/// Paced run: its schedule, and how the sender kept it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub throttle: Option<Throttle>,
    /// Time that the sender spins at the end of each wait, in ns; 0: it only sleeps.
    pub spin_ns: u64,
    /// Flows, in the order of the plan.
    pub flows: Vec<FlowRecord>,
}

/// Flow of a paced run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowRecord {
    /// Name of the flow.
    pub name: String,
    /// Payload of a sample, in bytes.
    pub size_bytes: u64,
    /// Description of the load.
    pub load: String,
    /// Number of planned samples: those whose intended send time lies within the measurement.
    pub planned: u64,
    /// Number of distinct samples that the writer tried to write.
    pub offered: u64,
    /// Sample counts of the reader.
    pub counted: Counted,
    /// Number of delivered samples that count for the delivered rate, as `delivered_in_time` of a run's throughput.
    pub delivered_in_time: u64,
    /// Latencies by kind: `service`, `response`, `send_lag`, `write_call`.
    pub latency: BTreeMap<String, Latency>,
    /// Number of samples that have a `service` time, but arrived too late for a `response` time.
    pub unplaced: u64,
    /// Share of the send lags of all samples that is due to write calls, in percent. Absent if no sample was late,
    /// and without intended send times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_in_writes_pct: Option<f64>,
}

/// Values over the valid runs of a paced cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// Flow of a paced cell, over its valid runs. Counts are sums over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellFlow {
    /// Name of the flow.
    pub name: String,
    /// Payload of a sample, in bytes.
    pub size_bytes: u64,
    /// Description of the load.
    pub load: String,
    /// Number of planned samples: those whose intended send time lies within the measurement.
    pub planned: u64,
    /// Number of distinct samples that the writer tried to write.
    pub offered: u64,
    /// Sample counts of the reader.
    pub counted: Counted,
    /// Number of delivered samples that count for the delivered rate, as `delivered_in_time` of a run's throughput.
    pub delivered_in_time: u64,
    /// Latencies by kind: `service`, `response`, `send_lag`, `write_call`.
    pub latency: BTreeMap<String, CellLatency>,
    /// Number of samples that have a `service` time, but arrived too late for a `response` time.
    pub unplaced: u64,
    /// Share of the send lags of all samples that is due to write calls, in percent. Absent if no sample was late,
    /// and without intended send times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_in_writes_pct: Option<f64>,
}

/// Returns the kind of a histogram of one of several flows: `KIND@FLOW`.
#[must_use]
pub fn kind_of_flow(kind: &str, flow: &str) -> String {
    format!("{kind}@{flow}")
}

impl PacedCell {
    /// Returns the values over the valid runs of a cell, or `None` if no run has a schedule.
    pub(crate) fn of(valid: &[&Run], pooled: &Histograms) -> Option<Self> {
        let runs: Vec<&Paced> = valid.iter().filter_map(|run| run.paced.as_ref()).collect();
        let first = runs.first()?;
        let rates: Option<Vec<f64>> = runs.iter().map(|run| run.planned_sps).collect();
        let flow = |(index, flow): (usize, &FlowRecord)| {
            let of_runs =
                valid.iter().filter_map(|run| Some((run.paced.as_ref()?.flows.get(index)?, !run.twin)));
            let of_runs: Vec<(&FlowRecord, bool)> =
                of_runs.filter(|(other, _)| other.name == flow.name).collect();
            let same: Vec<&FlowRecord> = of_runs.iter().map(|(flow, _)| *flow).collect();
            let latencies = of_runs.iter().map(|(flow, claimed)| (&flow.latency, *claimed));
            let sum = |of: fn(&FlowRecord) -> u64| total(same.iter().map(|flow| of(flow)));
            // a single flow has the histogram of the whole run
            let histogram = |kind: &str| match first.flows.len() {
                1 => pooled.get(kind),
                _ => pooled.get(&kind_of_flow(kind, &flow.name)),
            };
            CellFlow {
                name: flow.name.clone(),
                size_bytes: flow.size_bytes,
                load: flow.load.clone(),
                planned: sum(|flow| flow.planned),
                offered: sum(|flow| flow.offered),
                unplaced: sum(|flow| flow.unplaced),
                delivered_in_time: sum(|flow| flow.delivered_in_time),
                lag_in_writes_pct: lag_in_writes_pct(&same),
                counted: Counted::sum(same.iter().map(|flow| &flow.counted)),
                latency: cell_latency(latencies, histogram),
            }
        };
        Some(Self {
            planned: total(runs.iter().map(|run| run.planned)),
            planned_sps: rates.and_then(|rates| median(&rates)),
            unsent: total(runs.iter().map(|run| run.unsent)),
            sender_limited_runs: runs.iter().filter(|run| run.sender_limited).count() as u32,
            back_pressure_runs: runs.iter().filter(|run| run.back_pressure).count() as u32,
            flows: first.flows.iter().enumerate().map(flow).collect(),
        })
    }
}

/// Returns the share over the lags of all these flows together.
fn lag_in_writes_pct(flows: &[&FlowRecord]) -> Option<f64> {
    let parts = flows.iter().filter_map(|flow| {
        let lag = flow.latency.get("send_lag")?;
        Some((flow.lag_in_writes_pct?, lag.mean_ns * lag.n as f64))
    });
    let (held, lags) = parts.fold((0.0, 0.0), |(held, lags), (pct, lag)| (held + pct * lag, lags + lag));
    (lags > 0.0).then(|| held / lags)
}

impl Cell {
    /// Returns whether the sender determines the response times in at least half of the valid runs.
    #[must_use]
    pub fn is_sender_limited(&self) -> bool {
        let limited = self.paced.as_ref().map_or(0, |paced| paced.sender_limited_runs as usize);
        limited > 0 && 2 * limited >= self.valid_runs().count()
    }
}

impl Run {
    /// Returns whether the sender determines the response times of this run.
    #[must_use]
    pub fn is_sender_limited(&self) -> bool {
        self.paced.as_ref().is_some_and(|paced| paced.sender_limited)
    }
}
