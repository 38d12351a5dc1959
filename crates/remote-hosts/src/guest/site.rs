//! Site of a guest.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use control::MonotonicClock;
use experiment::{Plan, Variables};
use host::{
    Agent, AgentCommand, AgentLog, ClockClient, ClockExchange, ClockReading, ClockResponder, Counters,
    DomainClaim, DriverFile, EnvironmentInputs, Facts, Guard, Owner, ReplySink, Site, SiteError,
};
use results::{Environment, NoiseProbe, NoiseRule, Reference, RunningExperiment};

use super::{
    agent::{GuestAgent, Place, Replies, Taken},
    at_most, forbidden,
    observer::GuestObserver,
    terms::GuestTerms,
};

/// Maximum padding of the environment of an agent in bytes: the runner pads by less.
const MAX_PADDING_BYTES: u32 = 4096;
/// Maximum number of cores of one request.
const MAX_CORES: usize = 4096;
/// Maximum duration of a clock exchange, of a responder, and number of packets and responders.
const MAX_EXCHANGE: Duration = Duration::from_secs(10);
const MAX_RESPONDER: Duration = Duration::from_secs(30);
const MAX_PACKETS: u32 = 1_000;
const MAX_RESPONDERS: usize = 4;
/// Group of the environment variables in an environment, and the text for a value that is not shown.
const VARIABLES: &str = "variable";
const NOT_SHOWN: &str = "(set, not shown)";

/// Site of a process that lets a leader control its agent, and does not trust it. `S` starts the agent.
///
/// Calls that concern the noise, the domains and the announcements of the host have no effect.
pub struct GuestSite<S> {
    site: S,
    driver: DriverFile,
    terms: Arc<GuestTerms>,
    observer: Arc<dyn GuestObserver>,
    agents: Taken,
    responders: Taken,
}

impl<S: Site> GuestSite<S> {
    /// Creates a guest with its own driver, and removes the files of owners that no longer exist.
    pub fn new(site: S, driver: DriverFile, terms: GuestTerms, observer: Arc<dyn GuestObserver>) -> Self {
        site.sweep();
        let (agents, responders) = Default::default();
        Self { site, driver, terms: Arc::new(terms), observer, agents, responders }
    }

    /// Checks that a clock is compared over the interface of the guest.
    fn check_interface(&self, interface: &str) -> Result<(), SiteError> {
        if interface == self.terms.interface {
            return Ok(());
        }
        let error = format!("the interface of this host is `{}`, not `{interface}`", self.terms.interface);
        Err(SiteError::Clock { error })
    }
}

impl<S: Site> Site for GuestSite<S> {
    fn launch(
        &self,
        command: &AgentCommand,
        log: AgentLog,
        replies: ReplySink,
    ) -> Result<Box<dyn Agent>, SiteError> {
        let AgentCommand { driver: _, variables: _, padding_bytes, channels } = *command;
        if channels != 1 {
            return Err(forbidden("an agent with several endpoints"));
        }
        let most = u64::from(MAX_PADDING_BYTES);
        at_most("the padding of the environment in bytes", u64::from(padding_bytes), most)?;
        let place = Place::take(&self.agents, 1).ok_or_else(|| forbidden("a second agent"))?;
        let (driver, variables) = (self.driver.clone(), Variables::new());
        let command = AgentCommand { driver, variables, padding_bytes, channels };
        let replies = Replies::new(replies, Arc::clone(&self.observer));
        let agent = self.site.launch(&command, log, replies.sink())?;
        let (terms, rejected) = (Arc::clone(&self.terms), AtomicBool::new(false));
        Ok(Box::new(GuestAgent { agent, replies, terms, rejected, _place: place }))
    }

    fn facts(&self) -> Result<Facts, SiteError> {
        self.site.facts()
    }

    /// Captures the environment without files of the leader's choice, and without the values of variables.
    fn environment(&self, inputs: &EnvironmentInputs) -> Result<Environment, SiteError> {
        let own_file = |name: &String| (name.clone(), self.driver.path.clone());
        let inputs = EnvironmentInputs {
            host: self.site.facts()?.host,
            // The variables and options of its cells name files.
            experiment: Plan { cells: Vec::new(), ..inputs.experiment.clone() },
            interfaces: [self.terms.interface.clone()].into(),
            files: inputs.descriptions.keys().map(own_file).collect(),
            libraries: BTreeMap::new(),
            ..inputs.clone()
        };
        let Environment { mut fields, .. } = self.site.environment(&inputs)?;
        if let Some(variables) = fields.get_mut(VARIABLES) {
            // `NAME/path` is a file that a value names.
            variables.retain(|name, _| !name.contains('/'));
            variables.values_mut().for_each(|value| NOT_SHOWN.clone_into(value));
        }
        Ok(Environment::new(fields))
    }

    fn missing_file(&self, _value: &str) -> Result<Option<PathBuf>, SiteError> {
        Ok(None)
    }

    fn probe(&self, _cores: &[u32], _rule: &NoiseRule) -> Result<Option<NoiseProbe>, SiteError> {
        Ok(None)
    }

    fn counters(&self, cores: &[u32]) -> Result<Counters, SiteError> {
        self.site.counters(&cores[..cores.len().min(MAX_CORES)])
    }

    fn reference(&self, _sender: &[u32], _receiver: &[u32], _length_ns: u64) -> Result<Reference, String> {
        Err("a guest measures no reference".to_owned())
    }

    fn keep_awake(&self) -> Result<Guard, SiteError> {
        Ok(Box::new(()))
    }

    fn claim_domain(&self, _number: u32) -> Result<DomainClaim, SiteError> {
        Ok(DomainClaim::Unsupported)
    }

    fn announce(&self, _directory: &Path) -> Result<(RunningExperiment, Option<Guard>), SiteError> {
        let (directory, since) = (String::new(), String::new());
        Ok((RunningExperiment { pid: self.site.owner().pid, directory, since }, None))
    }

    fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError> {
        Ok(Vec::new())
    }

    fn owner(&self) -> Owner {
        self.site.owner()
    }

    /// Removes the files of a run of this process; those of other names stay.
    fn clean(&self, name: &str) {
        if self.site.owner().owns(name) {
            self.site.clean(name);
        }
    }

    /// Has no effect: the guest has removed what ended processes left behind when it was created.
    fn sweep(&self) {}

    fn clock(&self) -> MonotonicClock {
        self.site.clock()
    }

    fn clock_responder(&self, responder: &ClockResponder) -> Result<(SocketAddr, Guard), SiteError> {
        self.check_interface(&responder.interface)?;
        let place = Place::take(&self.responders, MAX_RESPONDERS)
            .ok_or_else(|| forbidden("many responders of clock exchanges"))?;
        let limit = responder.limit.min(MAX_RESPONDER);
        let (address, running) = self.site.clock_responder(&ClockResponder { limit, ..responder.clone() })?;
        Ok((address, Box::new((running, place))))
    }

    fn clock_exchange(&self, client: &ClockClient) -> Result<Vec<ClockExchange>, SiteError> {
        self.check_interface(&client.interface)?;
        let (count, limit) = (client.count.min(MAX_PACKETS), client.limit.min(MAX_EXCHANGE));
        self.site.clock_exchange(&ClockClient { count, limit, ..client.clone() })
    }

    fn clock_reading(&self) -> Result<ClockReading, SiteError> {
        self.site.clock_reading()
    }
}
