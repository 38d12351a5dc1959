//! What an agent recorded: each role has a part of its own.

use std::collections::BTreeMap;

use results::{Batches, Distribution, Interface, Received, Sockets, Takes, Throttle, Usage};
use serde::{Deserialize, Serialize};

use crate::Stamps;

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
    /// Samples that the middleware accepted before, in the warm-up.
    pub warm_up: u64,
    /// Write calls that timed out; the sample was tried again.
    pub timed_out: u64,
    /// Write calls that were refused for want of room; the sample was tried again.
    pub refused: u64,
    /// First stamp of the measured time.
    pub begin_ns: u64,
    /// End of the last write of the measured time, and of the flush of what it left in a batch.
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
    /// End of the last write of the measured time, and of the flush of what it left in a batch.
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
    /// Samples that the middleware accepted before, in the warm-up.
    pub warm_up: u64,
    /// Write calls that timed out; the sample was tried again.
    pub timed_out: u64,
    /// Write calls that were refused for want of room; the sample was tried again.
    pub refused: u64,
    /// From the intended time of a sample to the begin of its write. Empty without intended times.
    pub send_lag: Distribution,
    /// Of its mean: what would be there if nothing but write calls took the writer's time.
    #[serde(default)]
    pub held_ns: f64,
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
    /// Pings that were tried and never accepted: the last one of the run, or none.
    pub unsent: u64,
    /// Write calls that timed out; the ping was tried again, with the time of its first attempt.
    pub timed_out: u64,
    /// Write calls that were refused; the ping was tried again, with the time of its first attempt.
    pub refused: u64,
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
    /// Time after its acceptance from which a ping counts as lost.
    pub ping_timeout_ns: u64,
    /// Round-trip times from the first attempt to write a ping, in windows.
    pub rtt: Distribution,
    /// By sequence: first attempt to write each ping, and arrival of its echo.
    pub stamps: Stamps,
}

/// What a ponger recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ponged {
    /// Pings received.
    pub received: u64,
    /// Echoes accepted by the middleware.
    pub echoed: u64,
    /// Echoes whose write call timed out; they were not tried again.
    pub timed_out: u64,
    /// Echoes that were refused; they were not tried again.
    pub refused: u64,
    /// Pings that were overwritten while they were read or echoed, by the driver.
    pub overwritten: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Where the echo was sent from: `reader`, `listener`, or `listener+handoff`.
    pub echo: String,
    /// By sequence: when each ping came and its echo was sent.
    pub stamps: Stamps,
}
