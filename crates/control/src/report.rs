//! Measurements of an agent; each role has a part of its own.

use std::collections::BTreeMap;

use results::{
    Batches, Distribution, Interface, Received, Reception, Sockets, TakeStats, ThrottleStats,
    TimelinessReport, Usage,
};
use serde::{Deserialize, Serialize};

use crate::{discovery::ParticipantReport, late_join, timestamp_log::TimestampLog};

/// Measurements of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentReport {
    /// Resource usage during the measurement.
    pub usage: Usage,
    /// Increments of UDP counters during the measurement.
    pub sockets: Option<Sockets>,
    /// Increments of interface counters during the measurement.
    pub interface: Option<Interface>,
    /// Counters of the driver, by endpoint.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// Measurements of its role.
    pub role: RoleReport,
    /// Discovery of its participant, for the workload `discovery` and with a late reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<ParticipantReport>,
}

/// Measurements of a role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RoleReport {
    /// No traffic.
    #[default]
    Participant,
    /// Writer.
    Writer(WriterReport),
    /// Reader.
    Reader(ReaderReport),
    /// Pinger.
    Pinger(PingerReport),
    /// Echo or relay.
    Echo(EchoReport),
}

/// Defines how to read and change the measurements of a role; `None` in the report of another role.
macro_rules! roles {
    ($($variant:ident($report:ty): $get:ident, $get_mut:ident;)*) => {
        impl AgentReport {
            $(
                #[doc = concat!("Returns its `", stringify!($report), "`; `None` for another role.")]
                #[must_use]
                pub const fn $get(&self) -> Option<&$report> {
                    if let RoleReport::$variant(report) = &self.role { Some(report) } else { None }
                }

                #[doc = concat!("Returns its `", stringify!($report), "`, to change it; `None` for another role.")]
                pub const fn $get_mut(&mut self) -> Option<&mut $report> {
                    if let RoleReport::$variant(report) = &mut self.role { Some(report) } else { None }
                }
            )*
        }
    };
}

roles! {
    Writer(WriterReport): writer, writer_mut;
    Reader(ReaderReport): reader, reader_mut;
    Pinger(PingerReport): pinger, pinger_mut;
    Echo(EchoReport): echo, echo_mut;
}

impl AgentReport {
    /// Returns the reception of each writer's samples by a reader.
    pub fn received(&self) -> impl Iterator<Item = &Received> {
        self.reader().into_iter().flat_map(|reader| &reader.flows).map(|flow| &flow.received)
    }

    /// Returns the reception of all samples; `None` for a role that receives none of the data.
    #[must_use]
    pub fn reception(&self) -> Option<Reception> {
        match &self.role {
            RoleReport::Echo(echo) => {
                // Every ping arrives after the echo of the one before it.
                let samples = echo.received.saturating_sub(echo.duplicate);
                return Some(Reception { samples, length_ns: self.usage.elapsed_ns, intervals: samples });
            }
            RoleReport::Reader(_) => {}
            _ => return None,
        }
        let first_ns = self.received().map(|of| of.first_ns).filter(|ns| *ns > 0).min().unwrap_or(0);
        let last_ns = self.received().map(|of| of.last_ns).max().unwrap_or(0);
        let samples = self.received().fold(0_u64, |sum, of| sum.saturating_add(of.delivered));
        let length_ns = last_ns.saturating_sub(first_ns);
        Some(Reception { samples, length_ns, intervals: samples.saturating_sub(1) })
    }
}

/// Writer measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriterReport {
    /// Start of the schedule, or of the measurement time without one, in ns.
    pub begin_ns: u64,
    /// End of the last write of the measurement time, and of the flush of the last batches, in ns.
    pub end_ns: u64,
    /// Actions of the throttle; `None` for other loads.
    #[serde(default)]
    pub throttle: Option<ThrottleStats>,
    /// Spin time of each wait in ns, calibrated on this core; 0: waits only sleep, or there is no schedule.
    pub spin_ns: u64,
    /// Measurements of each flow, in the order of the flows.
    pub flows: Vec<FlowWriterReport>,
    /// Probes sent and returned; `None` without probes.
    #[serde(default)]
    pub probes: Option<ProbeReport>,
}

/// Writer measurements of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowWriterReport {
    /// Samples with an intended time within the measurement time. Without intended times: samples offered.
    pub planned: u64,
    /// Distinct samples that the writer tried to write.
    pub offered: u64,
    /// Samples that the middleware accepted.
    pub accepted: u64,
    /// Samples that the middleware accepted in the warm-up.
    pub warm_up: u64,
    /// Samples written before the late reader had joined; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_join: Option<late_join::WrittenBeforeJoin>,
    /// Write calls that timed out; the sample was retried.
    pub timed_out: u64,
    /// Write calls rejected because there was no room; the sample was retried.
    pub refused: u64,
    /// Send lag: from the intended time of a sample to the start of its write. Empty without intended times.
    pub send_lag: Distribution,
    /// Part of the mean send lag that write calls alone cause, in ns.
    #[serde(default)]
    pub held_ns: f64,
    /// Durations of write calls.
    pub write_call: Distribution,
    /// Time in which the thread that writes the flow was on a core or waited for one, in ns. Absent if one thread writes all
    /// flows, or if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_ns: Option<u64>,
    /// Batches flushed; `None` without batching.
    #[serde(default)]
    pub batches: Option<Batches>,
}

/// Reader measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReaderReport {
    /// Measurements of each flow, in the order of the flows.
    pub flows: Vec<FlowReaderReport>,
    /// Probes sent back; `None` without probes.
    #[serde(default)]
    pub probes: Option<ProbeEchoReport>,
    /// Samples that are not of this run.
    pub foreign: u64,
}

/// Reader measurements of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowReaderReport {
    /// Received samples.
    pub received: Received,
    /// Reception around a late join; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<late_join::JoinReception>,
    /// Service time: from the start of a sample's write to its arrival at the application. Empty without a load.
    pub service: Distribution,
    /// Response time: from the intended time of a sample to its arrival at the application. Empty without intended
    /// times.
    pub response: Distribution,
    /// Samples so late that their intended time was no longer kept: in `service`, but not in `response`.
    pub unplaced: u64,
    /// Samples with a negative service time, which is not in `service`: the clocks of the hosts differ by more than it.
    #[serde(default, skip_serializing_if = "NegativeTimes::is_none")]
    pub negative_service: NegativeTimes,
    /// Samples with a negative response time, which is not in `response`.
    #[serde(default, skip_serializing_if = "NegativeTimes::is_none")]
    pub negative_response: NegativeTimes,
    /// Samples in time, and the age of the newest one; `None` without a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeliness: Option<TimelinessReport>,
    /// Numbers of samples taken at a time, with the first flow of a reader: a take may have samples of several flows. `None` for a
    /// listener.
    #[serde(default)]
    pub takes: Option<TakeStats>,
}

/// Times between two hosts that are negative on the common clock. A histogram has no place for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NegativeTimes {
    /// Number of times.
    pub count: u64,
    /// The largest one, without its sign, in ns.
    pub largest_ns: u64,
}

impl NegativeTimes {
    /// Returns whether there are none.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.count == 0
    }

    /// Counts a time, given without its sign in ns.
    pub fn count(&mut self, ns: u64) {
        self.count += 1;
        self.largest_ns = self.largest_ns.max(ns);
    }
}

/// Probe measurements at the writer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeReport {
    /// Probe interval in samples: every Nth sample is a probe.
    pub every: u64,
    /// Probes accepted by the middleware.
    pub sent: u64,
    /// Probes with an echo.
    pub returned: u64,
    /// Duplicate echoes.
    pub duplicate: u64,
    /// Echoes that differ from their probe.
    pub corrupt: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Echoes with every byte checked.
    pub checked_in_full: u64,
    /// RTT: from the start of a probe's write to the arrival of its echo.
    pub rtt: Distribution,
}

/// Probe counts at the reader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeEchoReport {
    /// Probes received.
    pub came: u64,
    /// Echoes accepted by the middleware.
    pub echoed: u64,
    /// Echoes that were rejected or timed out.
    pub refused: u64,
}

/// Pinger measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PingerReport {
    /// Pings accepted by the middleware.
    pub sent: u64,
    /// Pings tried and never accepted: 0 or 1, the last ping of the run.
    pub unsent: u64,
    /// Write calls that timed out; the ping was retried, with the time of its first attempt.
    pub timed_out: u64,
    /// Write calls that were rejected; the ping was retried, with the time of its first attempt.
    pub refused: u64,
    /// Time from the first attempt to write a ping to the end of the measurement, in ns.
    pub elapsed_ns: u64,
    /// Pings of which all echoes arrived within this time.
    pub in_time: u64,
    /// Time after acceptance at which a ping counts as lost, in ns.
    pub ping_timeout_ns: u64,
    /// Echoes of each endpoint that sends them, in the order of the pinger's readers.
    pub returns: Vec<ReturnReport>,
    /// RTT from the first attempt to write a ping to the arrival of its last echo, of the pings with an echo of each
    /// endpoint. Absent with one endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_rtt: Option<Distribution>,
}

/// Pinger measurements of the echoes of one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReturnReport {
    /// Pings with an echo within the timeout.
    pub returned: u64,
    /// Pings without an echo within the timeout.
    pub lost: u64,
    /// Echoes of a ping that was no longer in flight.
    pub late: u64,
    /// Longest RTT of these echoes in ns. Absent without one, or if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_ns: Option<u64>,
    /// Further echoes of the ping in flight.
    pub duplicate: u64,
    /// Echoes that differ from their ping.
    pub corrupt: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Echoes with every byte checked.
    pub checked_in_full: u64,
    /// RTT from the first attempt to write a ping, by window.
    pub rtt: Distribution,
    /// Timestamps by sequence number: first attempt to write the ping, and arrival of its echo.
    pub stamps: TimestampLog,
}

/// Measurements of an echo or a relay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EchoReport {
    /// Pings received, duplicates included.
    pub received: u64,
    /// Pings received again. Unknown for pings without timestamps: they count as received once.
    #[serde(default)]
    pub duplicate: u64,
    /// Echoes accepted by the middleware.
    pub echoed: u64,
    /// Write calls of echoes that timed out. A relay repeats them, up to a time limit, and so does the thread to which a listener
    /// hands over.
    pub timed_out: u64,
    /// Write calls of echoes that were rejected, repeated in the same way, and pings dropped at the handoff.
    pub refused: u64,
    /// Pings that the driver overwrote while they were read or echoed.
    pub overwritten: u64,
    /// Samples of this run with another size; not echoed.
    pub wrong_size: u64,
    /// Samples that are not of this run.
    pub foreign: u64,
    /// Echoes that a listener sent itself; absent without a listener. It hands the others to a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echoed_in_listener: Option<u64>,
    /// Timestamps by sequence number: arrival of the ping, and start of the write of its echo; 0 if the echo was not
    /// accepted.
    pub stamps: TimestampLog,
}
