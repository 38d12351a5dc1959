//! Agent of an agent set.

use control::Reply;
use experiment::Variables;
use host::{AgentCommand, AgentLog, ChannelEnd, DriverFile, Site};

/// Event that an agent set waits for.
#[derive(Debug)]
pub(crate) enum Event {
    /// Reply of the agent with this index, or the end of its channel.
    Reply(usize, Result<Box<Reply>, ChannelEnd>),
    /// Stop request.
    Stop,
}

/// Specification of a process to start, with an agent for each of its endpoints.
pub(crate) struct AgentSpec<'a> {
    /// Site that starts it.
    pub(crate) site: &'a dyn Site,
    /// Name of its host, if there are several.
    pub(crate) host: Option<String>,
    /// Its endpoints, for a process of a run: the index of each in the run, and its id.
    pub(crate) endpoints: Vec<(usize, String)>,
    pub(crate) command: AgentCommand,
    pub(crate) log: AgentLog,
}

impl<'a> AgentSpec<'a> {
    /// Creates a process of one agent, without an endpoint and without variables of its own.
    pub(crate) const fn alone(site: &'a dyn Site, driver: DriverFile, log: AgentLog) -> Self {
        let command = AgentCommand { driver, variables: Variables::new(), padding_bytes: 0, channels: 1 };
        Self { site, host: None, endpoints: Vec::new(), command, log }
    }
}
