//! Flows of a run.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DeliveryCounts, Latency, Timeliness};

/// Flow of a run: the samples of one writer as one reader received them. For the workload `latency`: the pings of a
/// pinger, and those that one echo returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FlowRecord {
    /// Name of its stream: that of the flow in the experiment, or `data`.
    pub name: String,
    /// Name of the group, if the flow is one of several equal ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Endpoint that wrote the samples, by id.
    pub writer: String,
    /// Endpoint that received them (echoed them), by id.
    pub reader: String,
    /// Payload of a sample, in bytes.
    pub size_bytes: u64,
    /// Description of the load. Absent if each sample is written as soon as the previous one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// Number of planned samples: those whose intended send time lies within the measurement. Without intended times:
    /// the offered ones.
    pub planned: u64,
    /// Number of distinct samples that the writer tried to write.
    pub offered: u64,
    /// Sample counts of the reader.
    pub counted: DeliveryCounts,
    /// Number of delivered samples that count for the delivered rate, as `delivered_in_time` of a run's throughput.
    pub delivered_in_time: u64,
    /// Latencies by kind: `service`, `response`, `send_lag`, `write_call`; `age` with a deadline. Empty for the workloads `latency` and
    /// `throughput` with one flow: they are those of the run.
    pub latency: BTreeMap<String, Latency>,
    /// Samples that missed the deadline of the flow, and its age. Absent without a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeliness: Option<Timeliness>,
    /// Number of samples that have a `service` time, but arrived too late for a `response` time.
    pub unplaced: u64,
    /// Number of delivered samples that arrived later than a mean period (for bursts, the time between two of them) after their
    /// intended send time, within the accuracy of the histogram. Absent without intended send times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Share of the send lags of all samples that is due to write calls, in percent. Absent if no sample was late,
    /// and without intended send times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_in_writes_pct: Option<f64>,
}

impl FlowRecord {
    /// Returns whether a flow or a group of flows has this name.
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        self.name == name || self.group.as_deref() == Some(name)
    }
}
