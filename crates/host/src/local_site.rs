//! Site on this host.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use control::MonotonicClock;
use results::{Environment, NoiseProbe, NoiseRule, Reference, RunningExperiment};

use crate::{
    agents::{
        cleanup,
        domain_claim::{DOMAIN, claim},
        log::AgentLog,
        process,
    },
    clocks::{client, responder::Responder, socket::read_clocks},
    machine::{
        counters::Counters,
        environment::{EnvironmentInputs, capture_environment},
        keep_awake::KeepAwake,
        loopback::{self, LoopbackCapacity},
        noise, presence,
        properties::capture_facts,
        reference, variables,
    },
    site::{Agent, DomainClaim, Guard, ReplySink, Site},
    values::{
        agent_command::AgentCommand,
        clock_exchange::{ClockClient, ClockExchange, ClockReading, ClockResponder},
        error::SiteError,
        facts::Facts,
        owner::Owner,
    },
};

/// Site on this host, owned by this process. Agents are child processes.
#[derive(Clone, Debug)]
pub struct LocalSite {
    /// Agent program.
    pub agent: PathBuf,
    owner: Owner,
}

impl LocalSite {
    /// Creates a site with the given agent program.
    #[must_use]
    pub fn new(agent: impl Into<PathBuf>) -> Self {
        Self { agent: agent.into(), owner: Owner::this_process() }
    }

    /// Measures what this host carries between processes. Blocks for about a third of a second.
    ///
    /// # Errors
    /// Returns an error if a loopback connection fails.
    pub fn loopback_capacity() -> std::io::Result<LoopbackCapacity> {
        loopback::measure()
    }

    /// Creates a site with the agent program from `$DDSMARK_AGENT`, or the one in the directory of this program.
    ///
    /// # Errors
    /// Returns an error if the agent program does not exist.
    pub fn find() -> Result<Self, SiteError> {
        let agent = match std::env::var_os("DDSMARK_AGENT") {
            Some(file) if !file.is_empty() => PathBuf::from(file),
            _ => std::env::current_exe()
                .map_err(|error| SiteError::Failed {
                    error: format!("cannot determine the path of this program: {error}"),
                    hint: None,
                })?
                .with_file_name("ddsmark-agent"),
        };
        if agent.is_file() {
            return Ok(Self::new(agent));
        }
        let hint = "install `ddsmark-agent` in the directory of `ddsmark`, or set DDSMARK_AGENT to its path";
        Err(SiteError::failed(format!("agent program `{}` not found", agent.display()), hint))
    }
}

impl Site for LocalSite {
    fn launch(
        &self,
        command: &AgentCommand,
        log: AgentLog,
        replies: ReplySink,
    ) -> Result<Box<dyn Agent>, SiteError> {
        Ok(Box::new(process::launch(&self.agent, command, log, replies)?))
    }

    fn facts(&self) -> Result<Facts, SiteError> {
        Ok(capture_facts())
    }

    fn environment(&self, inputs: &EnvironmentInputs) -> Result<Environment, SiteError> {
        Ok(capture_environment(&self.agent, inputs))
    }

    fn missing_file(&self, value: &str) -> Result<Option<PathBuf>, SiteError> {
        Ok(variables::missing_file(value))
    }

    fn probe(&self, cores: &[u32], rule: &NoiseRule) -> Result<Option<NoiseProbe>, SiteError> {
        Ok(noise::probe(cores, rule))
    }

    fn counters(&self, cores: &[u32]) -> Result<Counters, SiteError> {
        Ok(Counters::read(cores))
    }

    fn reference(
        &self,
        sender_cores: &[u32],
        receiver_cores: &[u32],
        length_ns: u64,
    ) -> Result<Reference, String> {
        reference::measure(sender_cores, receiver_cores, length_ns)
    }

    fn keep_awake(&self) -> Result<Guard, SiteError> {
        Ok(Box::new(KeepAwake::start()?))
    }

    fn claim_domain(&self, number: u32) -> Result<DomainClaim, SiteError> {
        Ok(claim(DOMAIN, number))
    }

    fn announce(&self, directory: &Path) -> Result<(RunningExperiment, Option<Guard>), SiteError> {
        let running = presence::running(&self.owner, directory);
        let hold = presence::announce(&self.owner, &running);
        Ok((running, hold))
    }

    fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError> {
        Ok(presence::announced())
    }

    fn owner(&self) -> Owner {
        self.owner.clone()
    }

    fn clean(&self, name: &str) {
        cleanup::remove(name);
    }

    fn sweep(&self) {
        cleanup::sweep(&self.owner.boot);
    }

    fn clock(&self) -> MonotonicClock {
        MonotonicClock::of_children()
    }

    fn clock_responder(&self, responder: &ClockResponder) -> Result<(SocketAddr, Guard), SiteError> {
        has_clock_of_agents()?;
        let (address, running) = Responder::start(responder).map_err(|error| cannot_compare(&error))?;
        Ok((address, Box::new(running)))
    }

    fn clock_exchange(&self, spec: &ClockClient) -> Result<Vec<ClockExchange>, SiteError> {
        has_clock_of_agents()?;
        client::exchange(spec).map_err(|error| cannot_compare(&error))
    }

    fn clock_reading(&self) -> Result<ClockReading, SiteError> {
        Ok(read_clocks())
    }
}

fn cannot_compare(error: &std::io::Error) -> SiteError {
    SiteError::Clock { error: error.to_string() }
}

/// Checks that this process reads the clock that its agents will read.
fn has_clock_of_agents() -> Result<(), SiteError> {
    if MonotonicClock::of_this_process() == MonotonicClock::of_children() {
        return Ok(());
    }
    Err(SiteError::Clock { error: "this process is in another time namespace than its agents".to_owned() })
}
