//! What a driver says of itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Policy, ReceiveMode};

/// A driver's description of itself and of the middleware behind it, as `drivers info` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverDescription {
    /// As on the command line.
    pub name: String,
    /// Version of the driver itself.
    pub driver_version: String,
    /// The middleware, as its makers write it.
    pub middleware: String,
    /// Its version, from `version_source`.
    pub middleware_version: String,
    /// Where the version comes from: `library`, `headers` or `kernel`.
    pub version_source: String,
    /// Build type and what else decides speed, where it can be known.
    pub build: Option<String>,
    /// Licence of the middleware (SPDX).
    pub licence: String,
    /// Transports, the default first.
    pub transports: Vec<TransportInfo>,
    /// Options of this driver alone.
    pub options: Vec<OptionInfo>,
    /// The ways to receive that it has.
    pub receive_modes: Vec<ReceiveMode>,
    /// Kinds of type that it carries: `octets`, `keyed`, `plain`.
    pub type_kinds: Vec<String>,
    /// Names of the features that it declares.
    pub features: Vec<String>,
    /// What it does with each policy.
    pub policies: BTreeMap<Policy, PolicySupport>,
    /// Names of the threads that the middleware, once it has started them, keeps until its process ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_threads: Vec<String>,
}

/// A transport of a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransportInfo {
    /// `udp4`, `tcp4`, `shm` ...
    pub name: String,
    /// The largest payload that it carries.
    pub max_payload_bytes: u64,
    /// What is special about it.
    pub note: Option<String>,
}

/// An option that only this driver has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionInfo {
    /// Its name.
    pub name: String,
    /// Its default; none where the middleware decides.
    pub default_value: Option<String>,
    /// What it does.
    pub help: String,
}

/// What a driver does with one policy, and what is special about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicySupport {
    /// The state.
    pub support: Support,
    /// What is special about it.
    pub note: Option<String>,
}

/// Whether a policy acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Asking for it is refused.
    Unsupported,
    /// Accepted, without effect.
    Ignored,
    /// Only decides whether writer and reader match.
    MatchedOnly,
    /// May change how, not what, is delivered.
    Hint,
    /// Acts only with a further process or store.
    NeedsService,
    /// Behaviour changes.
    Enforced,
}

impl DriverDescription {
    /// The transport of that name; without a name, the default one.
    #[must_use]
    pub fn transport(&self, name: Option<&str>) -> Option<&TransportInfo> {
        match name {
            None => self.transports.first(),
            Some(name) => self.transports.iter().find(|transport| transport.name == name),
        }
    }

    /// Whether it declares a feature, such as `native_batching`.
    #[must_use]
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|declared| declared == feature)
    }

    /// Whether it is a bare socket, against which a middleware can be held: it neither discovers peers nor has any policy.
    #[must_use]
    pub fn is_bare_socket(&self) -> bool {
        self.has("locators") && self.policies.values().all(|state| state.support == Support::Unsupported)
    }

    /// Whether it is no middleware but plays one: nobody who names no driver asks for it.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.has("simulated")
    }

    /// Whether its middleware is on this host. One that looks for it when it is loaded may not find it, and opens nothing then.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        self.middleware_version != "not installed"
    }

    /// What it does with a policy.
    #[must_use]
    pub fn support(&self, policy: Policy) -> Support {
        self.policies.get(&policy).map_or(Support::Unsupported, |state| state.support)
    }
}
