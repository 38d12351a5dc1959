//! Driver descriptions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Policy, ReceiveMode};

/// Description of a driver and of the middleware behind it, as `ddsmark drivers info` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverDescription {
    /// Name as given on the command line.
    pub name: String,
    /// Version of the driver itself.
    pub driver_version: String,
    /// Name of the middleware, in its vendor's spelling.
    pub middleware: String,
    /// Version of the middleware, from `version_source`.
    pub middleware_version: String,
    /// Source of the middleware version: `library`, `headers` or `kernel`.
    pub version_source: String,
    /// Build type and other settings that affect speed, if known.
    pub build: Option<String>,
    /// Licence of the middleware as an SPDX identifier.
    pub licence: String,
    /// Transports, the default first.
    pub transports: Vec<TransportInfo>,
    /// Driver-specific options.
    pub options: Vec<OptionInfo>,
    /// Supported receive modes.
    pub receive_modes: Vec<ReceiveMode>,
    /// Supported type kinds: `octets`, `keyed`, `plain`.
    pub type_kinds: Vec<String>,
    /// Names of the declared features.
    pub features: Vec<String>,
    /// Support of each policy.
    pub policies: BTreeMap<Policy, PolicySupport>,
    /// Names of middleware threads that, once started, run until the process ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_threads: Vec<String>,
}

/// Transport of a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransportInfo {
    /// Name, such as `udp4`, `tcp4` or `shm`.
    pub name: String,
    /// Maximum payload in bytes.
    pub max_payload_bytes: u64,
    /// Remark for the user.
    pub note: Option<String>,
}

/// Driver-specific option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionInfo {
    /// Name of the option.
    pub name: String,
    /// Default value; absent if the middleware decides.
    pub default_value: Option<String>,
    /// Description of the option.
    pub help: String,
}

/// Support of a policy by a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicySupport {
    /// Level of support.
    pub support: Support,
    /// Remark for the user.
    pub note: Option<String>,
}

/// Level of support of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Requests are rejected.
    Unsupported,
    /// Accepted without effect.
    Ignored,
    /// Affects only whether writer and reader match.
    MatchedOnly,
    /// May change how samples are delivered, but not which ones.
    Hint,
    /// Acts only with an additional process or store.
    NeedsService,
    /// Changes behaviour as DDS specifies.
    Enforced,
}

impl DriverDescription {
    /// Returns the transport of that name; without a name, the default one.
    #[must_use]
    pub fn transport(&self, name: Option<&str>) -> Option<&TransportInfo> {
        match name {
            None => self.transports.first(),
            Some(name) => self.transports.iter().find(|transport| transport.name == name),
        }
    }

    /// Returns whether the driver declares a feature, such as `native_batching`.
    #[must_use]
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|declared| declared == feature)
    }

    /// Returns whether a listener of the driver can echo the probes of a stream: each of them, so its write may have to wait until the
    /// reader of the echoes makes room. A thread of a middleware that waits in a listener may be the one that would make it.
    #[must_use]
    pub fn echoes_probes_in_listener(&self) -> bool {
        self.has("echo_in_listener") && self.has("locators")
    }

    /// Returns whether the driver is a bare socket, the baseline of a middleware: no discovery and no QoS policy.
    #[must_use]
    pub fn is_bare_socket(&self) -> bool {
        self.has("locators") && self.policies.values().all(|state| state.support == Support::Unsupported)
    }

    /// Returns whether the driver is a simulation. It is measured only if it is named.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.has("simulated")
    }

    /// Returns whether the middleware is installed on this host. A driver may load its middleware at run time and
    /// not find it.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        self.middleware_version != "not installed"
    }

    /// Returns the support of a policy.
    #[must_use]
    pub fn support(&self, policy: Policy) -> Support {
        self.policies.get(&policy).map_or(Support::Unsupported, |state| state.support)
    }
}
