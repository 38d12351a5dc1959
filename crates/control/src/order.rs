//! What the runner asks for.

use std::collections::BTreeMap;

use experiment::Factors;
use serde::{Deserialize, Serialize};

use crate::Message;

/// From the runner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Open the entities.
    Configure(Box<Configure>),
    /// Connect to these, and wait until matched.
    Match(Match),
    /// Run the traffic without recording it. A serving role only takes note.
    WarmUp {
        /// For how long.
        duration_ns: u64,
    },
    /// Run the traffic and record it. A serving role takes its baselines and answers at once.
    Measure {
        /// For how long.
        duration_ns: u64,
        /// When the plan of the workload `paced` begins: the same for both ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        begin_ns: Option<u64>,
    },
    /// Bring what is under way to an end.
    Drain(Drain),
    /// Hand over what was recorded.
    Report,
    /// Close the entities and end.
    Exit,
    /// Name the cases that a driver can be tried with. Instead of a run.
    Cases,
    /// Try the driver with one case. Instead of a run.
    Check {
        /// Its id.
        case: String,
        /// Unique on this host while it runs: letters, digits and `-`.
        name: String,
        /// A DDS domain that nobody else uses.
        domain: u32,
        /// Over which transport, with which options.
        way: Way,
    },
}

impl Message for Order {
    /// The longest carries the times of a file.
    const MAX_LINE_BYTES: u64 = 64 << 20;
}

impl Order {
    /// The phase, as named in a failure.
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

/// How a driver is opened that is tried: what is left out is as the driver has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// One of its transports.
    pub transport: Option<String>,
    /// Its own options.
    pub options: BTreeMap<String, String>,
}

/// The part that an agent plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes as fast as back-pressure allows.
    Writer,
    /// Receives and counts.
    Reader,
    /// Sends a ping when the one before is back or lost.
    Pinger,
    /// Sends every ping back unchanged.
    Ponger,
}

impl Role {
    /// As in a result.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Pinger => "pinger",
            Self::Ponger => "ponger",
        }
    }

    /// Whether it drives the traffic; the others serve.
    #[must_use]
    pub const fn drives(self) -> bool {
        matches!(self, Self::Writer | Self::Pinger)
    }
}

/// Everything that an agent needs to know about its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configure {
    /// Its part.
    pub role: Role,
    /// The cell.
    pub factors: Factors,
    /// Unique on this host while the run lasts: letters, digits and `-`.
    pub run_name: String,
    /// In the header of every sample: 12 bits.
    pub run_tag: u16,
    /// Seed of the payload pattern, and of the times of a random plan.
    pub seed: u64,
    /// DDS domain.
    pub domain: u32,
    /// Topic from writer to reader, and from pinger to ponger: letters, digits and `_`.
    pub topic: String,
    /// Topic from ponger to pinger.
    pub topic_back: String,
    /// Cores that this process may use; none: as inherited.
    pub cpus: Option<Vec<u32>>,
    /// Planned length of the measured time: recorders are made for it.
    pub measure_ns: u64,
    /// Windows that the measured time is cut into: up to [`crate::MAX_WINDOWS`].
    pub windows: u32,
    /// Every byte of one in so many samples is checked.
    pub check_every: u32,
    /// Every so manyth sample of a stream is sent back; none: none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_every: Option<u32>,
    /// Of the workload `paced`: the times of each flow that follows a file, by its name, in ns from the begin, ascending.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<String, Vec<u64>>,
    /// Of the workload `paced`: whether the writer may spin for the last part of a wait. Else it only sleeps.
    #[serde(default)]
    pub spin: bool,
}

/// Whom to match with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// For this agent's writers to connect to: of each peer one for each writer, in the order of the flows.
    pub reader_locators: Vec<String>,
    /// For this agent's readers to connect to, likewise.
    pub writer_locators: Vec<String>,
    /// How many matched readers and writers to wait for, where this agent has a writer or reader.
    pub peers: u32,
    /// For how long.
    pub timeout_ns: u64,
}

/// How to bring what is under way to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// For a serving role: how many samples the writer had accepted.
    pub sent: u64,
    /// For at most so long.
    pub timeout_ns: u64,
    /// A reader of a lossy flow stops when nothing has come for so long.
    pub quiet_ns: u64,
}
