//! Header of a result directory.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Plan};
use serde::{Deserialize, Serialize};

use crate::schema::{
    host::{self, Host, HostRecord},
    result_document::{SCHEMA_VERSION, Tool},
    warning::Warning,
};

/// Header of a result: everything known before the first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultHeader {
    /// Version of the schema.
    pub schema_version: u32,
    /// Program that measures.
    pub tool: Tool,
    /// Hosts that are measured on, the reference host first.
    pub hosts: Vec<HostRecord>,
    /// Plan of the experiment: cells, design and settings.
    pub experiment: Plan,
    /// Description that each driver reports about itself, by its name in the factors.
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Warnings known before measuring that apply to the whole result.
    pub warnings: Vec<Warning>,
}

impl ResultHeader {
    /// Creates a header with the current version of the schema.
    #[must_use]
    pub const fn new(
        tool: Tool,
        hosts: Vec<HostRecord>,
        experiment: Plan,
        drivers: BTreeMap<String, DriverDescription>,
        warnings: Vec<Warning>,
    ) -> Self {
        Self { schema_version: SCHEMA_VERSION, tool, hosts, experiment, drivers, warnings }
    }

    /// Returns the properties of the first host.
    #[must_use]
    pub fn host(&self) -> &Host {
        host::first(&self.hosts)
    }
}
