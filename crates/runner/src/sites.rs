//! Hosts of an experiment, as the runner uses them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
};

use experiment::{LOCAL_HOST, LinkSpec};
use host::{DriverFile, Guard, Owner, Site, SiteError};
use results::{LinkReading, LinkRecord, RunningExperiment};

use crate::error::RunnerError;

/// Links between the hosts of an experiment, which the runner sets before each run.
pub trait HostLinks: Sync {
    /// Sets the links for a run on some hosts, unless they are set already. Multicast reaches these hosts, and those of other
    /// runs that are not [released](Self::release). Returns the links as they are in effect, read back.
    ///
    /// # Errors
    /// Returns an error if they cannot be set or read, or if other links are in effect.
    fn set(&self, link: &LinkSpec, hosts: &[&str]) -> Result<LinkRecord, RunnerError>;

    /// Ends what [`Self::set`] began for a run on these hosts.
    fn release(&self, hosts: &[&str]);

    /// Returns the frames on the links, and the lateness of what emulates them, since they exist.
    ///
    /// # Errors
    /// Returns an error if the counters cannot be read.
    fn reading(&self) -> Result<LinkReading, RunnerError>;
}

/// Host of an experiment.
pub struct SiteHost<'a> {
    /// Name in the plan.
    pub name: String,
    /// Site on it.
    pub site: &'a dyn Site,
    /// Driver files on it, by driver name as in the factors; a pair of drivers has one entry per driver.
    pub files: BTreeMap<String, PathBuf>,
    /// Identity of its network, if it is known: hosts of one network share its domains.
    pub network: Option<String>,
}

impl SiteHost<'_> {
    /// Returns a driver on this host.
    ///
    /// # Panics
    /// Panics if [`SiteHost::files`] lacks the driver.
    pub(crate) fn driver(&self, name: &str) -> DriverFile {
        DriverFile { name: name.to_owned(), path: self.files[name].clone() }
    }
}

/// Hosts of an experiment, in the order of the plan. The first one is the reference host.
pub struct Sites<'a> {
    hosts: Vec<SiteHost<'a>>,
    /// Index of each host by name.
    names: BTreeMap<String, usize>,
    /// Index of the first host on the machine of each host.
    machines: Vec<usize>,
    /// Index of the first host in each network.
    networks: Vec<usize>,
    links: Option<&'a dyn HostLinks>,
}

impl<'a> Sites<'a> {
    /// Creates the hosts of an experiment.
    ///
    /// # Panics
    /// Panics if there is none.
    #[must_use]
    pub fn new(hosts: Vec<SiteHost<'a>>) -> Self {
        assert!(!hosts.is_empty(), "an experiment has a host");
        let names = hosts.iter().enumerate().map(|(index, host)| (host.name.clone(), index)).collect();
        let machines = firsts(hosts.iter().map(|host| host.site.clock().boot_id));
        let networks = firsts(hosts.iter().map(|host| host.network.clone()));
        let is_first = |(index, first): (usize, usize)| (index == first).then_some(index);
        let networks = networks.into_iter().enumerate().filter_map(is_first).collect();
        Self { hosts, names, machines, networks, links: None }
    }

    /// Returns the hosts with links between them that the runner sets.
    #[must_use]
    pub fn with_links(self, links: &'a dyn HostLinks) -> Self {
        Self { links: Some(links), ..self }
    }

    /// Sets the links for a run. Returns them as they are in effect; `None` if the runner does not set links.
    pub(crate) fn set_links(
        &self,
        link: Option<&LinkSpec>,
        hosts: &[&str],
    ) -> Result<Option<LinkRecord>, RunnerError> {
        self.links.zip(link).map(|(links, link)| links.set(link, hosts)).transpose()
    }

    /// Ends what [`Self::set_links`] began for a run.
    pub(crate) fn release_links(&self, link: Option<&LinkSpec>, hosts: &[&str]) {
        if let Some((links, _)) = self.links.zip(link) {
            links.release(hosts);
        }
    }

    /// Returns the counters of the links so far. `None` if the links of the run drop none by themselves, so that a run on them
    /// does not wait for the counters, or if the counters cannot be read.
    pub(crate) fn link_reading(&self, link: Option<&LinkSpec>) -> Option<LinkReading> {
        let drops =
            |link: &&LinkSpec| link.rate_bit_per_s.is_some() || link.delay_ns > 0 || link.loss_ppm > 0;
        self.links.zip(link.filter(drops)).and_then(|(links, _)| links.reading().ok())
    }

    /// Creates the only host of an experiment.
    #[must_use]
    pub fn alone(site: &'a dyn Site, files: BTreeMap<String, PathBuf>) -> Self {
        Self::new(vec![SiteHost { name: LOCAL_HOST.to_owned(), site, files, network: None }])
    }

    /// Returns all hosts.
    #[must_use]
    pub fn hosts(&self) -> &[SiteHost<'a>] {
        &self.hosts
    }

    /// Returns whether there are several hosts, which messages then name.
    #[must_use]
    pub fn are_several(&self) -> bool {
        self.hosts.len() > 1
    }

    /// Returns the reference host.
    #[must_use]
    pub fn first(&self) -> &SiteHost<'a> {
        &self.hosts[0]
    }

    /// Returns the host with this name.
    ///
    /// # Panics
    /// Panics if there is none; a plan names its own hosts.
    #[must_use]
    pub fn named(&self, name: &str) -> &SiteHost<'a> {
        &self.hosts[*self.names.get(name).expect("a host of the plan")]
    }

    /// Returns the name of the first host on the same machine as the one with this index, if that is another one. Hosts
    /// whose kernel is unknown are on machines of their own.
    #[must_use]
    pub fn machine_of(&self, host: usize) -> Option<&str> {
        let first = self.machines[host];
        (first != host).then(|| self.hosts[first].name.as_str())
    }

    /// Returns the index of the first host on the machine of a host.
    pub(crate) fn first_on_machine(&self, host: usize) -> usize {
        self.machines[host]
    }

    /// Calls `of` for the first host of each machine, on all machines at the same time. Returns the results host by host;
    /// the other hosts of a machine have none.
    pub(crate) fn on_each_machine<T: Send>(
        &self,
        of: impl Fn(usize, &SiteHost<'a>) -> Result<T, SiteError> + Sync,
    ) -> Result<Vec<Option<T>>, SiteError> {
        let machines: Vec<usize> =
            (0..self.hosts.len()).filter(|host| self.machines[*host] == *host).collect();
        let mut results: Vec<Option<T>> = self.hosts.iter().map(|_| None).collect();
        if let [only] = machines[..] {
            results[only] = Some(of(only, &self.hosts[only])?);
            return Ok(results);
        }
        let found: Vec<(usize, Result<T, SiteError>)> = thread::scope(|scope| {
            let of = &of;
            let started: Vec<_> = machines
                .iter()
                .map(|&host| (host, scope.spawn(move || of(host, &self.hosts[host]))))
                .collect();
            let join = |(host, thread): (usize, thread::ScopedJoinHandle<'_, Result<T, SiteError>>)| {
                (host, thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            };
            started.into_iter().map(join).collect()
        });
        for (host, result) in found {
            results[host] = Some(result?);
        }
        Ok(results)
    }

    /// Announces the experiment with this result directory on all machines. Returns it as others see it, and what ends the
    /// announcement when it is dropped.
    pub(crate) fn announce(
        &self,
        directory: &Path,
    ) -> Result<Vec<(RunningExperiment, Option<Guard>)>, SiteError> {
        let announced = self.on_each_machine(|_, host| host.site.announce(directory))?;
        Ok(announced.into_iter().flatten().collect())
    }

    /// Returns the experiments that are announced on the machines, this one included.
    pub(crate) fn announced(&self) -> Result<Vec<RunningExperiment>, SiteError> {
        let announced = self.on_each_machine(|_, host| host.site.announced())?;
        Ok(announced.into_iter().flatten().flatten().collect())
    }

    /// Keeps the cores of all machines awake.
    pub(crate) fn keep_awake(&self) -> Result<Vec<Guard>, SiteError> {
        let holds = self.on_each_machine(|_, host| host.site.keep_awake())?;
        Ok(holds.into_iter().flatten().collect())
    }

    /// Returns the owners of the names of runs.
    pub(crate) fn owners(&self) -> Vec<Owner> {
        self.hosts.iter().map(|host| host.site.owner()).collect()
    }

    /// Returns one site of each network: a domain is reserved there once.
    pub(crate) fn networks(&self) -> Vec<&'a dyn Site> {
        self.networks.iter().map(|host| self.hosts[*host].site).collect()
    }

    /// Removes the files of a run on all hosts.
    pub(crate) fn clean(&self, name: &str) {
        self.hosts.iter().for_each(|host| host.site.clean(name));
    }

    /// Removes the files of owners that no longer exist, on all hosts.
    pub(crate) fn sweep(&self) {
        self.hosts.iter().for_each(|host| host.site.sweep());
    }
}

/// Returns the index of the first host with the same value for each host. Hosts whose value is unknown have nothing in
/// common.
fn firsts(values: impl Iterator<Item = Option<String>>) -> Vec<usize> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let first = |(index, value): (usize, Option<String>)| match value {
        Some(value) => *known.entry(value).or_insert(index),
        None => index,
    };
    values.enumerate().map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_have_nothing_in_common() {
        let values = [Some("a"), None, Some("b"), Some("a"), None, Some("b")];
        let values = values.map(|value| value.map(ToOwned::to_owned));
        assert_eq!(firsts(values.into_iter()), [0, 1, 2, 0, 4, 2]);
    }
}
