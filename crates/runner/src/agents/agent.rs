//! Agent of an agent set.

use control::Reply;
use experiment::{Endpoint, Variables};
use host::{AgentCommand, AgentLog, ChannelEnd, DriverFile, Site};

use crate::sites::Sites;

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

    /// Creates the process of these endpoints, each with its index in the run.
    pub(crate) fn of_endpoints(
        sites: &Sites<'a>,
        endpoints: &[(usize, &Endpoint)],
        variables: &Variables,
        padding_bytes: u32,
        log: AgentLog,
    ) -> Self {
        let (_, first) = endpoints[0];
        let host = sites.named(&first.place.host);
        let command = AgentCommand {
            driver: host.driver(&first.driver),
            variables: variables.clone(),
            padding_bytes,
            channels: u32::try_from(endpoints.len()).unwrap_or(u32::MAX),
        };
        Self {
            site: host.site,
            host: sites.are_several().then(|| host.name.clone()),
            endpoints: endpoints.iter().map(|(index, endpoint)| (*index, endpoint.id.clone())).collect(),
            command,
            log,
        }
    }
}
