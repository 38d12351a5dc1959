//! Flows of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::schema::{counted::DeliveryCounts, latency::Latency, timeliness::Timeliness};

/// Flow of a run: the samples of one writer as one reader received them. For the workload `latency`: the pings of a
/// pinger, and those that one echo returned.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowRecord {
    /// Name of its stream: that of the flow in the experiment, or `data`.
    pub name: String,
    /// Name of the group, if the flow is one of several equal ones.
    pub group: Option<String>,
    /// Endpoint that wrote the samples, by id.
    pub writer: String,
    /// Endpoint that received them (echoed them), by id.
    pub reader: String,
    /// Payload of a sample, in bytes; that of the largest one if they differ.
    pub size_bytes: u64,
    /// Sizes of samples that differ. Absent if all have `size_bytes`.
    pub sizes: Option<SampleSizes>,
    /// Description of the load. Absent if each sample is written as soon as the previous one is.
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
    pub timeliness: Option<Timeliness>,
    /// Number of samples that have a `service` time, but arrived too late for a `response` time.
    pub unplaced: u64,
    /// Number of delivered samples that arrived later than a mean period (for bursts, the time between two of them) after their
    /// intended send time, within the accuracy of the histogram. Absent without intended send times.
    pub late: Option<u64>,
    /// Share of the send lags of all samples that is due to write calls, in percent. Absent if no sample was late,
    /// and without intended send times.
    pub lag_in_writes_pct: Option<f64>,
}

/// Sizes of the samples of a flow that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleSizes {
    /// Smallest size that a sample may have, in bytes.
    pub smallest_bytes: u64,
    /// Payload of all accepted samples, in bytes.
    pub sent_bytes: u64,
}

impl FlowRecord {
    /// Returns the smallest size that a sample may have, in bytes.
    #[must_use]
    pub fn smallest_bytes(&self) -> u64 {
        self.sizes.map_or(self.size_bytes, |sizes| sizes.smallest_bytes)
    }

    /// Returns the payload of all accepted samples, in bytes.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sizes.map_or_else(|| self.counted.sent.saturating_mul(self.size_bytes), |sizes| sizes.sent_bytes)
    }

    /// Returns the mean size of the accepted samples, in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        match self.counted.sent {
            0 => self.size_bytes as f64,
            sent => self.sent_bytes() as f64 / sent as f64,
        }
    }

    /// Returns the payload that this many of the accepted samples have at least, in bytes: all others may be the largest ones.
    #[must_use]
    pub fn least_bytes(&self, samples: u64) -> u64 {
        let others = self.counted.sent.saturating_sub(samples).saturating_mul(self.size_bytes);
        let all_smallest = samples.saturating_mul(self.smallest_bytes());
        match self.sizes {
            Some(_) => self.sent_bytes().saturating_sub(others).max(all_smallest),
            None => all_smallest,
        }
    }

    /// Returns whether a flow or a group of flows has this name.
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        self.name == name || self.group.as_deref() == Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_part_of_the_samples_are_at_least_those_without_the_largest_ones() {
        let counted = DeliveryCounts { sent: 10, ..DeliveryCounts::default() };
        let equal = FlowRecord { size_bytes: 1_000, counted, ..FlowRecord::default() };
        assert_eq!(
            (equal.sent_bytes(), equal.least_bytes(7), equal.smallest_bytes()),
            (10_000, 7_000, 1_000)
        );
        let sizes = SampleSizes { smallest_bytes: 100, sent_bytes: 6_400 };
        let mixed = FlowRecord { sizes: Some(sizes), ..equal };
        assert_eq!((mixed.sent_bytes(), mixed.smallest_bytes()), (6_400, 100));
        assert!((mixed.mean_bytes() - 640.0).abs() < 1e-9);
        assert_eq!([10, 9, 4, 0].map(|samples| mixed.least_bytes(samples)), [6_400, 5_400, 400, 0]);
    }
}
