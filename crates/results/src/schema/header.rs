//! Header of a result directory.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Environment, Host, SCHEMA_VERSION, Tool, Warning};

/// Header of a result: everything known before the first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultHeader {
    /// Version of the schema.
    pub schema_version: u32,
    /// Program that measures.
    pub tool: Tool,
    /// Host that is measured on, and its state at the start.
    pub host: Host,
    /// Plan of the experiment: cells, design and settings.
    pub experiment: Plan,
    /// Description that each driver reports about itself, by its name in the factors.
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Properties of host and software that can affect the values.
    pub environment: Environment,
    /// Warnings known before measuring that apply to the whole result.
    pub warnings: Vec<Warning>,
}

impl ResultHeader {
    /// Creates a header with the current version of the schema.
    #[must_use]
    pub const fn new(
        tool: Tool,
        host: Host,
        environment: Environment,
        experiment: Plan,
        drivers: BTreeMap<String, DriverDescription>,
        warnings: Vec<Warning>,
    ) -> Self {
        Self { schema_version: SCHEMA_VERSION, tool, host, experiment, drivers, environment, warnings }
    }
}
