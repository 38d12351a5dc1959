//! Reference: a bare UDP socket, measured with each noise probe, to show how the host changed.

use serde::{Deserialize, Serialize};

/// Reference: RTT and rate of a bare UDP socket over the loopback interface, on the cores that runs use, without
/// middleware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reference {
    /// Planned duration in ns: one half for the RTT, the other half for the rate.
    pub length_ns: u64,
    /// Cores of the pinger (sender). Empty if it was not pinned.
    pub sender_cores: Vec<u32>,
    /// Cores of the echo (receiver). Empty if it was not pinned.
    pub receiver_cores: Vec<u32>,
    /// Number of round trips that the quantiles are based on.
    pub round_trips: u64,
    /// Median RTT in ns.
    pub rtt_p50_ns: f64,
    /// 99 % quantile of the RTT in ns. Absent if there were too few round trips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_p99_ns: Option<f64>,
    /// Number of samples that the rate is based on.
    pub samples: u64,
    /// Samples of 64 bytes per second, with at most 64 in flight.
    pub rate_sps: f64,
}

/// Reference value that is used for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReferenceMetric {
    /// Median RTT, in ns.
    RttP50,
    /// 99 % quantile of the RTT, in ns.
    RttP99,
    /// Rate, in samples/s.
    Rate,
    /// Time per sample in ns: the inverse of the rate.
    SampleTime,
}

impl ReferenceMetric {
    /// Returns the name in reports.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::RttP50 => "RTT p50",
            Self::RttP99 => "RTT p99",
            Self::Rate => "rate",
            Self::SampleTime => "time per sample",
        }
    }

    /// Returns the unit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::RttP50 | Self::RttP99 | Self::SampleTime => "ns",
            Self::Rate => "1/s",
        }
    }

    pub(crate) const fn value(self, reference: &Reference) -> Option<f64> {
        match self {
            Self::RttP50 => Some(reference.rtt_p50_ns),
            Self::RttP99 => reference.rtt_p99_ns,
            Self::Rate => Some(reference.rate_sps),
            Self::SampleTime => Some(1e9 / reference.rate_sps),
        }
    }
}
