//! Hosts of an experiment: their connections, properties and drivers.

use std::{collections::BTreeMap, process::Command, sync::Arc};

use experiment::{HostFlag, HostSpec, LOCAL_HOST, Limits, Pin, PinChoice, PlannedHost};
use host::{DriverFile, Facts, InterfaceAddress, Site, SiteError, common_interfaces};
use remote_hosts::{
    StewardCommand, StewardSite,
    remote::{RemoteShell, deploy, probe::Probe},
    slurm::Allocation,
    ssh::{SshProgram, SshShell},
};
use runner::{RunnerError, SiteHost, Sites, inspect};

use super::{
    bundles::{Bundles, this_program},
    drivers::Drivers,
    host_entries::{ExpandedHosts, NamedHost},
    labs::ExperimentLab,
    local::Local,
};
use crate::cli::{
    cli_error::{CliError, Result},
    output::note,
};

/// Returns the CPU cores to pin to. Rejects cores that are not available.
pub fn pin(choice: &PinChoice, facts: &Facts) -> Result<Pin, SiteError> {
    match choice {
        PinChoice::None => Ok(Pin::None),
        PinChoice::Cores(writer, reader) => {
            facts.check_cores(&[writer.as_slice(), reader.as_slice()].concat())?;
            Ok(Pin::Cores(writer.clone(), reader.clone()))
        }
        // Each endpoint has its own cores. Otherwise the scheduler may place both on one core in some runs, which
        // dominates the results.
        PinChoice::Auto => match &facts.cores {
            cores if cores.len() < 2 => Ok(Pin::None),
            cores => {
                let (writer, reader) = cores.split_at(cores.len() / 2);
                Ok(Pin::Cores(writer.to_vec(), reader.to_vec()))
            }
        },
    }
}

/// Host that is ready to run agents.
pub struct ConnectedHost {
    /// Name in the experiment.
    pub name: String,
    /// Way to reach it.
    pub at: HostSpec,
    /// Interface to the other hosts, if it is given.
    pub interface: Option<String>,
    /// Site on it.
    pub site: Box<dyn Site>,
    /// Facts about it.
    pub facts: Facts,
    /// Drivers on it, with their descriptions there.
    pub drivers: Drivers,
    /// Preparation of a host to which programs are copied.
    pub copied: Option<Copied>,
}

/// Answer of a host to which programs are copied, and the size of the copy.
pub struct Copied {
    /// Answer of the host.
    pub probe: Probe,
    /// Number of copied bytes; `None` if an installed ddsmark is used.
    pub bytes: Option<u64>,
}

/// Connects hosts one after the other.
pub struct Connector<'a> {
    local: &'a Local,
    drivers: &'a Drivers,
    /// Lab that has the virtual hosts.
    lab: Option<&'a ExperimentLab>,
    bundles: Option<Bundles>,
}

impl<'a> Connector<'a> {
    /// Creates a connector for hosts that need these drivers of this host.
    pub const fn new(local: &'a Local, drivers: &'a Drivers) -> Self {
        Self { local, drivers, lab: None, bundles: None }
    }

    /// Connects to a host, and loads each driver there once.
    pub fn connect(&mut self, host: NamedHost) -> Result<ConnectedHost> {
        let NamedHost { name, at, interface } = host;
        if self.local.stop.requested() {
            return Err(RunnerError::Stopped.into());
        }
        let mut copied = None;
        let (site, files): (Box<dyn Site>, BTreeMap<String, DriverFile>) = match &at {
            HostSpec::Local => (Box::new(self.local.site.clone()), self.own_files()),
            HostSpec::Netns(namespace) => {
                let command = self.in_namespace(&name, namespace)?;
                (Box::new(StewardSite::start(command)?), self.own_files())
            }
            HostSpec::Lab(_) => {
                let lab = self.lab.expect("an experiment with virtual hosts has a lab");
                let command = lab.steward(&name, &this_program()?, &self.local.site.agent)?;
                (Box::new(StewardSite::start(command)?), self.own_files())
            }
            HostSpec::Peer(peer) => {
                let error = format!(
                    "host `{name}`: `{peer}` is a process of `ddsmark perftest`, which starts by itself"
                );
                let hint = format!("use {}", HostSpec::EXPECTED);
                return Err(CliError::usage(error, hint));
            }
            HostSpec::Ssh(_) | HostSpec::Slurm(_) => {
                let (site, files, how) = self.deployed(&name, &shell(&name, &at)?)?;
                copied = Some(how);
                (Box::new(site), files)
            }
        };
        let facts = site.facts()?;
        let drivers = match at {
            HostSpec::Local => self.drivers.clone(),
            _ => self.inspected(&name, &*site, &files)?,
        };
        Ok(ConnectedHost { name, at, interface, site, facts, drivers, copied })
    }

    fn own_files(&self) -> BTreeMap<String, DriverFile> {
        let file = |(name, path): (&String, &std::path::PathBuf)| {
            (name.clone(), DriverFile { name: name.clone(), path: path.clone() })
        };
        self.drivers.files.iter().map(file).collect()
    }

    /// Returns the command of a steward in a network namespace of this host.
    fn in_namespace(&self, host: &str, namespace: &str) -> Result<StewardCommand> {
        let (program, agent) = (this_program()?, self.local.site.agent.clone());
        let namespace = namespace.to_owned();
        let mut command = StewardCommand::new(host, move || {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", &namespace]).arg(&program).arg("steward");
            command.env("DDSMARK_AGENT", &agent);
            command
        });
        command.explain = |lines| {
            let missing = lines.iter().find(|line| line.contains("network namespace"))?;
            let hint = "list the namespaces with `ip netns list`; entering one needs root".to_owned();
            Some((missing.clone(), hint))
        };
        Ok(command)
    }

    /// Copies programs and drivers to a host, and starts a steward there.
    fn deployed(
        &mut self,
        host: &str,
        shell: &Arc<dyn RemoteShell>,
    ) -> Result<(StewardSite, BTreeMap<String, DriverFile>, Copied)> {
        let bundles = match &mut self.bundles {
            Some(bundles) => bundles,
            none => none.insert(Bundles::of(&self.local.site, self.drivers)?),
        };
        let deployment = deploy(host, shell, &bundles.programs, &bundles.drivers)?;
        if let Some(line) = deployment.noise.last() {
            note(&format!("note: host `{host}`: its shell prints text, which is skipped: `{line}`"));
        }
        let copied = Copied { probe: deployment.probe, bytes: deployment.copied_bytes };
        Ok((StewardSite::start(deployment.steward)?, deployment.drivers, copied))
    }

    /// Returns the drivers of a host, each loaded there once. Names versions that differ from those of this host.
    fn inspected(
        &self,
        host: &str,
        site: &dyn Site,
        files: &BTreeMap<String, DriverFile>,
    ) -> Result<Drivers> {
        let mut drivers = Drivers { names: self.drivers.names.clone(), ..Drivers::default() };
        for (name, file) in files {
            let (description, libraries) = inspect(site, file, &Limits::default(), &self.local.stop)
                .map_err(|error| about(host, error))?;
            let own = &self.drivers.descriptions[name];
            if !description.is_installed() {
                let error = format!("host `{host}`: the middleware of driver `{name}` is not installed");
                let hint = format!(
                    "install it on the host, or use a driver that brings it; see `ddsmark drivers info {name}`"
                );
                return Err(CliError::usage(error, hint));
            }
            let version = |of: &experiment::DriverDescription| {
                format!("{} {} (driver {})", of.middleware, of.middleware_version, of.driver_version)
            };
            if version(&description) != version(own) {
                note(&format!(
                    "note: host `{host}` has {} for driver `{name}`, this host has {}",
                    version(&description),
                    version(own)
                ));
            }
            drivers.add(file.clone(), (description, libraries));
        }
        for (name, own) in &self.drivers.descriptions {
            // Descriptions of pairs follow from those of their drivers.
            drivers.descriptions.entry(name.clone()).or_insert_with(|| own.clone());
        }
        Ok(drivers)
    }
}

/// Returns the shell of a host that has one.
fn shell(host: &str, at: &HostSpec) -> Result<Arc<dyn RemoteShell>> {
    match at {
        HostSpec::Ssh(target) => Ok(Arc::new(SshShell::new(SshProgram::from_environment(), target.clone()))),
        HostSpec::Slurm(Some(node)) => Ok(Allocation::current(host)?.shell(host, node)?),
        _ => {
            let error = format!("host `{host}`: `{at}` has no shell");
            Err(CliError::usage(error, format!("use {}", HostSpec::EXPECTED)))
        }
    }
}

/// Adds the host to an error.
fn about(host: &str, error: RunnerError) -> CliError {
    match error {
        RunnerError::Site(error @ (SiteError::Lost { .. } | SiteError::NoAnswer { .. })) => error.into(),
        RunnerError::Stopped => RunnerError::Stopped.into(),
        error => CliError::from(error).on_host(host),
    }
}

/// Hosts of an experiment, all connected.
pub struct Hosts {
    /// The hosts.
    pub list: Vec<ConnectedHost>,
    /// Lab that has the hosts. It is removed after their stewards have ended.
    lab: Option<ExperimentLab>,
    /// Whether the experiment names its hosts; otherwise it has this one.
    are_named: bool,
}

impl Hosts {
    /// Connects to all hosts of an experiment; without entries, to this one.
    pub fn connect(entries: Vec<HostFlag>, local: &Local, drivers: &Drivers) -> Result<Self> {
        let are_named = !entries.is_empty();
        let this = || HostFlag { name: Some(LOCAL_HOST.to_owned()), at: HostSpec::Local, interface: None };
        let ExpandedHosts { list, lab } = ExpandedHosts::of(if are_named { entries } else { vec![this()] })?;
        let mut connector = Connector { lab: lab.as_ref(), ..Connector::new(local, drivers) };
        let list = list.into_iter().map(|host| connector.connect(host)).collect::<Result<Vec<_>, _>>()?;
        for (index, host) in list.iter().enumerate() {
            let owner = host.site.owner();
            if let Some(other) = list[..index].iter().find(|other| other.site.owner() == owner) {
                let error = format!("hosts `{}` and `{}` are both this host", other.name, host.name);
                return Err(CliError::usage(error, "name each host once"));
            }
        }
        Ok(Self { list, lab, are_named })
    }

    /// Returns hosts that are connected already, with names.
    pub const fn of(list: Vec<ConnectedHost>) -> Self {
        Self { list, lab: None, are_named: true }
    }

    /// Returns whether there are several hosts.
    pub const fn are_several(&self) -> bool {
        self.list.len() > 1
    }

    /// Returns the hosts as the runner uses them.
    pub fn sites(&self) -> Sites<'_> {
        let hosts = self.list.iter().map(|host| SiteHost {
            name: host.name.clone(),
            site: &*host.site,
            files: host.drivers.files.clone(),
            network: host.facts.network.clone(),
        });
        let sites = Sites::new(hosts.collect());
        match &self.lab {
            Some(lab) => sites.with_links(lab),
            None => sites,
        }
    }

    /// Adds the drivers of another experiment on the same hosts.
    pub fn extend(&mut self, other: Self) -> Result<()> {
        let key = |hosts: &Self| {
            hosts.list.iter().map(|host| (host.name.clone(), host.at.clone())).collect::<Vec<_>>()
        };
        if key(self) != key(&other) {
            let hint = "give both variants the same `--host` flags, in the same order";
            return Err(CliError::usage("the variants have different hosts", hint));
        }
        for (host, other) in self.list.iter_mut().zip(other.list) {
            host.drivers.extend(other.drivers);
        }
        Ok(())
    }

    /// Returns the pinning of the first host, and the hosts of the plan; none if the experiment does not name any.
    /// `needs_interfaces`: whether a cell uses the interface that each host has of its own.
    pub fn planned(&self, choice: &PinChoice, needs_interfaces: bool) -> Result<(Pin, Vec<PlannedHost>)> {
        let pins =
            self.list.iter().map(|host| pin(choice, &host.facts).map_err(|error| self.error(host, error)));
        let pins: Vec<Pin> = pins.collect::<Result<_>>()?;
        let interfaces = self.interfaces(needs_interfaces)?;
        let first = pins[0].clone();
        if !self.are_named {
            return Ok((first, Vec::new()));
        }
        let planned =
            self.list.iter().zip(pins).zip(interfaces).map(|((host, pin), interface)| PlannedHost {
                addresses: host.facts.ipv4_texts(),
                ipv6_addresses: host.facts.ipv6_texts(),
                pin: (pin != first).then_some(pin),
                ..PlannedHost::new(&host.name, host.at.clone(), interface)
            });
        Ok((first.clone(), planned.collect()))
    }

    /// Returns the interface of each host that leads to the others.
    fn interfaces(&self, needed: bool) -> Result<Vec<Option<String>>> {
        for host in &self.list {
            if let Some(interface) = &host.interface {
                host.facts.check_interface(interface).map_err(|error| self.error(host, error))?;
            }
        }
        let given: Vec<Option<String>> = self.list.iter().map(|host| host.interface.clone()).collect();
        if !self.are_several() || !needed || given.iter().all(Option::is_some) {
            return Ok(given);
        }
        let addresses: Vec<Vec<InterfaceAddress>> = self
            .list
            .iter()
            .map(|host| {
                let is_meant = |own: &&InterfaceAddress| {
                    host.interface.as_ref().is_none_or(|name| *name == own.interface)
                };
                host.facts.addresses.iter().filter(is_meant).cloned().collect()
            })
            .collect();
        let found = common_interfaces(&addresses.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let found = found.map_err(|none| {
            let host = &self.list[none.host].name;
            let (error, hint) = if none.candidates.is_empty() {
                (format!("host `{host}` has no network interface that leads to other hosts"), String::new())
            } else {
                let candidates = none.candidates.join(", ");
                let error =
                    format!("host `{host}` has several network interfaces that may lead to the others");
                (error, format!("; available: {candidates}"))
            };
            let hint = format!("name one, such as `--host {host}=...,interface=eth0`{hint}");
            CliError::usage(error, hint)
        })?;
        Ok(given.into_iter().zip(found).map(|(given, found)| Some(given.unwrap_or(found))).collect())
    }

    /// Adds the host to an error, if there are several.
    pub fn error(&self, host: &ConnectedHost, error: SiteError) -> CliError {
        let error = CliError::from(error);
        if self.are_named { error.on_host(&host.name) } else { error }
    }
}
