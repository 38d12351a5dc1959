//! Random kills across hosts: processes of experiments on virtual hosts, at any time after the first block. An experiment ends
//! when a host is lost; then it is resumed, and processes of the resumed one are killed, until it is complete.

mod judge;
mod reach;
mod victim;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use results::{Directory, State};

use self::{
    judge::{Session, count_files, saved_runs},
    reach::ReachedHosts,
    victim::kill_each,
};
pub use self::{reach::Reach, victim::Victim};
use super::{TIME_LIMIT, arguments, await_end, judge::KillCounts, left_processes};
use crate::Error;

/// Maximum number of agents that are killed before a host is lost.
const AGENTS: usize = 4;
/// Number of runs of an experiment: more than agents that are killed.
const RUNS: usize = 24;

/// Campaign of kills across hosts.
pub struct HostKills<'a> {
    pub drivers: &'a [&'a str],
    pub programs: &'a Path,
    pub hosts: u32,
    pub reach: Reach,
    /// Kinds of processes to kill.
    pub victims: &'a [Victim],
}

/// Outcome of a campaign.
#[derive(Default)]
pub struct HostKillCounts {
    pub counts: KillCounts,
    /// Number of killed processes of each kind.
    pub killed: BTreeMap<Victim, u32>,
    /// Number of runs.
    pub runs: u32,
}

impl HostKills<'_> {
    /// Kills this number of processes.
    pub fn execute(&self, kills: usize, seed: u64) -> Result<HostKillCounts, Error> {
        let directory = tempfile::tempdir()?;
        let hosts = ReachedHosts::start(self.reach, self.hosts, directory.path())?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut total = HostKillCounts::default();
        let mut number = 0;
        while (total.counts.killed as usize) < kills {
            let before = total.counts.killed;
            number += 1;
            let directory = directory.path().join(format!("experiment-{number}"));
            fs::create_dir(&directory)?;
            let experiment = Experiment { campaign: self, hosts: &hosts, directory };
            experiment.execute(kills, &mut total, &mut random)?;
            if total.counts.killed == before {
                let logs = hosts.logs().unwrap_or_default();
                let complaints = total.counts.complaints.join("\n");
                return Err(
                    format!("an experiment ended before a process was killed\n{complaints}\n{logs}").into()
                );
            }
            fs::remove_dir_all(&experiment.directory)?;
        }
        Ok(total)
    }

    /// Draws the kinds of the next kills, at most this number: some agents, and then a process that takes its host with it.
    fn draw(&self, most: usize, random: &mut ChaCha8Rng) -> Vec<Victim> {
        let taking: Vec<Victim> = self.victims.iter().copied().filter(|victim| victim.takes_host()).collect();
        let last = if taking.is_empty() || most == 0 {
            None
        } else {
            Some(taking[random.random_range(0..taking.len())])
        };
        let agents = match (self.victims.contains(&Victim::Agent), last) {
            (false, _) => 0,
            (true, None) => AGENTS.min(most),
            (true, Some(_)) => random.random_range(0..=AGENTS).min(most - 1),
        };
        std::iter::repeat_n(Victim::Agent, agents).chain(last).collect()
    }

    /// Returns the number of runs of each cell: each driver has two cells.
    fn blocks(&self) -> usize {
        RUNS.div_ceil(2 * self.drivers.len())
    }

    const fn cells(&self) -> usize {
        2 * self.drivers.len()
    }
}

/// Experiment that is interrupted by kills, and resumed until it is complete.
struct Experiment<'a> {
    campaign: &'a HostKills<'a>,
    hosts: &'a ReachedHosts,
    directory: PathBuf,
}

impl Experiment<'_> {
    /// Executes it. Kills processes until this number of them was killed in the campaign.
    fn execute(
        &self,
        kills: usize,
        total: &mut HostKillCounts,
        random: &mut ChaCha8Rng,
    ) -> Result<(), Error> {
        let result = self.directory.join("result");
        let files = self.hosts.shared_memory()?;
        let mut arguments = arguments(self.campaign.drivers, self.campaign.blocks(), &result);
        arguments.extend(self.hosts.flags());
        // A driver whose first runs all fail is given up.
        let mut first = self.campaign.cells();
        // Each session but the last one loses a host after a new run.
        for number in 1..=RUNS {
            let before = saved_runs(&result)?;
            let victims = self.campaign.draw(kills.saturating_sub(total.counts.killed as usize), random);
            let mut runner = self.start(&arguments, number)?;
            let began = Instant::now();
            while saved_runs(&result)?.len() < before.len() + first
                && runner.try_wait()?.is_none()
                && began.elapsed() < TIME_LIMIT
            {
                thread::sleep(Duration::from_millis(10));
            }
            let killed = kill_each(&victims, self.hosts, &mut runner, random)?;
            for victim in &killed {
                *total.killed.entry(*victim).or_default() += 1;
            }
            let status = await_end(&mut runner, &result)?;
            total.counts.orphans += left_processes(|| self.hosts.processes())?;
            let saved = saved_runs(&result)?;
            let document = match Directory::load(&result) {
                Ok(document) => document,
                Err(error) => {
                    total.counts.killed += killed.len() as u32;
                    total.counts.runs_lost += saved.len() as u32;
                    total.counts.complaints.push(format!("{error}: {}", self.errors(number)));
                    break;
                }
            };
            let session = Session {
                reach: self.campaign.reach,
                killed: &killed,
                before: &before,
                saved: &saved,
                status,
                planned: self.campaign.blocks() * self.campaign.cells(),
            };
            let mut counts = session.judge(&document);
            if !counts.complaints.is_empty() {
                counts.complaints.push(self.errors(number));
            }
            let is_resumed_next =
                document.state != State::Complete && killed.iter().any(|of| of.takes_host());
            total.counts.add(counts);
            if !is_resumed_next {
                total.runs += saved.len() as u32;
                break;
            }
            (arguments, first) =
                (["run", "--resume", &result.display().to_string()].map(str::to_owned).into(), 1);
        }
        count_files(&mut total.counts, &files, &self.hosts.shared_memory()?);
        Ok(())
    }

    fn start(&self, arguments: &[String], number: usize) -> Result<Child, Error> {
        let file = |stream: &str| File::create(self.directory.join(format!("{stream}-{number}")));
        let mut command = self.hosts.ddsmark(&self.campaign.programs.join("ddsmark"))?;
        command.args(arguments).stdin(Stdio::null()).stdout(file("stdout")?).stderr(file("stderr")?);
        Ok(command.spawn()?)
    }

    /// Returns the messages of a session.
    fn errors(&self, number: usize) -> String {
        fs::read_to_string(self.directory.join(format!("stderr-{number}"))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_lost_last_and_no_more_is_killed_than_wanted() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let kills = |victims: &[Victim], most: usize, random: &mut ChaCha8Rng| {
            let (drivers, programs) = (&["udp"][..], Path::new(""));
            HostKills { drivers, programs, hosts: 2, reach: Reach::Ssh, victims }.draw(most, random)
        };
        let all = Victim::of(Reach::Ssh);
        let mut lasts: BTreeMap<Victim, u32> = BTreeMap::new();
        for most in (0..=9).cycle().take(200) {
            let drawn = kills(all, most, &mut random);
            assert!(drawn.len() <= most, "{drawn:?}");
            let Some((last, agents)) = drawn.split_last() else { continue };
            assert!(last.takes_host() && agents.iter().all(|agent| *agent == Victim::Agent), "{drawn:?}");
            *lasts.entry(*last).or_default() += 1;
        }
        assert_eq!(lasts.into_keys().collect::<Vec<_>>(), all[1..]);
        assert_eq!(kills(&[Victim::Agent], 2, &mut random), [Victim::Agent; 2]);
        assert_eq!(kills(&[Victim::Sshd], 2, &mut random), [Victim::Sshd]);
    }
}
