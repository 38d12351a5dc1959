//! Agent of an agent set.

use control::Reply;
use experiment::Variables;
use site::{AgentCommand, AgentLog, ChannelEnd, DriverFile, Site};

/// Event that an agent set waits for.
#[derive(Debug)]
pub(crate) enum Event {
    /// Reply of the agent with this index, or the end of its channel.
    Reply(usize, Result<Box<Reply>, ChannelEnd>),
    /// Stop request.
    Stop,
}

/// Specification of an agent to start.
pub(crate) struct AgentSpec<'a> {
    /// Site that starts it.
    pub(crate) site: &'a dyn Site,
    /// Name of its host, if there are several.
    pub(crate) host: Option<String>,
    /// Id of its endpoint, for an agent of a run.
    pub(crate) endpoint: Option<String>,
    pub(crate) command: AgentCommand,
    pub(crate) log: AgentLog,
}

impl<'a> AgentSpec<'a> {
    /// Creates an agent without an endpoint and without variables of its own.
    pub(crate) const fn alone(site: &'a dyn Site, driver: DriverFile, log: AgentLog) -> Self {
        let command = AgentCommand { driver, variables: Variables::new(), padding_bytes: 0 };
        Self { site, host: None, endpoint: None, command, log }
    }
}
