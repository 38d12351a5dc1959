//! Section `[limits]` of an experiment file.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::syntax::{one_or_many::Located, units::Time};

/// Maximum duration of each phase of a run, 1 ms to 1 hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsSection {
    /// From the start of an agent process to its first message. Default `10s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello: Option<Located<Time>>,
    /// Opening of the DDS entities. Default `20s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configure: Option<Located<Time>>,
    /// From the opened entities until writer and reader match. Default `10s`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<Located<Time>>,
    /// Additional time of a traffic phase, beyond its planned duration. Default `10s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<Located<Time>>,
    /// From the last write until the reader stops waiting for samples. Default `5s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<Located<Time>>,
    /// Transfer of the agents' records. Default `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Located<Time>>,
    /// From the request to exit until the process is killed. Default `5s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<Located<Time>>,
    /// Minimum time without an echo after which a ping is lost; at least 100 times the median of the warm-up. Default `200ms`
    /// and the delay of the links of a lab. Set it for longer paths between hosts: a ping that is late does not fail the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ping: Option<Located<Time>>,
}
