//! What an agent answers. What it recorded is in [`crate::Report`].

use std::collections::BTreeMap;

use experiment::{DriverDescription, Policy, Qos};
use serde::{Deserialize, Serialize};

use crate::{Message, Report};

/// From the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The driver is loaded.
    Hello {
        /// [`crate::PROTOCOL`].
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
        /// Whether the driver will not do what was asked, whenever it is asked: it lies in the question.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refused: bool,
    },
}

impl Message for Reply {
    /// The longest carries the stamps of a long latency run, and its histograms.
    const MAX_LINE_BYTES: u64 = 128 << 20;
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
    /// Policies whose effect it observes.
    pub observes: Vec<Policy>,
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

/// What a driving role did while measuring. A serving role answers with the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Samples accepted by the middleware.
    pub sent: u64,
}
