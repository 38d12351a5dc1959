//! Hosts of an experiment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::syntax::{host_spec::HostSpec, one_or_many::Located};

/// Host of an experiment. Agents run on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Unique name: letters, digits, `-`, `_` and `.`. The hosts of `slurm` have the names of the nodes instead.
    pub name: Located<String>,
    /// Way to reach the host: `local` (this host), `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, a network namespace of this
    /// host, or `slurm[:NODE]`, a node of the allocation of Slurm that ddsmark runs in, or each of its nodes.
    pub at: Located<HostSpec>,
    /// Network interface that leads to the other hosts, for `interface = "auto"`. Default: the one in the network that
    /// all hosts share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<Located<String>>,
}
