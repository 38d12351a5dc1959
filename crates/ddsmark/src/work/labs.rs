//! Virtual hosts of an experiment: created before it, and removed after it.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use experiment::{LabSpec, LinkSpec};
use lab::{HostCounters, Lab, LabError};
use remote_hosts::{StewardCommand, lab_steward};
use results::{LinkFrames, LinkReading, LinkRecord};
use runner::{HostLinks, RunnerError};

/// Lab of an experiment. It is removed when the value is dropped; if this process is killed, by the next lab.
pub struct ExperimentLab(Mutex<State>);

struct State {
    lab: Lab,
    /// Links as requested, and as they were read back. `None`: not read yet.
    links: Option<(LinkSpec, LinkRecord)>,
    /// Number of current runs on each host.
    runs: BTreeMap<String, usize>,
}

impl ExperimentLab {
    /// Creates a lab.
    pub fn create(spec: &LabSpec) -> Result<Self, LabError> {
        Ok(Self(Mutex::new(State { lab: Lab::up(spec)?, links: None, runs: BTreeMap::new() })))
    }

    /// Returns its hosts.
    pub fn hosts(&self) -> Vec<lab::Host> {
        self.state().lab.hosts().to_vec()
    }

    /// Returns the way to start a steward on a host of the lab, with this agent.
    pub fn steward(&self, host: &str, program: &Path, agent: &Path) -> Result<StewardCommand, LabError> {
        let state = self.state();
        let mut steward = lab_steward(state.lab.host(host)?, program);
        let (usual, agent) = (Arc::clone(&steward.command), agent.to_owned());
        steward.command = Arc::new(move || {
            let mut command = usual();
            command.env("DDSMARK_AGENT", &agent);
            command
        });
        Ok(steward)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // After a panic of another run, the links are read again.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostLinks for ExperimentLab {
    fn set(&self, link: &LinkSpec, hosts: &[&str]) -> Result<LinkRecord, RunnerError> {
        let mut state = self.state();
        let State { lab, runs, .. } = &mut *state;
        for host in hosts {
            *runs.entry((*host).to_owned()).or_default() += 1;
        }
        lab.set_members(runs.keys().map(String::as_str)).map_err(|error| links_error(&error))?;
        if let Some((known, record)) = state.links.take().filter(|(known, _)| known == link) {
            state.links = Some((known, record.clone()));
            return Ok(record);
        }
        state.lab.set_link(link).map_err(|error| links_error(&error))?;
        let effective = state.lab.read_link().map_err(|error| links_error(&error))?;
        if effective != *link {
            let lab = |link: LinkSpec| LabSpec { hosts: state.lab.record().spec.hosts, link };
            let error = format!("the links are `{}` instead of `{}`", lab(effective), lab(*link));
            let hint = Some("check whether another program changes the network of the lab".to_owned());
            return Err(RunnerError::Failed { error, hint });
        }
        let record = LinkRecord::new(&effective);
        state.links = Some((*link, record.clone()));
        Ok(record)
    }

    fn release(&self, hosts: &[&str]) {
        let runs = &mut self.state().runs;
        for host in hosts {
            if let Some(count) = runs.get_mut(*host) {
                *count -= 1;
            }
        }
        runs.retain(|_, count| *count > 0);
    }

    fn reading(&self) -> Result<LinkReading, RunnerError> {
        let state = self.state();
        let counters = state.lab.counters().map_err(|error| links_error(&error))?;
        let sum = |of: fn(&HostCounters) -> u64| counters.hosts.iter().map(of).sum();
        let frames = LinkFrames {
            sent: sum(|host| host.sent),
            lost: sum(HostCounters::lost),
            queue_drops: sum(|host| host.rate_out + host.rate_in + host.switch_out + host.switch_in),
            interface_drops: sum(|host| host.interface),
        };
        Ok(LinkReading { frames, lateness: state.lab.lateness() })
    }
}

fn links_error(error: &LabError) -> RunnerError {
    RunnerError::Failed { error: error.to_string(), hint: Some(error.hint()) }
}
