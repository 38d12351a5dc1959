//! Hosts as the user names them.

use experiment::HostSpec;
use hosts::slurm::Allocation;

use crate::cli::cli_error::{CliError, ExitStatus};

/// Host to connect to.
pub struct HostEntry {
    /// Name in the experiment; empty where the specification names its hosts.
    pub name: String,
    /// Way to reach it.
    pub at: HostSpec,
    /// Interface to the other hosts, if it is given.
    pub interface: Option<String>,
}

impl HostEntry {
    /// Returns the hosts that this entry stands for.
    fn hosts(self) -> Result<Vec<Self>, CliError> {
        match &self.at {
            HostSpec::Slurm(None) => {
                let node = |name: &String| Self {
                    name: name.clone(),
                    at: HostSpec::Slurm(Some(name.clone())),
                    interface: self.interface.clone(),
                };
                Ok(Allocation::current("slurm")?.nodes().iter().map(node).collect())
            }
            HostSpec::Local
            | HostSpec::Ssh(_)
            | HostSpec::Netns(_)
            | HostSpec::Lab(_)
            | HostSpec::Slurm(Some(_)) => Ok(vec![self]),
        }
    }
}

/// Replaces each entry by the hosts that it stands for. Rejects two hosts with one name.
pub fn expand(entries: Vec<HostEntry>) -> Result<Vec<HostEntry>, CliError> {
    let hosts: Vec<Vec<HostEntry>> = entries.into_iter().map(HostEntry::hosts).collect::<Result<_, _>>()?;
    let hosts: Vec<HostEntry> = hosts.into_iter().flatten().collect();
    for (index, host) in hosts.iter().enumerate() {
        if hosts[..index].iter().any(|known| known.name == host.name) {
            let error = format!("host `{}` is given twice", host.name);
            return Err(CliError::new(ExitStatus::WrongUse, error, "give each host a name of its own"));
        }
    }
    Ok(hosts)
}
