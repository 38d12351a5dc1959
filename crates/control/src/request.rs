//! Orders of the runner.

use std::collections::BTreeMap;

use experiment::Factors;
use serde::{Deserialize, Serialize};

use crate::Message;

/// Order of the runner to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Open the entities.
    Configure(Box<Configure>),
    /// Connect to these locators, and wait until matched.
    Match(Match),
    /// Run the traffic without recording it. A serving role only acknowledges.
    WarmUp {
        /// Duration in ns.
        duration_ns: u64,
    },
    /// Run the traffic and record it. A serving role takes its initial readings and answers at once.
    Measure {
        /// Duration in ns.
        duration_ns: u64,
        /// Start of the schedule in ns, for the workload `paced`: the same for writer and reader.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        begin_ns: Option<u64>,
    },
    /// Wait for outstanding samples.
    Drain(Drain),
    /// Return the measurements.
    Report,
    /// Close the entities and exit.
    Exit,
    /// List the conformance cases. Sent instead of a run.
    Cases,
    /// Run one conformance case. Sent instead of a run.
    Check {
        /// Id of the case.
        case: String,
        /// Name for the case, unique on this host while it runs: letters, digits and `-`.
        name: String,
        /// DDS domain that no other process uses.
        domain: u32,
        /// Transport and options of the driver.
        way: OpenOptions,
    },
}

impl Message for Request {
    /// Longest line in bytes; the longest order carries the times of a trace.
    const MAX_LINE_BYTES: u64 = 64 << 20;
}

impl Request {
    /// Returns the name of the phase, for error messages.
    #[must_use]
    pub const fn phase(&self) -> &'static str {
        match self {
            Self::Configure(_) => "configure",
            Self::Match(_) => "match",
            Self::WarmUp { .. } => "warm_up",
            Self::Measure { .. } => "measure",
            Self::Drain(_) => "drain",
            Self::Report => "report",
            Self::Exit => "exit",
            Self::Cases => "cases",
            Self::Check { .. } => "check",
        }
    }
}

/// Transport and options with which a driver is opened for a case. The driver's defaults apply to the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOptions {
    /// Transport of the driver.
    pub transport: Option<String>,
    /// Options of the driver.
    pub options: BTreeMap<String, String>,
}

/// Role of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes samples: as fast as back-pressure allows, or by a schedule.
    Writer,
    /// Receives and counts samples.
    Reader,
    /// Sends a ping when the previous one is back or lost.
    Pinger,
    /// Sends every ping back unchanged.
    Echo,
}

impl Role {
    /// Returns the name of the role in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Pinger => "pinger",
            Self::Echo => "echo",
        }
    }

    /// Returns whether the role drives the traffic; the other roles serve.
    #[must_use]
    pub const fn drives(self) -> bool {
        matches!(self, Self::Writer | Self::Pinger)
    }
}

/// Configuration of an agent for its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configure {
    /// Role of the agent.
    pub role: Role,
    /// Factors of the cell.
    pub factors: Factors,
    /// Name of the run, unique on this host while it lasts: letters, digits and `-`.
    pub run_name: String,
    /// Tag of the run, in the header of every sample: 12 bits.
    pub run_tag: u16,
    /// Seed of the payload pattern and of random schedules.
    pub seed: u64,
    /// DDS domain.
    pub domain: u32,
    /// Topic from writer to reader, and from pinger to echo: letters, digits and `_`.
    pub topic: String,
    /// Topic from echo to pinger, and of the echoes of probes.
    pub topic_back: String,
    /// Cores that this process may use; `None`: inherited.
    pub cpus: Option<Vec<u32>>,
    /// Planned measurement time in ns, for which the recorders are sized.
    pub measure_ns: u64,
    /// Number of windows of the measurement time, at most [`crate::MAX_WINDOWS`].
    pub windows: u32,
    /// Check every byte of every Nth sample.
    pub check_every: u32,
    /// Echo every Nth sample of a stream; `None` disables probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_every: Option<u32>,
    /// For the workload `paced`: the times of each flow that follows a file, by flow name, in ns from the start,
    /// ascending.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<String, Vec<u64>>,
    /// For the workload `paced`: whether the writer may spin for the last part of a wait; otherwise it only sleeps.
    #[serde(default)]
    pub spin: bool,
}

/// Peers to match with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Locators for this agent's writers to connect to: one of each peer for each writer, in the order of the
    /// flows.
    pub reader_locators: Vec<String>,
    /// Locators for this agent's readers to connect to, in the same order.
    pub writer_locators: Vec<String>,
    /// Number of matched peers to wait for, of each writer and each reader.
    pub peers: u32,
    /// Time limit in ns.
    pub timeout_ns: u64,
}

/// Conditions that end a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// Samples that the writer had accepted, for a serving role.
    pub sent: u64,
    /// Time limit in ns.
    pub timeout_ns: u64,
    /// Time without a sample after which a reader stops, in ns.
    pub quiet_ns: u64,
}
