//! Hosts of an experiment.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::syntax::{host_spec::HostSpec, one_or_many::Located};

/// Host of an experiment, or the hosts of a lab. Agents run on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Unique name: letters, digits, `-`, `_` and `.`. Not for `lab:N`, whose hosts are `h1`, `h2` and so on, and not for
    /// `slurm`, whose hosts have the names of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Located<String>>,
    /// Way to reach the host: `local` (this host), `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, a network namespace of this
    /// host, or `slurm[:NODE]`, a node of the allocation of Slurm that ddsmark runs in, or each of its nodes.
    /// `lab:N` creates N virtual hosts with links, and removes them at the end:
    /// `lab:4,rate=100mbit,delay=1ms,loss=0.1%,mtu=1500`, of which all but the number may be left out. A lab needs root, and
    /// is the only entry.
    pub at: Located<HostSpec>,
    /// Network interface that leads to the other hosts, for `interface = "auto"`. Default: the one in the network that
    /// all hosts share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<Located<String>>,
}
