//! Driver descriptions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Policy, ReceiveMode, factors::endpoint_qos::End};

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
    /// Environment variables that the middleware reads; `NAME*` stands for all that begin so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
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
    /// Level of support; if `of_writers` is there, of readers only.
    support: Support,
    /// Level of support of writers, if it differs from that of readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of_writers: Option<Support>,
    /// Remark for the user.
    pub note: Option<String>,
}

/// Level of support of a policy, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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

impl PolicySupport {
    /// Creates the support of a policy that is the same for writers and readers.
    #[must_use]
    pub const fn of_both(support: Support, note: Option<String>) -> Self {
        Self { support, of_writers: None, note }
    }

    /// Creates the support of a policy by writers and by readers.
    #[must_use]
    pub fn of_ends(writers: Support, readers: Support, note: Option<String>) -> Self {
        Self { support: readers, of_writers: (writers != readers).then_some(writers), note }
    }

    /// Returns the support by writers.
    #[must_use]
    pub fn of_writers(&self) -> Support {
        self.of_writers.unwrap_or(self.support)
    }

    /// Returns the support by readers.
    #[must_use]
    pub const fn of_readers(&self) -> Support {
        self.support
    }
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
        self.has("locators")
            && Policy::ALL.iter().all(|policy| self.support_of_ends(*policy) == [Support::Unsupported; 2])
    }

    /// Returns the support of a policy by these endpoints: the weakest one.
    pub(crate) fn support_of(&self, policy: Policy, ends: &[End]) -> Support {
        let of_ends = self.support_of_ends(policy);
        ends.iter().map(|end| of_ends[*end as usize]).min().unwrap_or(Support::Unsupported)
    }

    /// Returns the note on a policy that the driver of this name ignores, if it is requested of these endpoints.
    pub(crate) fn without_effect(&self, driver: &str, policy: Policy, ends: &[End]) -> String {
        let ignoring = self.support_of_ends(policy).map(|support| support == Support::Ignored);
        let of = match End::BOTH.map(|end| ignoring[end as usize] && ends.contains(&end)) {
            [true, false] if !ignoring[End::Reader as usize] => " of writers",
            [false, true] if !ignoring[End::Writer as usize] => " of readers",
            _ => "",
        };
        format!("driver `{driver}` accepts policy {policy}{of} without effect")
    }

    /// Returns whether the middleware reads an environment variable.
    #[must_use]
    pub fn reads_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|known| match known.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == known,
        })
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

    /// Returns the support of a policy by writers and by readers.
    #[must_use]
    pub fn support_of_ends(&self, policy: Policy) -> [Support; 2] {
        let state = self.policies.get(&policy);
        state.map_or([Support::Unsupported; 2], |state| [state.of_writers(), state.of_readers()])
    }

    /// Returns the support of a policy: the weaker one of writers and of readers.
    #[must_use]
    pub fn support(&self, policy: Policy) -> Support {
        let [of_writers, of_readers] = self.support_of_ends(policy);
        of_writers.min(of_readers)
    }
}
