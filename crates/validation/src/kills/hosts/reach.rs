//! Ways to reach the virtual hosts of a campaign, and what is on these hosts.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use clap::ValueEnum;
use lab::{Host, Lab};
use testbed::{Cluster, Sshd, SshdOptions, process};

use crate::{Error, kills::judge::files_of};

/// Variable of all processes that a campaign starts.
const MARK: &str = "DDSMARK_KILLS";
const SHARED_MEMORY: &str = "/dev/shm";

/// Way to reach the virtual hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reach {
    /// In network namespaces of this host
    Netns,
    /// Over ssh, from another virtual host
    Ssh,
    /// With `srun`, from another virtual host
    Slurm,
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value().expect("no value is skipped");
        f.write_str(value.get_name())
    }
}

/// Servers that the way to the hosts needs. The first host of a lab is that of ddsmark, except in network namespaces of this
/// host.
enum Servers {
    None { lab: Lab },
    Sshds { sshds: Vec<Sshd>, lab: Lab },
    Slurm { job: String, nodes: String, cluster: Cluster },
}

/// Hosts of a campaign. Dropping them ends everything that runs there.
pub struct ReachedHosts {
    servers: Servers,
    /// Directory of the campaign, the value of its variable.
    directory: PathBuf,
    /// Processes on the hosts between two experiments.
    idle: BTreeSet<i32>,
}

impl ReachedHosts {
    /// Starts this number of hosts, with files in a directory.
    pub fn start(reach: Reach, hosts: u32, directory: &Path) -> Result<Self, Error> {
        let lab = |hosts: u32| Lab::up(&format!("lab:{hosts}").parse()?).map_err(Error::from);
        let servers = match reach {
            Reach::Netns => Servers::None { lab: lab(hosts)? },
            Reach::Ssh => {
                let lab = lab(hosts + 1)?;
                let cache = directory.join("cache");
                let session = [(MARK, directory), ("XDG_CACHE_HOME", cache.as_path())];
                let sshd = |host: &Host| {
                    let files = directory.join(&host.name);
                    let options = SshdOptions { directory: &files, session: &session, own: &[], more: "" };
                    Sshd::start_in(&options, host)
                };
                let sshds = lab.hosts()[1..].iter().map(sshd).collect::<Result<_, _>>()?;
                Servers::Sshds { sshds, lab }
            }
            Reach::Slurm => {
                let cluster = Cluster::start(lab(hosts + 1)?, &directory.join("slurm"), &[])?;
                let (job, nodes) = cluster.allocate()?;
                Servers::Slurm { job, nodes, cluster }
            }
        };
        let mut hosts = Self { servers, directory: directory.to_owned(), idle: BTreeSet::new() };
        hosts.idle = hosts.lab().processes().into_iter().collect();
        Ok(hosts)
    }

    const fn lab(&self) -> &Lab {
        match &self.servers {
            Servers::None { lab } | Servers::Sshds { lab, .. } => lab,
            Servers::Slurm { cluster, .. } => cluster.lab(),
        }
    }

    /// Returns the command `ddsmark` where it reaches the hosts.
    pub fn ddsmark(&self, program: &Path) -> Result<Command, Error> {
        let first = &self.lab().hosts()[0];
        let mut command = match &self.servers {
            Servers::None { .. } => Command::new(program),
            Servers::Sshds { sshds, .. } => {
                let configuration = Sshd::configuration_of(sshds)?;
                let mut command = first.command(program);
                command.env("DDSMARK_SSH", format!("ssh -F {}", configuration.display()));
                command
            }
            Servers::Slurm { job, nodes, cluster } => {
                let mut command = first.command(program);
                command.env("SLURM_CONF", cluster.configuration());
                command.env("SLURM_JOB_ID", job).env("SLURM_JOB_NODELIST", nodes);
                command
            }
        };
        command.env(MARK, &self.directory).env_remove("DDSMARK_AGENT");
        command.env("XDG_CACHE_HOME", self.directory.join("cache"));
        Ok(command)
    }

    /// Returns the flags of the hosts.
    pub fn flags(&self) -> Vec<String> {
        let at: Vec<String> = match &self.servers {
            Servers::None { lab } => {
                lab.hosts().iter().map(|host| format!("{}=netns:{}", host.name, host.namespace)).collect()
            }
            Servers::Sshds { sshds, lab } => {
                let hosts = lab.hosts()[1..].iter().zip(sshds);
                hosts.map(|(host, sshd)| format!("{}=ssh:{}", host.name, sshd.target())).collect()
            }
            Servers::Slurm { .. } => vec!["slurm".to_owned()],
        };
        at.into_iter().flat_map(|at| ["--host".to_owned(), at]).collect()
    }

    /// Returns the processes of the experiment: those on the hosts, and all others that it started.
    pub fn processes(&self) -> Result<BTreeSet<i32>, Error> {
        let marked = process::with_variable(&format!("{MARK}={}", self.directory.display()))?;
        let all = self.lab().processes().into_iter().chain(marked);
        Ok(all.filter(|pid| !self.idle.contains(pid)).collect())
    }

    /// Returns the files of runs in the shared memory of this host and of all virtual ones.
    pub fn shared_memory(&self) -> Result<BTreeSet<PathBuf>, Error> {
        let servers: Vec<i32> = match &self.servers {
            Servers::None { .. } => Vec::new(),
            Servers::Sshds { sshds, .. } => sshds.iter().map(Sshd::id).collect(),
            Servers::Slurm { cluster, .. } => {
                cluster.nodes().iter().map(|node| cluster.server_on(&node.name)).collect()
            }
        };
        let of_servers = servers.into_iter().map(|pid| format!("/proc/{pid}/root{SHARED_MEMORY}"));
        let mut found = BTreeSet::new();
        for directory in of_servers.chain([SHARED_MEMORY.to_owned()]) {
            found.extend(files_of(Path::new(&directory), "ddsmark-")?);
        }
        Ok(found)
    }

    /// Returns what the servers printed.
    pub fn logs(&self) -> Option<String> {
        match &self.servers {
            Servers::None { .. } | Servers::Sshds { .. } => None,
            Servers::Slurm { cluster, .. } => Some(cluster.logs()),
        }
    }
}
