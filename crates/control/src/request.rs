//! Requests of the runner.

use std::collections::BTreeMap;

use experiment::{
    EntityIndex, ParticipantSpec, ReaderSpec, Role, StreamSpec, ThreadPriorities, Topics, TraceSamples,
    WriterSpec,
};
use serde::{Deserialize, Serialize};

use crate::{
    late_join::JoinTimes,
    mailbox::{Exchange, OpenMailbox},
    payload::PayloadBytes,
    reply::Configured,
    timeline::Timeline,
};

/// Request of the runner to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Open the entities.
    Configure(Box<Configure>),
    /// Connect to these locators, and wait until matched.
    Match(Match),
    /// Run the traffic without recording it. A serving role only acknowledges.
    WarmUp {
        /// Maximum duration in ns.
        duration_ns: u64,
        /// Maximum number of samples of each writer: the traffic ends when it has accepted them, if that is before the
        /// duration is over. Absent: no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        samples: Option<u64>,
    },
    /// Run the traffic and record it. A serving role takes its initial readings and answers at once.
    Measure {
        /// Maximum duration in ns.
        duration_ns: u64,
        /// Maximum number of samples of each writer: the traffic ends when it has accepted them, if that is before the
        /// duration is over. Absent: no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        samples: Option<u64>,
        /// Start of the schedule in ns, for the workload `paced`: the same for writer and reader.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        begin_ns: Option<u64>,
        /// Whether a driving role answers requests for its progress while it measures.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        progress: bool,
        /// Times at which the last reader joins. Absent: it is matched before the warm-up, as all others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        join: Option<JoinTimes>,
    },
    /// Return the progress of the measurement.
    Progress,
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
        /// Whether the case also runs if the driver does not declare the policies that it observes.
        probes: bool,
    },
    /// Open a mailbox. Sent instead of a run.
    OpenMailbox(Box<OpenMailbox>),
    /// Post messages into the mailbox, and return those that have arrived.
    Exchange(Exchange),
}

// The longest order carries the times of a trace.
crate::json_message!(Request, 64 << 20);

impl Request {
    /// Returns the name of the phase, for error messages.
    #[must_use]
    pub const fn phase(&self) -> &'static str {
        match self {
            Self::Configure(_) => "configure",
            Self::Match(_) => "match",
            Self::WarmUp { .. } => "warm_up",
            Self::Measure { .. } => "measure",
            Self::Progress => "progress",
            Self::Drain(_) => "drain",
            Self::Report => "report",
            Self::Exit => "exit",
            Self::Cases => "cases",
            Self::Check { .. } => "check",
            Self::OpenMailbox(_) => "open_mailbox",
            Self::Exchange(_) => "exchange",
        }
    }
}

/// Transport and options with which a driver is opened for a case. The driver's defaults apply to the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenOptions {
    /// Transport of the driver.
    pub transport: Option<String>,
    /// Options of the driver.
    pub options: BTreeMap<String, String>,
}

/// Configuration of an agent for its run: the entities to open, the samples to write and to expect, and the role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Configure {
    /// Role of the agent.
    pub role: Role,
    /// Name of the run, unique on this host while it lasts: letters, digits and `-`.
    pub run_name: String,
    /// Tag of the run, in the header of every sample: 12 bits.
    pub run_tag: u16,
    /// Seed of the payload patterns and of random send times.
    pub seed: u64,
    /// DDS domain.
    pub domain: u32,
    /// Participant.
    pub participant: ParticipantSpec,
    /// Writers of samples; in a role that receives, writers of echoes.
    pub writers: Vec<WriterSpec>,
    /// Readers of samples; in a role that sends, readers of echoes.
    pub readers: Vec<ReaderSpec>,
    /// Cores that this process may use; `None`: inherited.
    pub cpus: Option<Vec<u32>>,
    /// Priorities of its threads. Absent: inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priorities: Option<ThreadPriorities>,
    /// Planned measurement time in ns, for which the recorders are sized.
    pub measure_ns: u64,
    /// Number of windows of the measurement time, at most [`crate::MAX_WINDOWS`].
    pub windows: u32,
    /// Check every byte of every Nth sample.
    pub check_every: u32,
    /// Echo every Nth sample of a stream; `None` disables probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_every: Option<u32>,
    /// Whether a writer waits for the echo of each probe before it writes the next sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub await_echo: bool,
    /// Samples of each trace file that a stream follows, by the SHA-256 of the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<String, TraceSamples>,
    /// Bytes that its samples carry after their headers. Absent: a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadBytes>,
    /// Time at which the participant is opened, in ns of the common clock: the same for all agents that are configured
    /// together. Absent: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin_ns: Option<u64>,
    /// Whether the last reader of the run joins during the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_join: Option<LateJoin>,
    /// Whether a writer with a schedule may spin for the last part of a wait; otherwise it only sleeps.
    #[serde(default)]
    pub spin: bool,
    /// Conversion of the agent's clock to the common clock: all times of requests and replies are of the common clock.
    /// Absent: the agent reads the common clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// Maximum difference between the common clock as computed by this agent and by its peers, in ns. A sample sent
    /// that much later than it arrives belongs to the run. The highest number: unknown, any time is possible.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_slack_ns: u64,
    /// Minimum time without an echo after which a ping is lost, in ns.
    pub ping_timeout_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Part of an agent in a run whose last reader joins during the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum LateJoin {
    /// It is opened before the warm-up, and gets the times of the join with the request to measure.
    Early,
    /// It joins late.
    Late {
        /// Times of the join.
        times: JoinTimes,
        /// Start of the schedule in ns, for the workload `paced`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schedule_ns: Option<u64>,
    },
}

impl Configure {
    /// Returns the streams that the agent writes, or expects in a role that receives; without echoes.
    pub fn streams(&self) -> impl Iterator<Item = &StreamSpec> {
        let drives = self.role.drives();
        let written = self.writers.iter().map(|writer| &writer.stream).filter(move |_| drives);
        let expected = self.readers.iter().flat_map(|reader| &reader.streams).filter(move |_| !drives);
        written.chain(expected)
    }

    /// Returns the samples of the trace file that a stream follows; none without a trace file.
    #[must_use]
    pub fn trace_of(&self, stream: &StreamSpec) -> TraceSamples {
        stream.trace().and_then(|trace| self.traces.get(&trace.sha256)).cloned().unwrap_or_default()
    }

    /// Returns whether several of its samples are in flight around a ring.
    #[must_use]
    pub fn is_pipelined(&self) -> bool {
        self.streams().any(|stream| stream.in_flight.is_some_and(|in_flight| in_flight > 1))
    }

    /// Returns whether its streams have a schedule, or write as fast as possible from a common start.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.streams().any(|stream| stream.load.is_some())
    }
}

/// Peers that each entity has to match with. Entities are in the order of the configure request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Match {
    /// For each writer: the readers of its topic.
    pub writers: Vec<MatchedPeers>,
    /// For each reader: the writers of its topic.
    pub readers: Vec<MatchedPeers>,
    /// Time limit in ns.
    pub timeout_ns: u64,
    /// Time at which a late participant is opened, in ns of the common clock. From then on, times of matching count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin_ns: Option<u64>,
}

impl Match {
    /// Returns what the entities of an endpoint have to match with. `configured` has the locators of each endpoint of the
    /// run.
    #[must_use]
    pub fn of(topics: &Topics<'_>, endpoint: usize, configured: &[Configured], timeout_ns: u64) -> Self {
        let endpoints = &topics.topology().endpoints;
        let peers = |found: &[EntityIndex], locators: fn(&Configured) -> &[String]| MatchedPeers {
            count: u32::try_from(found.len()).unwrap_or(u32::MAX),
            endpoints: found.iter().map(|(endpoint, _)| endpoints[*endpoint].id.clone()).collect(),
            locators: found
                .iter()
                .filter_map(|(endpoint, entity)| locators(configured.get(*endpoint)?).get(*entity).cloned())
                .collect(),
        };
        let of = &endpoints[endpoint];
        let readers_of = |topic: &str| peers(topics.readers(topic), |peer| &peer.reader_locators);
        let writers_of = |topic: &str| peers(topics.writers(topic), |peer| &peer.writer_locators);
        Self {
            writers: of.writers.iter().map(|writer| readers_of(&writer.topic)).collect(),
            readers: of.readers.iter().map(|reader| writers_of(&reader.topic)).collect(),
            timeout_ns,
            begin_ns: None,
        }
    }
}

/// Peers of one entity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchedPeers {
    /// Number of peers to wait for.
    pub count: u32,
    /// Locators to connect to, if the middleware has no discovery: one for each peer.
    pub locators: Vec<String>,
    /// Endpoints of the peers, by id, for messages.
    #[serde(default)]
    pub endpoints: Vec<String>,
}

/// Conditions that end a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drain {
    /// Number of samples that were sent to this agent, for a serving role.
    pub sent: u64,
    /// Time limit in ns.
    pub timeout_ns: u64,
    /// Time without a sample after which a reader stops, in ns.
    pub quiet_ns: u64,
    /// Time at which the late reader and the writers were all matched, in ns of the common clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use experiment::{Factors, Pin, RunTopology, Workload};

    use super::*;

    fn configured(endpoint: &str, writers: usize, readers: usize) -> Configured {
        let locators =
            |kind: &str, count| (0..count).map(|index| format!("{kind} {index} of {endpoint}")).collect();
        Configured {
            writer_locators: locators("writer", writers),
            reader_locators: locators("reader", readers),
            ..Configured::default()
        }
    }

    fn peers(endpoint: &str, locators: &[&str]) -> MatchedPeers {
        let locators: Vec<String> = locators.iter().map(|&locator| locator.to_owned()).collect();
        MatchedPeers { count: locators.len() as u32, locators, endpoints: vec![endpoint.to_owned()] }
    }

    #[test]
    fn each_entity_matches_the_entities_of_its_topic() {
        let factors = Factors { workload: Workload::Latency, ..Factors::default() };
        let topology = RunTopology::new(&factors, &Pin::None, false).in_run("run-1");
        let all = [configured("pinger", 1, 1), configured("echo", 1, 1)];
        let pinger = Match::of(&topology.topics(), 0, &all, 5);
        assert_eq!(pinger.writers, [peers("echo", &["reader 0 of echo"])]);
        assert_eq!(pinger.readers, [peers("echo", &["writer 0 of echo"])]);
        assert_eq!(pinger.timeout_ns, 5);
        assert_eq!(
            Match::of(&topology.topics(), 1, &all, 5).readers,
            [peers("pinger", &["writer 0 of pinger"])]
        );
    }

    #[test]
    fn middleware_with_discovery_gets_no_locators() {
        let factors = Factors { workload: Workload::Throughput, ..Factors::default() };
        let topology = RunTopology::new(&factors, &Pin::None, true);
        let all = [Configured::default(), Configured::default()];
        let expected = MatchedPeers { count: 1, locators: Vec::new(), endpoints: vec!["reader".to_owned()] };
        let writer = Match::of(&topology.topics(), 0, &all, 5);
        assert_eq!((writer.writers, writer.readers), (vec![expected.clone()], vec![expected]));
    }
}
