//! What runner and agent say to each other: one JSON object a line, over one descriptor passed at start-up.
//!
//! The runner leads. It sends an [`Order`]; the agent answers each with exactly one [`Reply`], and sends one unasked,
//! [`Reply::Hello`], when it has loaded its driver. An agent that fails answers [`Reply::Failed`] and exits. When the channel
//! closes, the agent exits, whatever it is doing.
//!
//! ```text
//! runner            agent
//!                <- hello          what the driver is
//! configure      -> configured     entities opened; QoS and settings in force; locators
//! match          -> matched        both ends see each other
//! warm_up        -> warmed_up      the same traffic as measured
//! measure        -> measured       (a reader or ponger answers at once, and serves until drain)
//! drain          -> drained        a writer: all acknowledged; a reader: all there, or the time limit
//! report         -> report         what was recorded
//! exit           -> bye
//! ```
//!
//! Instead of a run the runner may ask for the cases of the contract (`cases`), and have one tried (`check`).
//!
//! All stamps are of `CLOCK_MONOTONIC`, in ns.
#![forbid(unsafe_code)]

mod channel;
mod stamps;

use std::collections::BTreeMap;

pub use channel::{ChannelError, Inbox, Message, receive_line, send};
use experiment::{DriverDescription, Factors, Qos};
use results::{Batches, Distribution, Interface, Received, Sockets, Takes, Throttle, Usage};
use serde::{Deserialize, Serialize};
pub use stamps::{Stamp, Stamps, StampsError};

/// Version of these messages, and of the factors in them; runner and agent must have the same.
pub const PROTOCOL: u32 = 4;
/// The most windows of a run: each recorder of an agent has a histogram for each of them.
pub const MAX_WINDOWS: u32 = 1_000;

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

/// From the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The driver is loaded.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// Process id.
        pid: u32,
        /// What the driver says of itself.
        driver: Box<DriverDescription>,
    },
    /// The entities are open.
    Configured(Box<Configured>),
    /// Both ends see each other.
    Matched {
        /// How long that took.
        waited_ns: u64,
    },
    /// Warm, or ready to serve.
    WarmedUp,
    /// Measured, or ready to serve.
    Measured(Measured),
    /// Nothing is under way any more, or the time limit was reached.
    Drained {
        /// Whether all was acknowledged (writer) or received (reader).
        complete: bool,
    },
    /// What was recorded.
    Report(Box<Report>),
    /// The entities are closed.
    Bye,
    /// All cases.
    Cases {
        /// In the order in which they are told.
        cases: Vec<CaseInfo>,
    },
    /// What became of the case.
    Checked(Verdict),
    /// The agent has failed, and exits.
    Failed {
        /// What and why.
        error: String,
        /// The next step.
        hint: Option<String>,
    },
}

impl Message for Order {
    /// The longest carries the times of a file.
    const MAX_LINE_BYTES: u64 = 64 << 20;
}

impl Message for Reply {
    /// The longest carries the stamps of a long latency run, and its histograms.
    const MAX_LINE_BYTES: u64 = 128 << 20;
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

/// A promise of the driver contract that can be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseInfo {
    /// Its name.
    pub id: String,
    /// Where in the contract it stands.
    pub section: String,
    /// In words.
    pub promise: String,
    /// In how many processes its writer and reader are: 1 or 2.
    pub processes: u32,
}

/// Whether a driver keeps a promise of the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It does, as far as can be seen.
    Passed,
    /// It does not.
    Failed {
        /// How.
        reason: String,
    },
    /// It never made it.
    NotApplicable {
        /// What it does not declare.
        reason: String,
    },
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
    /// Windows that the measured time is cut into: up to [`MAX_WINDOWS`].
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

/// What is in force once the entities are open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configured {
    /// Texts by which the peer can connect its writers to this agent's readers, in the order of the flows.
    pub reader_locators: Vec<String>,
    /// Texts by which the peer can connect its readers to this agent's writers, in the order of the flows.
    pub writer_locators: Vec<String>,
    /// Read back, by `writer` and `reader`; of further flows by `writer-2` and so on.
    pub effective_qos: BTreeMap<String, Qos>,
    /// Read back, by `participant`, `writer` and `reader`, and so on.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// Cores that this process may use.
    pub cpus: Vec<u32>,
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

/// What a driving role did while measuring. A serving role answers with the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Samples accepted by the middleware.
    pub sent: u64,
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

/// What an agent recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Used while measuring.
    pub usage: Usage,
    /// UDP counters meanwhile.
    pub sockets: Option<Sockets>,
    /// Traffic of the interface meanwhile.
    pub interface: Option<Interface>,
    /// The driver's counters by entity.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// Of a writer.
    pub writer: Option<Written>,
    /// Of a reader.
    pub reader: Option<ReaderReport>,
    /// Of a writer with a plan, by flow.
    #[serde(default)]
    pub paced_writer: Option<PacedWritten>,
    /// Of its reader, by flow.
    #[serde(default)]
    pub paced_reader: Option<PacedRead>,
    /// Of a pinger.
    pub pinger: Option<Pinged>,
    /// Of a ponger.
    pub ponger: Option<Ponged>,
}

/// What a writer recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// Distinct samples that it tried to write.
    pub offered: u64,
    /// Samples that the middleware accepted.
    pub accepted: u64,
    /// Write calls that timed out; the sample was tried again.
    pub timed_out: u64,
    /// Write calls that were refused for want of room; the sample was tried again.
    pub refused: u64,
    /// First stamp of the measured time.
    pub begin_ns: u64,
    /// Last stamp of the measured time.
    pub end_ns: u64,
    /// Duration of every write call, in windows.
    pub write_call: Distribution,
    /// Batches flushed; none without batches.
    #[serde(default)]
    pub batches: Option<Batches>,
    /// Probes sent and returned, where there are some.
    #[serde(default)]
    pub probes: Option<ProbesWritten>,
}

/// What a reader recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReaderReport {
    /// By writer.
    pub received: Vec<Received>,
    /// Probes sent back, where there are some.
    #[serde(default)]
    pub probes: Option<ProbesRead>,
    /// How many samples were taken at a time, of a reader that is asked.
    #[serde(default)]
    pub takes: Option<Takes>,
    /// Samples that are not of this run.
    pub foreign: u64,
}

/// What a writer with a plan recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacedWritten {
    /// When the plan began.
    pub begin_ns: u64,
    /// When the last write of the measured time had returned.
    pub end_ns: u64,
    /// What its throttle did, of a load that has one.
    #[serde(default)]
    pub throttle: Option<Throttle>,
    /// A wait spins for so long before its end; 0: it only sleeps. Calibrated on this core.
    pub spin_ns: u64,
    /// In the order of the flows.
    pub flows: Vec<FlowWritten>,
    /// Probes sent and returned, where there are some.
    #[serde(default)]
    pub probes: Option<ProbesWritten>,
}

/// What a writer with a plan recorded of one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowWritten {
    /// Samples whose intended time lay within the measured time. Without intended times: those offered.
    pub planned: u64,
    /// Distinct samples that it tried to write.
    pub offered: u64,
    /// Samples that the middleware accepted.
    pub accepted: u64,
    /// Write calls that timed out; the sample was tried again.
    pub timed_out: u64,
    /// Write calls that were refused for want of room; the sample was tried again.
    pub refused: u64,
    /// From the intended time of a sample to the begin of its write. Empty without intended times.
    pub send_lag: Distribution,
    /// Duration of every write call.
    pub write_call: Distribution,
    /// Batches flushed; none without batches.
    #[serde(default)]
    pub batches: Option<Batches>,
}

/// What the reader of a plan recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacedRead {
    /// In the order of the flows.
    pub flows: Vec<FlowRead>,
    /// Probes sent back, where there are some.
    #[serde(default)]
    pub probes: Option<ProbesRead>,
    /// Samples that are not of this run.
    pub foreign: u64,
}

/// What the reader of a plan recorded of one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowRead {
    /// What came, from the set of sequence numbers.
    pub received: Received,
    /// From the begin of the write to the arrival at the application.
    pub service: Distribution,
    /// From the intended time to the arrival at the application. Empty without intended times.
    pub response: Distribution,
    /// Samples that came so late that their intended time was not kept any more: in `service`, but not in `response`.
    pub unplaced: u64,
    /// How many samples were taken at a time, of a reader that is asked.
    #[serde(default)]
    pub takes: Option<Takes>,
}

/// What the writer of a stream recorded of its probes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbesWritten {
    /// One in so many samples is a probe.
    pub every: u64,
    /// Probes accepted by the middleware.
    pub sent: u64,
    /// Probes that came back.
    pub returned: u64,
    /// Echoes that came again.
    pub duplicate: u64,
    /// Echoes that differ from their probe.
    pub corrupt: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Echoes of which every byte was checked.
    pub checked_in_full: u64,
    /// From the begin of the write of a probe to the arrival of its echo.
    pub rtt: Distribution,
}

/// What the reader of a stream did with its probes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbesRead {
    /// Probes that came.
    pub came: u64,
    /// Echoes accepted by the middleware.
    pub echoed: u64,
    /// Echoes that the middleware did not take.
    pub refused: u64,
}

/// What a pinger recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pinged {
    /// Pings accepted by the middleware.
    pub sent: u64,
    /// Pings that came back in time.
    pub returned: u64,
    /// Pings that did not.
    pub lost: u64,
    /// Of the lost: those that came back later.
    pub late: u64,
    /// Echoes that came again.
    pub duplicate: u64,
    /// Echoes that differ from their ping.
    pub corrupt: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Echoes of which every byte was checked.
    pub checked_in_full: u64,
    /// After so long a ping counts as lost.
    pub ping_timeout_ns: u64,
    /// Round-trip times, in windows.
    pub rtt: Distribution,
    /// By sequence: when each ping was sent and its echo came.
    pub stamps: Stamps,
}

/// What a ponger recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ponged {
    /// Pings received.
    pub received: u64,
    /// Echoes accepted by the middleware.
    pub echoed: u64,
    /// Echoes that the middleware did not take.
    pub refused: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Where the echo was sent from: `reader`, `listener`, or `listener+handoff`.
    pub echo: String,
    /// By sequence: when each ping came and its echo was sent.
    pub stamps: Stamps,
}
