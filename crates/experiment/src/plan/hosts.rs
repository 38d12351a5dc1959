//! Hosts of an experiment.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Pin,
    syntax::{host_spec::HostSpec, one_or_many::Located},
};

/// Host of an experiment. Agents run on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Unique name: letters, digits, `-`, `_` and `.`.
    pub name: Located<String>,
    /// Way to reach the host: `local` (this host), `ssh:[USER@]HOST[:PORT]`, or `netns:NAME`, a network namespace of
    /// this host.
    pub at: Located<HostSpec>,
    /// Network interface that leads to the other hosts, for `interface = "auto"`. Default: the one in the network that
    /// all hosts share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<Located<String>>,
}

/// Host of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedHost {
    /// Unique name.
    pub name: String,
    /// Way to reach it.
    pub at: HostSpec,
    /// Network interface that leads to the other hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// IPv4 addresses of its network interfaces, by which the others reach it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
    /// CPU cores of the endpoints on it, if they are not those of the design.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<Pin>,
}
