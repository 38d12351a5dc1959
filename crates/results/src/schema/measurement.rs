//! Values of a run that only its workload has.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DiscoveryRecord, Paced, PingRetries, Ring, Run, SearchRecord, Throughput};

/// Values of a run that only its workload has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "workload", rename_all = "snake_case")]
pub enum Measurement {
    /// Workload `latency`.
    Latency {
        /// Write calls of pings and echoes that were not accepted at once.
        ping_retries: PingRetries,
        /// For a ring: its hops, and the time per hop.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ring: Option<Ring>,
    },
    /// Workload `throughput`.
    Throughput {
        /// Rates and counts of delivery.
        throughput: Throughput,
    },
    /// Workload `paced`.
    Paced {
        /// Rates and counts of delivery.
        throughput: Throughput,
        /// Planned samples, and whether the sender kept its schedule.
        paced: Paced,
    },
    /// Workload `search`. `endpoints` of such a run are those of its last trial.
    Search {
        /// Trials and bounds.
        search: SearchRecord,
    },
    /// Workload `discovery`.
    Discovery {
        /// Times, traffic and memory.
        discovery: DiscoveryRecord,
    },
}

impl Run {
    /// Returns the rates and counts of delivery of the workloads `throughput` and `paced`.
    #[must_use]
    pub fn throughput(&self) -> Option<&Throughput> {
        self.measured.as_ref()?.throughput()
    }

    /// Returns the rates and counts of delivery, to change them.
    #[must_use]
    pub fn throughput_mut(&mut self) -> Option<&mut Throughput> {
        self.measured.as_mut()?.throughput_mut()
    }

    /// Returns the planned samples of the workload `paced`, to change their record.
    #[must_use]
    pub fn paced_mut(&mut self) -> Option<&mut Paced> {
        self.measured.as_mut()?.paced_mut()
    }

    /// Returns the planned samples of the workload `paced`, and whether the sender kept its schedule.
    #[must_use]
    pub fn paced(&self) -> Option<&Paced> {
        match self.measured.as_ref()? {
            Measurement::Paced { paced, .. } => Some(paced),
            _ => None,
        }
    }

    /// Returns the trials and bounds of the workload `search`.
    #[must_use]
    pub fn search(&self) -> Option<&SearchRecord> {
        match self.measured.as_ref()? {
            Measurement::Search { search } => Some(search),
            _ => None,
        }
    }

    /// Returns times, traffic and memory of the workload `discovery`.
    #[must_use]
    pub fn discovery(&self) -> Option<&DiscoveryRecord> {
        self.measured.as_ref()?.discovery()
    }

    /// Returns the hops of a ring, and the time per hop.
    #[must_use]
    pub fn ring(&self) -> Option<&Ring> {
        self.measured.as_ref()?.ring()
    }

    /// Returns the write calls of the workload `latency` that were not accepted at once.
    #[must_use]
    pub fn ping_retries(&self) -> Option<PingRetries> {
        match self.measured.as_ref()? {
            Measurement::Latency { ping_retries, .. } => Some(*ping_retries),
            _ => None,
        }
    }
}

impl Measurement {
    /// Returns the rates and counts of delivery.
    #[must_use]
    pub const fn throughput(&self) -> Option<&Throughput> {
        match self {
            Self::Throughput { throughput } | Self::Paced { throughput, .. } => Some(throughput),
            _ => None,
        }
    }

    /// Returns the rates and counts of delivery, to change them.
    #[must_use]
    pub const fn throughput_mut(&mut self) -> Option<&mut Throughput> {
        match self {
            Self::Throughput { throughput } | Self::Paced { throughput, .. } => Some(throughput),
            _ => None,
        }
    }

    /// Returns the planned samples, to change their record.
    #[must_use]
    pub const fn paced_mut(&mut self) -> Option<&mut Paced> {
        match self {
            Self::Paced { paced, .. } => Some(paced),
            _ => None,
        }
    }

    /// Returns times, traffic and memory of a discovery.
    #[must_use]
    pub const fn discovery(&self) -> Option<&DiscoveryRecord> {
        match self {
            Self::Discovery { discovery } => Some(discovery),
            _ => None,
        }
    }

    /// Returns the hops of a ring, and the time per hop.
    #[must_use]
    pub const fn ring(&self) -> Option<&Ring> {
        match self {
            Self::Latency { ring, .. } => ring.as_ref(),
            _ => None,
        }
    }

    /// Returns the trials and bounds of a search, to change them.
    #[must_use]
    pub const fn search_mut(&mut self) -> Option<&mut SearchRecord> {
        match self {
            Self::Search { search } => Some(search),
            _ => None,
        }
    }
}
