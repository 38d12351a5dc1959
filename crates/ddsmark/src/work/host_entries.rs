//! Hosts as the user names them, and the hosts that they stand for.

use experiment::{HostFlag, HostSpec};
use remote_hosts::slurm::Allocation;

use super::labs::ExperimentLab;
use crate::cli::cli_error::{CliError, Result};

/// Host to connect to.
pub struct NamedHost {
    /// Name in the experiment.
    pub name: String,
    /// Way to reach it.
    pub at: HostSpec,
    /// Interface to the other hosts, if it is given.
    pub interface: Option<String>,
}

/// Hosts of an experiment before they are connected.
#[derive(Default)]
pub struct ExpandedHosts {
    /// Hosts in the order of their entries.
    pub list: Vec<NamedHost>,
    /// Lab that has them, if an entry creates one.
    pub lab: Option<ExperimentLab>,
}

impl ExpandedHosts {
    /// Replaces each entry by the hosts that it stands for: a lab by its virtual hosts, which this creates, and an allocation
    /// by its nodes. Rejects two hosts with one name.
    pub fn of(entries: Vec<HostFlag>) -> Result<Self> {
        let mut expanded = Self::default();
        for entry in entries {
            expanded.add(entry)?;
        }
        let names: Vec<&str> = expanded.list.iter().map(|host| host.name.as_str()).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let error = format!("host `{name}` is given twice");
                return Err(CliError::usage(error, "give each host a name of its own"));
            }
        }
        Ok(expanded)
    }

    fn add(&mut self, HostFlag { name, at, interface }: HostFlag) -> Result<()> {
        match (&at, name) {
            (HostSpec::Lab(spec), name) => {
                let lab = match &mut self.lab {
                    Some(lab) => lab,
                    none => none.insert(ExperimentLab::create(spec)?),
                };
                // A plan has an entry for each host of its lab, an experiment file one for all of them.
                let is_meant = |host: &lab::Host| name.as_ref().is_none_or(|name| *name == host.name);
                self.list.extend(lab.hosts().into_iter().filter(is_meant).map(|host| NamedHost {
                    name: host.name,
                    at: at.clone(),
                    interface: Some(host.interface),
                }));
            }
            (HostSpec::Slurm(None), _) => {
                let allocation = Allocation::current("slurm")?;
                self.list.extend(allocation.nodes.iter().map(|node| NamedHost {
                    name: node.clone(),
                    at: HostSpec::Slurm(Some(node.clone())),
                    interface: interface.clone(),
                }));
            }
            (_, name) => {
                let name = name.expect("the planner rejects such a host without a name");
                self.list.push(NamedHost { name, at, interface });
            }
        }
        Ok(())
    }
}
