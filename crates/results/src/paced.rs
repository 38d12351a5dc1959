//! The workload `paced` in a result: what was planned, what became of the plan at the sender, and the runs of a cell together.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{median, total};

use crate::{
    Cell, CellLatency, Counted, Histograms, Latency, Run, Throttle, latency::cell_latency, verdict::is_zero,
};

/// An open loop: what was planned, and what became of the plan at the sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Paced {
    /// Samples whose intended time lay within the measured time.
    pub planned: u64,
    /// Of these, over the measured time. Absent without intended times.
    pub planned_sps: Option<f64>,
    /// Of the planned: those that were not tried before the measured time ended.
    pub unsent: u64,
    /// Whether the sender, not the middleware, decides the response times: its 99 % send lag exceeds a tenth of the period or of
    /// the median response, and the middleware did not hold it up.
    pub sender_limited: bool,
    /// Whether the middleware held its writer up: the send lag is as long, most of it is time of write calls, and the thread
    /// that makes them had time left. In older results such a run is `sender_limited`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub back_pressure: bool,
    /// What the throttle did, of a load that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// A wait of the sender spun for so long before its end; 0: it only slept.
    pub spin_ns: u64,
    /// Its streams, in the order written.
    pub flows: Vec<FlowRecord>,
}

/// One stream of samples of an open loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowRecord {
    /// Its name.
    pub name: String,
    /// Payload bytes of a sample.
    pub size_bytes: u64,
    /// Its plan in words.
    pub load: String,
    /// Samples whose intended time lay within the measured time.
    pub planned: u64,
    /// Distinct samples that the writer tried to write.
    pub offered: u64,
    /// What its reader got.
    pub counted: Counted,
    /// Of the delivered: those that arrived within the writers' measured time.
    #[serde(default)]
    pub delivered_in_time: u64,
    /// Latencies by kind: `service`, `response`, `send_lag`, `write_call`.
    pub latency: BTreeMap<String, Latency>,
    /// Samples that are in `service`, but came too late for `response`.
    pub unplaced: u64,
    /// Of the send lags of all samples together: the share that is time of write calls, in percent. Absent where no sample was
    /// late, without intended times, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_in_writes_pct: Option<f64>,
}

/// The valid runs of an open loop together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacedCell {
    /// Samples whose intended time lay within the measured time: sum over the runs.
    pub planned: u64,
    /// Median of the runs'. Absent without intended times.
    pub planned_sps: Option<f64>,
    /// Of the planned: those that were not tried before the measured time ended. Sum over the runs.
    pub unsent: u64,
    /// Runs whose response times the sender decides.
    pub sender_limited_runs: u32,
    /// Runs in which the middleware held its writer up. Absent where there are none, and in older results.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub back_pressure_runs: u32,
    /// Its streams, in the order written.
    pub flows: Vec<CellFlow>,
}

/// One stream of samples of an open loop over the valid runs of a cell: counts are sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellFlow {
    /// Its name.
    pub name: String,
    /// Payload bytes of a sample.
    pub size_bytes: u64,
    /// Its plan in words.
    pub load: String,
    /// Samples whose intended time lay within the measured time.
    pub planned: u64,
    /// Distinct samples that the writer tried to write.
    pub offered: u64,
    /// What its reader got.
    pub counted: Counted,
    /// Of the delivered: those that arrived within the writers' measured time.
    #[serde(default)]
    pub delivered_in_time: u64,
    /// Latencies by kind: `service`, `response`, `send_lag`, `write_call`.
    pub latency: BTreeMap<String, CellLatency>,
    /// Samples that are in `service`, but came too late for `response`.
    pub unplaced: u64,
    /// Of the send lags of all samples together: the share that is time of write calls, in percent. Absent where no sample was
    /// late, and without intended times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_in_writes_pct: Option<f64>,
}

/// The kind of a histogram that is of one of several streams.
#[must_use]
pub fn kind_of_flow(kind: &str, flow: &str) -> String {
    format!("{kind}@{flow}")
}

impl PacedCell {
    /// What the valid runs of a cell say together; none if none of them has a plan.
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
            // a single stream is the whole run
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

/// Of the lags of all of these together.
fn lag_in_writes_pct(flows: &[&FlowRecord]) -> Option<f64> {
    let parts = flows.iter().filter_map(|flow| {
        let lag = flow.latency.get("send_lag")?;
        Some((flow.lag_in_writes_pct?, lag.mean_ns * lag.n as f64))
    });
    let (held, lags) = parts.fold((0.0, 0.0), |(held, lags), (pct, lag)| (held + pct * lag, lags + lag));
    (lags > 0.0).then(|| held / lags)
}

impl Cell {
    /// Whether the sender, not the middleware's delivery, decides the response times of at least half of its valid runs.
    #[must_use]
    pub fn is_sender_limited(&self) -> bool {
        let limited = self.paced.as_ref().map_or(0, |paced| paced.sender_limited_runs as usize);
        limited > 0 && 2 * limited >= self.valid_runs().count()
    }
}

impl Run {
    /// Whether the sender, not the middleware's delivery, decides its response times.
    #[must_use]
    pub fn is_sender_limited(&self) -> bool {
        self.paced.as_ref().is_some_and(|paced| paced.sender_limited)
    }
}
