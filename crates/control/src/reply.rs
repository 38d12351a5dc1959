//! Answers of an agent; its measurements are in [`crate::AgentReport`].

use std::collections::BTreeMap;

use experiment::{DriverDescription, Policy, Qos, Role};
use serde::{Deserialize, Serialize};

use crate::{clock::MonotonicClock, mailbox::Exchanged, progress::Progress, report::AgentReport};

/// Reply of an agent to the runner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The driver is loaded. Sent once, without a request.
    Hello(Box<Hello>),
    /// The entities are open.
    Configured(Box<Configured>),
    /// Writers and readers are matched.
    Matched {
        /// Time that the match took, in ns.
        waited_ns: u64,
        /// Time at which the last entity was matched with the last of its peers, in ns of the common clock: as the driver
        /// recorded it, otherwise when the agent found it.
        #[serde(default)]
        at_ns: u64,
    },
    /// The warm-up is over, or the agent is ready to serve it.
    WarmedUp,
    /// The measurement is over, or the agent is ready to serve it.
    Measured(MeasureReply),
    /// The writer was not ready when its schedule started. It has written nothing, and can be asked to measure again.
    Missed {
        /// Time since the start of the schedule, in ns.
        late_ns: u64,
    },
    /// Progress of the measurement.
    Progress(Progress),
    /// No sample is outstanding, or the time limit was reached.
    Drained {
        /// Whether all samples were acknowledged (writer) or received (reader).
        complete: bool,
    },
    /// Measurements.
    Report(Box<AgentReport>),
    /// The entities are closed.
    Bye,
    /// All conformance cases.
    Cases {
        /// Cases, in the order in which they are listed.
        cases: Vec<CaseInfo>,
        /// Cases that observe each policy, in the order of the contract.
        probes: Vec<PolicyProbe>,
        /// Case that passes if requests for unsupported policies are rejected.
        rejection: String,
    },
    /// Outcome of a case.
    Checked(CaseOutcome),
    /// The mailbox is open: effective configuration of its writer and reader.
    MailboxOpened(Box<Configured>),
    /// Messages of other agents.
    Exchanged(Exchanged),
    /// The agent has failed, and exits.
    Failed {
        /// Error message.
        error: String,
        /// Suggested next step.
        hint: Option<String>,
        /// Whether the driver rejects the request permanently.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refused: bool,
    },
}

impl Reply {
    /// Returns the phase that it answers, as [`crate::Request::phase`] names it.
    #[must_use]
    pub const fn phase(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Configured(_) => "configure",
            Self::Matched { .. } => "match",
            Self::WarmedUp => "warm_up",
            Self::Measured(_) | Self::Missed { .. } => "measure",
            Self::Progress(_) => "progress",
            Self::Drained { .. } => "drain",
            Self::Report(_) => "report",
            Self::Bye => "exit",
            Self::Cases { .. } => "cases",
            Self::Checked(_) => "check",
            Self::MailboxOpened(_) => "open_mailbox",
            Self::Exchanged(_) => "exchange",
            Self::Failed { .. } => "failed",
        }
    }
}

// The longest reply carries the timestamps and histograms of a long latency run.
crate::json_message!(Reply, 128 << 20);

/// Identity of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// Version of the protocol, [`crate::PROTOCOL`].
    pub protocol: u32,
    /// Process id of the agent.
    pub pid: u32,
    /// Roles that it can take.
    pub roles: Vec<Role>,
    /// Clock that it reads.
    pub clock: MonotonicClock,
    /// Shared libraries that it has loaded, sorted; those that the middleware loads later are not included.
    pub libraries: Vec<String>,
    /// Description of the driver.
    pub driver: DriverDescription,
}

/// A conformance case: a testable promise of the driver contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseInfo {
    /// Id of the case.
    pub id: String,
    /// Section of the contract.
    pub section: String,
    /// Text of the promise.
    pub promise: String,
    /// Number of processes of its writer and reader: 1 or 2.
    pub processes: u32,
}

/// Cases that observe what a QoS policy does, or why none can.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyProbe {
    /// Policy.
    pub policy: Policy,
    /// Kinds of the policy that this is about; empty: all others.
    pub kinds: String,
    /// Ids of the cases that pass if the policy has its effect.
    pub effect: Vec<String>,
    /// Ids of the cases that pass if the policy decides whether writer and reader match.
    pub matching: Vec<String>,
    /// Reason why no case can observe the effect; empty if one does.
    pub unobservable: String,
}

/// Outcome of a conformance case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum CaseOutcome {
    /// No violation was observed.
    Passed,
    /// The driver violates the promise.
    Failed {
        /// Observed violation.
        reason: String,
    },
    /// The policy that the case observes has no effect.
    NoEffect {
        /// Observed behaviour.
        reason: String,
    },
    /// The driver does not declare the feature.
    NotApplicable {
        /// Missing declaration.
        reason: String,
    },
}

/// Effective configuration, once the entities are open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Configured {
    /// Locator of each reader, in the order of the configure request. Empty if the middleware has discovery.
    pub reader_locators: Vec<String>,
    /// Locator of each writer, in the same order.
    pub writer_locators: Vec<String>,
    /// Effective QoS, by entity: `writer` and `reader`, further ones `writer-2` and so on.
    pub effective_qos: BTreeMap<String, Qos>,
    /// Effective settings, by `participant`, `writer`, `reader`, and so on.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// Policies that the driver accepts without effect, by `writer` and `reader`.
    #[serde(default)]
    pub ignored: BTreeMap<String, Vec<Policy>>,
    /// Cores that this process may use.
    pub cpus: Vec<u32>,
}

/// Result of the measurement phase of a driving role. A serving role answers with the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasureReply {
    /// Samples accepted by the middleware.
    pub sent: u64,
}
