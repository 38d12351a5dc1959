//! Random kills across hosts: agents and stewards of experiments on the virtual hosts of a lab, at any time after the first
//! block. An experiment ends when a steward is killed; then it is resumed to its end.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use lab::Lab;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use results::{Directory, Failure, ResultDocument, Run, RunState, State};

use super::{
    await_end,
    judge::{KillCounts, processes},
    left_processes,
};
use crate::Error;

/// Number of agents that are killed in an experiment before a steward is killed.
const AGENTS: usize = 8;
/// Longest time between two kills in ms.
const PAUSE_MS: u64 = 700;
/// Number of runs of an experiment: more than agents that are killed.
const RUNS: usize = 24;

/// Campaign of kills across hosts.
pub struct HostKills<'a> {
    pub drivers: &'a [&'a str],
    pub programs: &'a Path,
    pub hosts: u32,
}

impl HostKills<'_> {
    /// Kills this number of processes. Returns the counts, and the number of runs.
    pub fn execute(&self, kills: usize, seed: u64) -> Result<(KillCounts, u32), Error> {
        let lab = Lab::up(&format!("lab:{}", self.hosts).parse()?)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut counts, mut runs) = (KillCounts::default(), 0);
        while counts.killed < kills as u32 {
            let left = kills - counts.killed as usize;
            let (more, executed) = self.experiment(&lab, AGENTS.min(left - 1), &mut random)?;
            if more.killed == 0 {
                return Err("an experiment ended before a process was killed".into());
            }
            counts.add(more);
            runs += executed;
        }
        lab.down()?;
        Ok((counts, runs))
    }

    /// Executes one experiment: kills agents, then a steward, and resumes it.
    fn experiment(
        &self,
        lab: &Lab,
        agents: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<(KillCounts, u32), Error> {
        let directory = tempfile::tempdir()?;
        let result = directory.path().join("result");
        let mark = format!("DDSMARK_KILLS={}", directory.path().display());
        let before = shared_memory()?;
        let start = |arguments: &[String], name: &str| -> Result<Child, Error> {
            let file = |stream: &str| File::create(directory.path().join(format!("{name}.{stream}")));
            Ok(Command::new(self.programs.join("ddsmark"))
                .args(arguments)
                .env("DDSMARK_KILLS", directory.path())
                .env_remove("DDSMARK_AGENT")
                .stdin(Stdio::null())
                .stdout(file("stdout")?)
                .stderr(file("stderr")?)
                .spawn()?)
        };
        let mut runner = start(&self.arguments(lab, &result), "first")?;
        let mut counts = KillCounts::default();
        let victims = Victims { runner: runner.id(), mark: &mark, result: &result };
        let cells = 2 * self.drivers.len();
        counts.killed += victims.kill(&mut runner, cells, agents, random)?;
        let agents_killed = counts.killed;
        counts.killed += u32::from(victims.kill_steward(&mut runner, random)?);
        let is_steward_killed = counts.killed > agents_killed;
        judge_end(&mut counts, await_end(&mut runner, &result)?, &[3]);
        counts.orphans += left_processes(&mark)?;
        let saved = saved_runs(&result)?;
        let first = load(&result, directory.path(), "first", &mut counts)?;
        if let Some(document) = &first {
            judge(&mut counts, document, agents_killed, is_steward_killed);
            counts.runs_lost += saved.iter().filter(|number| !has(document, **number)).count() as u32;
        }
        if first.is_some_and(|document| document.state != State::Complete) {
            let words = ["run", "--resume", &result.display().to_string()].map(str::to_owned);
            let mut resumed = start(&words, "resumed")?;
            judge_end(&mut counts, await_end(&mut resumed, &result)?, &[0, 3]);
            counts.orphans += left_processes(&mark)?;
        }
        let mut runs = 0;
        if let Some(document) = load(&result, directory.path(), "resumed", &mut counts)? {
            runs = document.cells.iter().map(|cell| cell.runs.len() as u32).sum();
            let planned = (self.blocks() * cells) as u32;
            counts.runs_lost += saved.iter().filter(|number| !has(&document, **number)).count() as u32;
            let runs_of_cells = document.cells.iter().flat_map(|cell| &cell.runs);
            counts.others_failed += runs_of_cells
                .filter(|run| !saved.contains(&run.number) && run.state != RunState::Valid)
                .count() as u32;
            if document.state != State::Complete || runs != planned {
                counts.runs_lost += planned.saturating_sub(runs);
                counts.complaints.push(format!("after its resumption: {:?}, {runs} runs", document.state));
            }
        }
        // Other experiments on this host have files, too, while they run.
        let after = shared_memory()?;
        for file in after.difference(&before).filter(|file| is_ownerless(file)) {
            counts.files_left += 1;
            counts.complaints.push(format!("{} is left", file.display()));
        }
        Ok((counts, runs))
    }

    /// Returns the number of runs of each cell: each driver has two cells.
    fn blocks(&self) -> usize {
        RUNS.div_ceil(2 * self.drivers.len())
    }

    /// Returns the arguments of an experiment on the hosts of a lab.
    fn arguments(&self, lab: &Lab, result: &Path) -> Vec<String> {
        let text =
            "characterize --size 64 --batch-bytes 0 --pin none --duration 40ms --warm-up 40ms --no-reference";
        let mut arguments: Vec<String> = text.split(' ').map(str::to_owned).collect();
        arguments.extend(["--driver".to_owned(), self.drivers.join(",")]);
        arguments.extend(["--runs".to_owned(), self.blocks().to_string()]);
        for host in lab.hosts() {
            arguments.extend(["--host".to_owned(), format!("{}=netns:{}", host.name, host.namespace)]);
        }
        arguments.extend(["--out".to_owned(), result.display().to_string()]);
        arguments
    }
}

/// Compares the end of ddsmark with the expected statuses.
fn judge_end(counts: &mut KillCounts, ended: Option<ExitStatus>, expected: &[i32]) {
    match ended {
        None => counts.hangs += 1,
        Some(status) if status.code().is_some_and(|code| expected.contains(&code)) => {}
        Some(status) => counts.complaints.push(format!("ddsmark ended: {status}, not with {expected:?}")),
    }
}

/// Processes of a running experiment.
struct Victims<'a> {
    runner: u32,
    mark: &'a str,
    result: &'a Path,
}

impl Victims<'_> {
    /// Returns the processes with a name, except the runner.
    fn named(&self, name: &str) -> Result<Vec<u32>, Error> {
        let is_named =
            |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name);
        Ok(processes(self.mark)?.into_iter().filter(|pid| *pid != self.runner).filter(is_named).collect())
    }

    /// Kills agents after the first block, at random times. Returns their number.
    fn kill(
        &self,
        runner: &mut Child,
        first: usize,
        agents: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<u32, Error> {
        // A driver whose first runs all fail is given up.
        while saved_runs(self.result)?.len() < first && runner.try_wait()?.is_none() {
            thread::sleep(Duration::from_millis(10));
        }
        let mut killed = 0;
        for _ in 0..agents {
            pause(random);
            killed += u32::from(self.kill_one(runner, "ddsmark-agent", random)?);
        }
        Ok(killed)
    }

    fn kill_steward(&self, runner: &mut Child, random: &mut ChaCha8Rng) -> Result<bool, Error> {
        pause(random);
        self.kill_one(runner, "ddsmark", random)
    }

    /// Kills one of the processes with a name, as soon as there is one. Returns whether there was one.
    fn kill_one(&self, runner: &mut Child, name: &str, random: &mut ChaCha8Rng) -> Result<bool, Error> {
        while runner.try_wait()?.is_none() {
            let victims = self.named(name)?;
            if !victims.is_empty() {
                let victim = victims[random.random_range(0..victims.len())];
                if kill(Pid::from_raw(victim.cast_signed()), Signal::SIGKILL).is_ok() {
                    return Ok(true);
                }
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(false)
    }
}

fn pause(random: &mut ChaCha8Rng) {
    thread::sleep(Duration::from_millis(random.random_range(0..PAUSE_MS)));
}

/// Compares a result with the numbers of kills: each failed run was hit, and its failure says so.
fn judge(counts: &mut KillCounts, document: &ResultDocument, agents: u32, is_steward_killed: bool) {
    let mut failed = 0;
    for run in document.cells.iter().flat_map(|cell| &cell.runs).filter(|run| run.state != RunState::Valid) {
        failed += 1;
        if !is_named(run, is_steward_killed) {
            counts.misnamed += 1;
            counts.complaints.push(format!("run {} is {:?}: {:?}", run.number, run.state, run.failure));
        }
    }
    let most = agents + u32::from(is_steward_killed);
    counts.others_failed += u32::saturating_sub(failed, most);
    // Agents that had just ended, and those of one run, fail no run of their own.
    counts.late += u32::saturating_sub(most, failed);
}

/// Returns whether a failure has a phase, an endpoint, a host and the kill as its cause.
fn is_named(run: &Run, is_steward_killed: bool) -> bool {
    run.failure.as_ref().is_some_and(|failure: &Failure| {
        let is_lost = is_steward_killed && failure.error.contains(" is lost");
        let is_killed = failure.error.contains("`: the agent's process was killed by signal 9 (SIGKILL)");
        run.state == RunState::Failed
            && !failure.phase.is_empty()
            && failure.endpoint.is_some()
            && failure.error.starts_with("host `h")
            && (is_lost || is_killed)
    })
}

/// Returns the numbers of the runs in a directory.
fn saved_runs(result: &Path) -> Result<BTreeSet<u32>, Error> {
    let Ok(entries) = fs::read_dir(result.join("runs")) else { return Ok(BTreeSet::new()) };
    let mut numbers = BTreeSet::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            numbers.extend(path.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok()));
        }
    }
    Ok(numbers)
}

fn has(document: &ResultDocument, number: u32) -> bool {
    document.cells.iter().flat_map(|cell| &cell.runs).any(|run| run.number == number)
}

/// Loads a result. Without one, its runs are lost.
fn load(
    result: &Path,
    directory: &Path,
    name: &str,
    counts: &mut KillCounts,
) -> Result<Option<ResultDocument>, Error> {
    match Directory::load(result) {
        Ok(document) => Ok(Some(document)),
        Err(error) => {
            counts.runs_lost += saved_runs(result)?.len() as u32;
            let stderr = fs::read_to_string(directory.join(format!("{name}.stderr"))).unwrap_or_default();
            counts.complaints.push(format!("{error}: {stderr}"));
            Ok(None)
        }
    }
}

/// Returns the files of runs in `/dev/shm`. The stewards of network namespaces share it.
fn shared_memory() -> Result<BTreeSet<PathBuf>, Error> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/dev/shm")? {
        let path = entry?.path();
        if path.to_string_lossy().contains("ddsmark-") {
            found.insert(path);
        }
    }
    Ok(found)
}

/// Returns whether the owner that the name of a file has is gone.
fn is_ownerless(file: &Path) -> bool {
    let name = file.to_string_lossy();
    let owner =
        name.rsplit_once("ddsmark-").and_then(|(_, rest)| rest.split('-').next()?.parse::<u32>().ok());
    owner.is_none_or(|owner| !Path::new(&format!("/proc/{owner}")).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::root;

    /// Returns a result whose first run failed with this error.
    fn failed(error: &str) -> ResultDocument {
        let mut document = Directory::load(&root().join("fuzz/corpus/result/complete")).expect("a result");
        let run = &mut document.cells[0].runs[0];
        run.state = RunState::Failed;
        run.failure = Some(Failure {
            phase: "measure".to_owned(),
            endpoint: Some("echo".to_owned()),
            error: error.to_owned(),
            hint: None,
            last_log_lines: Vec::new(),
        });
        document
    }

    #[test]
    fn failure_needs_a_kill_that_explains_it() {
        let judged = |error: &str, agents, is_steward_killed| {
            let mut counts = KillCounts::default();
            judge(&mut counts, &failed(error), agents, is_steward_killed);
            (counts.misnamed, counts.others_failed, counts.late)
        };
        let killed = "host `h2`: the agent's process was killed by signal 9 (SIGKILL)";
        assert_eq!(judged(killed, 1, false), (0, 0, 0));
        assert_eq!(judged(killed, 2, true), (0, 0, 2));
        assert_eq!(judged(killed, 0, false), (0, 1, 0), "nothing was killed");
        assert_eq!(judged(&killed[11..], 1, false), (1, 0, 0), "no host is named");
        let lost = "host `h2` is lost: `ip` was killed by signal 9";
        assert_eq!(judged(lost, 0, true), (0, 0, 0));
        assert_eq!(judged(lost, 1, false), (1, 0, 0), "no steward was killed");
        assert_eq!(judged("no answer within 10 s", 1, true), (1, 0, 1));
    }

    #[test]
    fn file_is_left_once_its_owner_is_gone() {
        let own = std::process::id();
        assert!(!is_ownerless(Path::new(&format!("/dev/shm/ddsmark-{own}-64144c6f-1.2.shared"))));
        let mut child = Command::new("true").spawn().expect("true");
        child.wait().expect("it ends");
        assert!(is_ownerless(Path::new(&format!("/dev/shm/x-ddsmark-{}-64144c6f-1", child.id()))));
        assert!(is_ownerless(Path::new("/dev/shm/ddsmark-x")), "no name has an owner");
    }

    #[test]
    fn runs_of_a_directory_are_its_records() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(saved_runs(directory.path()).expect("an answer").is_empty());
        fs::create_dir(directory.path().join("runs")).expect("a directory");
        for name in ["0003.json", "0003.hlog", "0012.json", "x.json.new"] {
            fs::write(directory.path().join("runs").join(name), "").expect("a file");
        }
        assert_eq!(saved_runs(directory.path()).expect("an answer"), BTreeSet::from([3, 12]));
    }
}
