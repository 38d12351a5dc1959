//! Kinds of processes that are killed between hosts.

use std::{
    collections::BTreeSet,
    fmt,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use clap::ValueEnum;
use rand::{RngExt as _, rngs::ChaCha8Rng};
use testbed::process;

use super::reach::{Reach, ReachedHosts};
use crate::{Error, kills::TIME_LIMIT};

/// Longest time between two kills in ms.
const PAUSE_MS: u64 = 700;

/// Kind of process that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Victim {
    /// Agent
    Agent,
    /// Steward of a host
    Steward,
    /// ssh of the runner
    Ssh,
    /// sshd of a connection, on its host
    Sshd,
    /// srun of the runner
    Srun,
}

impl Victim {
    /// Returns the kinds of processes that a way to reach hosts has.
    pub const fn of(reach: Reach) -> &'static [Self] {
        match reach {
            Reach::Netns => &[Self::Agent, Self::Steward],
            Reach::Ssh => &[Self::Agent, Self::Steward, Self::Ssh, Self::Sshd],
            Reach::Slurm => &[Self::Agent, Self::Steward, Self::Srun],
        }
    }

    /// Returns whether the runner loses a host with it.
    pub fn takes_host(self) -> bool {
        self != Self::Agent
    }

    /// Returns the part of a failure that names the cause: the end of the agent, or of the process that leads to the host.
    pub const fn cause(self, reach: Reach) -> &'static str {
        match (self, reach) {
            (Self::Agent, _) => "the agent's process was killed by signal 9 (SIGKILL)",
            (Self::Steward, Reach::Netns) => "`ip` was killed by signal 9",
            // ssh exits with the same status if its connection ends and if a signal ends the remote command.
            (Self::Steward, Reach::Ssh) | (Self::Sshd, _) => "`ssh` exited with status 255",
            (Self::Steward, Reach::Slurm) => "`srun` exited with status 137",
            (Self::Ssh, _) => "`ssh` was killed by signal 9",
            (Self::Srun, _) => "`srun` was killed by signal 9",
        }
    }

    /// Returns whether a process is of this kind.
    fn is(self, pid: i32) -> bool {
        let name = process::name(pid);
        match self {
            Self::Agent => name == "ddsmark-agent",
            Self::Steward => name == "ddsmark" && process::last_argument(pid) == "steward",
            Self::Ssh => name == "ssh",
            Self::Sshd => name == "sshd",
            // srun has a child of the same name, which watches it.
            Self::Srun => {
                name == "srun" && process::parent(pid).map(process::name).as_deref() != Some("srun")
            }
        }
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value().expect("no value is skipped");
        f.write_str(value.get_name())
    }
}

/// Kills one process of each of these kinds, at random times. Returns those that were killed before the runner ended.
pub fn kill_each(
    victims: &[Victim],
    hosts: &ReachedHosts,
    runner: &mut Child,
    random: &mut ChaCha8Rng,
) -> Result<Vec<Victim>, Error> {
    let mut killed = Vec::new();
    for &victim in victims {
        thread::sleep(Duration::from_millis(random.random_range(0..PAUSE_MS)));
        if kill_one(victim, hosts, runner, random)? {
            killed.push(victim);
        }
    }
    Ok(killed)
}

/// Kills one process of this kind, as soon as there is one. Returns whether there was one before the runner ended or hung.
fn kill_one(
    victim: Victim,
    hosts: &ReachedHosts,
    runner: &mut Child,
    random: &mut ChaCha8Rng,
) -> Result<bool, Error> {
    let began = Instant::now();
    while runner.try_wait()?.is_none() && began.elapsed() < TIME_LIMIT {
        let all: BTreeSet<i32> = hosts.processes()?;
        let victims: Vec<i32> = all.into_iter().filter(|pid| victim.is(*pid)).collect();
        if !victims.is_empty() && process::kill_alive(victims[random.random_range(0..victims.len())]) {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{BufRead as _, BufReader},
        os::unix::fs::symlink,
        path::PathBuf,
        process::{Command, Stdio},
    };

    use super::*;

    /// Kinds with one process of this name and these arguments of a shell. The shell prints a line, and ends with its input.
    fn kinds_of(name: &str, script: &str, last: &str) -> (Vec<Victim>, Option<i32>) {
        let directory = tempfile::tempdir().expect("a directory");
        let program: PathBuf = directory.path().join(name);
        symlink("/bin/sh", &program).expect("a link");
        let mut command = Command::new(program);
        command.args(["-c", &format!("{script}; read -r line"), last]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a shell");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a stream")).read_line(&mut line).expect("a line");
        let pid = child.id().cast_signed();
        let kinds = Victim::value_variants().iter().copied().filter(|kind| kind.is(pid)).collect();
        let printed = line.trim().parse().ok();
        let of_printed = printed.filter(|pid| Victim::Srun.is(*pid));
        if let Some(pid) = printed {
            assert!(process::kill_alive(pid), "the child of {name}");
        }
        drop(child.stdin.take());
        child.wait().expect("it ends");
        (kinds, of_printed)
    }

    #[test]
    fn process_is_of_a_kind_by_name_argument_and_parent() {
        let kinds = |name: &str, last: &str| kinds_of(name, "echo", last).0;
        assert_eq!(kinds("ddsmark-agent", "x"), [Victim::Agent]);
        assert_eq!(kinds("ddsmark", "steward"), [Victim::Steward]);
        assert_eq!(kinds("ddsmark", "run"), []);
        // The shell that becomes the steward, and that of its host.
        assert_eq!(kinds("sh", "steward"), []);
        assert_eq!(kinds("ssh", "exec ddsmark steward"), [Victim::Ssh]);
        assert_eq!(kinds("sshd", "x"), [Victim::Sshd]);
        // A process of srun that watches another one.
        let directory = tempfile::tempdir().expect("a directory");
        let child = directory.path().join("srun");
        symlink("/bin/sleep", &child).expect("a link");
        assert!(fs::exists(&child).expect("an answer"));
        let script = format!("{} 60 >/dev/null & echo $!", child.display());
        assert_eq!(kinds_of("srun", &script, "x"), (vec![Victim::Srun], None));
    }
}
