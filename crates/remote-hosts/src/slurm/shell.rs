//! Shell of a node of an allocation.

use std::process::Command;

use super::messages;
use crate::{client::steward_command::Explain, remote::RemoteShell};

/// Options of every step. It has the whole node beside other steps of the job: all of its memory and, without `-c`, all
/// cores that the job has there, none of which it is bound to. Without `--quiet`, remarks of srun displace errors. Without
/// `-u`, output without a newline does not arrive.
const OPTIONS: &[&str] = &["-N1", "-n1", "--overlap", "--mem=0", "--cpu-bind=none", "--quiet", "-u"];
/// Variables of a job or of another step that would contradict these options, and those that are meant for the runner's host.
const REMOVED: &[&str] = &[
    "SLURM_CPU_BIND",
    "SLURM_CPUS_PER_TASK",
    "SLURM_DISTRIBUTION",
    "SLURM_EXACT",
    "SLURM_EXCLUSIVE",
    "SLURM_HINT",
    "SLURM_LABELIO",
    "SLURM_MEM_BIND",
    "SLURM_MEM_PER_CPU",
    "SLURM_MEM_PER_GPU",
    "SLURM_MEM_PER_NODE",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_STDERRMODE",
    "SLURM_STDINMODE",
    "SLURM_STDOUTMODE",
    "SLURM_THREADS_PER_CORE",
    "DDSMARK_AGENT",
    "DDSMARK_DRIVER_PATH",
];

/// Shell of a node of an allocation: each command is a step of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SrunShell {
    pub(super) job: String,
    pub(super) node: String,
}

impl RemoteShell for SrunShell {
    fn command(&self, command: &str) -> Command {
        let mut srun = Command::new("srun");
        srun.arg(format!("--jobid={}", self.job)).args(["-w", &self.node]).args(OPTIONS);
        srun.args(["sh", "-c", command]);
        for variable in REMOVED {
            srun.env_remove(variable);
        }
        srun
    }

    fn explain(&self) -> Explain {
        messages::explain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_a_step_on_one_node() {
        let shell = SrunShell { job: "7".to_owned(), node: "n1".to_owned() };
        let command = shell.command("exec ddsmark steward");
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(words[..3], ["--jobid=7", "-w", "n1"]);
        assert_eq!(words[words.len() - 3..], ["sh", "-c", "exec ddsmark steward"]);
        let removed =
            command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name.to_owned());
        assert!(removed.into_iter().any(|name| name == "DDSMARK_AGENT"), "it is of another host");
    }
}
