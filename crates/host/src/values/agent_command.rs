//! Parameters of an agent.

use std::path::PathBuf;

use experiment::Variables;
use serde::{Deserialize, Serialize};

/// Driver on the host of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverFile {
    /// Name, as requested.
    pub name: String,
    /// Absolute path of the shared library on that host.
    pub path: PathBuf,
}

/// Parameters of an agent to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCommand {
    /// Driver to load.
    pub driver: DriverFile,
    /// Environment variables to set; `None` removes one. Others are inherited.
    pub variables: Variables,
    /// Number of bytes by which the environment is padded.
    pub padding_bytes: u32,
    /// Number of control channels: one for each endpoint in the process of the agent, at least 1.
    pub channels: u32,
}
