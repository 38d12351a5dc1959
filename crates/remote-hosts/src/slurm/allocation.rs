//! Allocation of Slurm that this process runs in.

use std::{env, process::Command, sync::Arc, time::Duration};

use super::{messages, shell::SrunShell};
use crate::{
    remote::{RemoteShell, execute},
    start_error::StartError,
};

/// Time limit of the expansion of a list of nodes. It asks no other process.
const LIMIT: Duration = Duration::from_secs(10);
/// Step after a missing allocation.
const HINT: &str =
    "allocate nodes with `salloc -N2`, and run ddsmark in its shell, or in a script for `sbatch`";

/// Allocation: the number of its job, and its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    job: String,
    /// Names of the nodes, in the order of Slurm.
    pub nodes: Vec<String>,
}

impl Allocation {
    /// Returns the allocation that the environment of this process names. `host` is the name of the host in errors.
    ///
    /// # Errors
    /// Returns an error if there is none, or if `scontrol` does not know the names of its nodes.
    pub fn current(host: &str) -> Result<Self, StartError> {
        let (job, list) = from_variables(|name| env::var(name).ok())
            .map_err(|error| StartError::not_allocated(host, error, HINT))?;
        let mut command = Command::new("scontrol");
        command.args(["show", "hostnames", &list]);
        let names = execute((host, messages::explain), command, LIMIT, "its nodes are unknown", |_| Ok(()))?;
        let nodes: Vec<String> = names.split_whitespace().map(ToOwned::to_owned).collect();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_name =
            |name: &String| !name.starts_with('-') && name.len() <= 64 && name.chars().all(is_plain);
        if nodes.is_empty() || !nodes.iter().all(is_name) {
            let error =
                format!("`scontrol show hostnames` has invalid names of nodes: `{}`", names.escape_debug());
            let hint = "compare them with those of `sinfo -N`".to_owned();
            return Err(StartError::of_host(host, error, Some(hint)));
        }
        Ok(Self { job, nodes })
    }

    /// Returns the shell of a node. `host` is the name of the host in errors.
    ///
    /// # Errors
    /// Returns an error if the node does not belong to the allocation.
    pub fn shell(&self, host: &str, node: &str) -> Result<Arc<dyn RemoteShell>, StartError> {
        if self.nodes.iter().any(|known| known == node) {
            return Ok(Arc::new(SrunShell { job: self.job.clone(), node: node.to_owned() }));
        }
        let error = format!("node `{node}` does not belong to job {} of Slurm", self.job);
        Err(StartError::not_allocated(host, error, format!("available: {}", self.nodes.join(", "))))
    }
}

/// Returns the number of the job and the list of its nodes, as Slurm sets them.
fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<(String, String), String> {
    let value = |name: &str| variable(name).filter(|value| !value.is_empty());
    let missing = |name: &str| format!("no allocation of Slurm: {name} is not set");
    let job = value("SLURM_JOB_ID").ok_or_else(|| missing("SLURM_JOB_ID"))?;
    let list = value("SLURM_JOB_NODELIST").ok_or_else(|| missing("SLURM_JOB_NODELIST"))?;
    if !job.chars().all(|c| c.is_ascii_digit()) {
        return Err(format!("no allocation of Slurm: SLURM_JOB_ID is `{}`", job.escape_debug()));
    }
    if list.starts_with('-') {
        return Err(format!("no allocation of Slurm: SLURM_JOB_NODELIST is `{}`", list.escape_debug()));
    }
    Ok((job, list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocation_is_that_of_the_environment() {
        let with = |set: &[(&str, &str)]| {
            from_variables(|name| set.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned()))
        };
        let (job, nodes) = (("SLURM_JOB_ID", "12"), ("SLURM_JOB_NODELIST", "n[1-2]"));
        assert_eq!(with(&[job, nodes]), Ok(("12".to_owned(), "n[1-2]".to_owned())));
        for (set, name) in [
            (&[nodes][..], "SLURM_JOB_ID is not set"),
            (&[job], "SLURM_JOB_NODELIST is not set"),
            (&[("SLURM_JOB_ID", ""), nodes], "SLURM_JOB_ID is not set"),
            (&[("SLURM_JOB_ID", "1 -w x"), nodes], "SLURM_JOB_ID is `1 -w x`"),
            (&[job, ("SLURM_JOB_NODELIST", "--help")], "SLURM_JOB_NODELIST is `--help`"),
        ] {
            let error = with(set).unwrap_err();
            assert!(error.ends_with(name), "{error}");
        }
    }

    #[test]
    fn node_of_another_job_is_rejected_with_those_of_this_one() {
        let allocation = Allocation { job: "7".to_owned(), nodes: vec!["n1".to_owned(), "n2".to_owned()] };
        assert!(allocation.shell("h", "n2").is_ok());
        let error = allocation.shell("h", "n3").unwrap_err();
        assert_eq!(error.to_string(), "host `h`: node `n3` does not belong to job 7 of Slurm");
        assert_eq!(error.hint().as_deref(), Some("available: n1, n2"));
    }
}
