//! Messages between a runner and a steward.

use std::time::Duration;

use control::{MonotonicClock, Reply, Request};
use host::{
    AgentCommand, ChannelEnd, ClockClient, ClockResponder, EnvironmentInputs, Owner, ProcessExit, SiteError,
};
use results::NoiseRule;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of these messages. Runner and steward must have the same.
pub const PROTOCOL: u32 = 4;

/// File of the copies of a driver on a host, with the hashes of the others, in the format of `sha256sum`.
pub(crate) const MANIFEST: &str = "manifest.sha256";
/// Version of ddsmark. Runner and steward must have the same.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Versions of a process. Every version of the protocol can read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Version of the protocol, [`PROTOCOL`].
    pub protocol: u32,
    /// Version of ddsmark.
    pub ddsmark: String,
}

impl Versions {
    /// Returns the versions of this process.
    #[must_use]
    pub fn own() -> Self {
        Self { protocol: PROTOCOL, ddsmark: VERSION.to_owned() }
    }
}

/// First message of a steward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Versions of the steward.
    pub versions: Versions,
    /// The site, or why there is none.
    pub site: Result<HostedSite, SiteError>,
}

/// Part of the first message of a steward that is read before the rest: its versions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct HelloVersions {
    pub(crate) versions: Versions,
}

/// Constant properties of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedSite {
    /// Owner of the names of runs.
    pub owner: Owner,
    /// Clock that agents read.
    pub clock: MonotonicClock,
}

/// Message of a runner.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToSteward {
    /// Versions of the runner, and the longest silence after which the steward ends. It is sent once, first.
    Hello {
        /// Versions of the runner.
        versions: Versions,
        /// Longest silence of each side, which then sends heartbeats; `None` if the carrier of the stream ends it when a
        /// side is lost.
        silence: Option<Duration>,
    },
    /// Call of the site.
    Call {
        /// Number of the call.
        id: u64,
        /// The call.
        call: Box<Call>,
    },
    /// Request to an agent.
    Send {
        /// Number of the agent.
        agent: u64,
        /// Index of the control channel.
        channel: u32,
        /// The request.
        request: Box<Request>,
    },
    /// Close the control channels of an agent.
    HangUp {
        /// Number of the agent.
        agent: u64,
    },
    /// Wait for the exit of an agent.
    End {
        /// Number of the agent.
        agent: u64,
        /// Time after which it is killed.
        limit: Duration,
    },
    /// End of an effect that a call has started.
    Release {
        /// Number of that call.
        id: u64,
    },
    /// End all agents and exit.
    Bye,
}

/// Call of a site, with the type of its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// [`host::Site::launch`]: no value.
    Launch {
        /// Number of the agent, not used before.
        agent: u64,
        /// Parameters of the agent.
        command: AgentCommand,
    },
    /// [`host::Facts`].
    Facts,
    /// [`results::Environment`].
    Environment(Box<EnvironmentInputs>),
    /// Path, if there is one.
    MissingFile {
        /// Value of the variable.
        value: String,
    },
    /// [`results::NoiseProbe`], if there is one.
    Probe {
        /// Cores to probe.
        cores: Vec<u32>,
        /// Rule of the probe.
        rule: NoiseRule,
    },
    /// [`host::Counters`].
    Counters {
        /// Cores to read.
        cores: Vec<u32>,
    },
    /// [`results::Reference`], or an error text.
    Reference {
        /// Cores of the sender.
        sender_cores: Vec<u32>,
        /// Cores of the receiver.
        receiver_cores: Vec<u32>,
        /// Duration in ns.
        length_ns: u64,
    },
    /// No value. The effect lasts until it is released.
    KeepAwake,
    /// [`Claim`]. A reservation lasts until it is released.
    ClaimDomain {
        /// Number of the domain.
        number: u32,
    },
    /// [`results::RunningExperiment`]. The announcement lasts until it is released.
    Announce {
        /// Results directory of the experiment.
        directory: String,
    },
    /// List of [`results::RunningExperiment`].
    Announced,
    /// No value.
    Clean {
        /// Name of the run or case.
        name: String,
    },
    /// No value.
    Sweep,
    /// [`std::net::SocketAddr`]. The responder lives until it is released.
    ClockResponder(ClockResponder),
    /// List of [`host::ClockExchange`].
    ClockExchange(ClockClient),
    /// [`host::ClockReading`].
    ClockReading,
}

impl Call {
    /// Returns the name of the call: that of its JSON, with spaces.
    #[must_use]
    pub fn name(&self) -> String {
        let call = serde_json::to_value(self).unwrap_or_default();
        let key = call.as_str().or_else(|| call.as_object()?.keys().next().map(String::as_str));
        key.unwrap_or_default().replace('_', " ")
    }

    /// Returns the time that the call itself takes at most on a host that is not overloaded.
    #[must_use]
    pub(crate) fn takes(&self) -> Duration {
        match self {
            Self::Probe { rule, .. } => Duration::from_nanos(rule.probe_ns),
            Self::Reference { length_ns, .. } => Duration::from_nanos(*length_ns),
            Self::ClockExchange(client) => client.limit,
            _ => Duration::ZERO,
        }
    }
}

/// Outcome of the reservation of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Reserved until it is released.
    Reserved,
    /// Reserved by another experiment.
    InUse,
    /// Not possible on the host.
    Unsupported,
}

/// Message of a steward.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToRunner {
    /// Answer to a call.
    Answer {
        /// Number of the call.
        id: u64,
        /// Value of the type that the call has, or the error of the site.
        answer: Result<Value, SiteError>,
    },
    /// Reply of an agent.
    Reply {
        /// Number of the agent.
        agent: u64,
        /// Index of the control channel.
        channel: u32,
        /// The reply.
        reply: Box<Reply>,
    },
    /// End of a control channel of an agent, after its last reply.
    ChannelEnd {
        /// Number of the agent.
        agent: u64,
        /// Index of the control channel.
        channel: u32,
        /// Cause.
        end: ChannelEnd,
    },
    /// Exit of an agent's process, after its last output.
    Ended {
        /// Number of the agent.
        agent: u64,
        /// Exit of the process.
        exit: ProcessExit,
    },
    /// The steward ends, because it does not understand the runner.
    Refused {
        /// Cause.
        error: String,
    },
}
