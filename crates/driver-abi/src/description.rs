//! Driver descriptions.

use std::collections::BTreeMap;

use crate::{policies::Policy, words::words};

words! {
    /// Type kind of samples.
    #[derive(Default)]
    TypeKind: u32 {
        /// `sequence<octet>`.
        #[default]
        Octets = TYPE_OCTETS, "octets";
        /// `sequence<octet>` with a key.
        Keyed = TYPE_KEYED, "keyed";
        /// Fixed-size array, for loans.
        Plain = TYPE_PLAIN, "plain";
    }
}
words! {
    /// Receive mode of a reader.
    #[derive(Hash)]
    ReceiveMode: u32 {
        /// A thread sleeps in a waitset until data arrives.
        Waitset = RECEIVE_WAITSET, "waitset";
        /// A thread polls in a loop.
        Polling = RECEIVE_POLLING, "polling";
        /// The middleware calls back from one of its threads.
        Listener = RECEIVE_LISTENER, "listener";
    }
}
words! {
    /// Level of support of a policy, weakest first.
    Support: u32 {
        /// Requests are rejected.
        Unsupported = SUPPORT_UNSUPPORTED, "unsupported";
        /// Accepted without effect.
        Ignored = SUPPORT_IGNORED, "ignored";
        /// Affects only whether writer and reader match.
        MatchedOnly = SUPPORT_MATCHED_ONLY, "matched_only";
        /// May change how samples are delivered, but not which ones.
        Hint = SUPPORT_HINT, "hint";
        /// Acts only with an additional process or store.
        NeedsService = SUPPORT_NEEDS_SERVICE, "needs_service";
        /// Changes behaviour as DDS specifies.
        Enforced = SUPPORT_ENFORCED, "enforced";
    }
}

/// Description of a driver and of the middleware behind it, as `ddsmark drivers info` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub kept_threads: Vec<String>,
    /// Environment variables that the middleware reads; `NAME*` stands for all that begin so.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub variables: Vec<String>,
}

/// Transport of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransportInfo {
    /// Name, such as `udp4`, `tcp4` or `shm`.
    pub name: String,
    /// Maximum payload in bytes.
    pub max_payload_bytes: u64,
    /// Remark for the user.
    pub note: Option<String>,
}

/// Driver-specific option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionInfo {
    /// Name of the option.
    pub name: String,
    /// Default value; absent if the middleware decides.
    pub default_value: Option<String>,
    /// Description of the option.
    pub help: String,
}

/// Support of a policy by a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicySupport {
    /// Level of support; if `of_writers` is there, of readers only.
    support: Support,
    /// Level of support of writers, if it differs from that of readers.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    of_writers: Option<Support>,
    /// Remark for the user.
    pub note: Option<String>,
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
