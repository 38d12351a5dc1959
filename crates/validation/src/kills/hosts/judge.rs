//! Evaluation of an experiment on hosts of which processes were killed.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::ExitStatus,
};

use results::{ResultDocument, Run, RunState, State};

use super::{reach::Reach, victim::Victim};
use crate::{Error, kills::judge::KillCounts};

/// One execution of ddsmark: from the start of an experiment, or from its resumption, to the end of the command.
pub struct Session<'a> {
    /// Way to the hosts.
    pub reach: Reach,
    /// Processes that were killed.
    pub killed: &'a [Victim],
    /// Runs that were saved before it.
    pub before: &'a BTreeSet<u32>,
    /// Runs that were saved at its end.
    pub saved: &'a BTreeSet<u32>,
    /// Exit status of the command; `None` if it hung.
    pub status: Option<ExitStatus>,
    /// Number of runs of the whole experiment.
    pub planned: usize,
}

impl Session<'_> {
    /// Compares the result with what was killed: each failed run was hit, and its failure says so; no saved run is missing; the
    /// experiment ended early only if a host was lost, and the exit status says so.
    pub fn judge(&self, document: &ResultDocument) -> KillCounts {
        let mut counts = KillCounts { killed: self.killed.len() as u32, ..KillCounts::default() };
        let mut failed = 0;
        let made = || document.cells.iter().flat_map(|cell| &cell.runs);
        let is_new = |run: &&Run| !self.before.contains(&run.number);
        for run in made().filter(is_new).filter(|run| run.state != RunState::Valid) {
            failed += 1;
            if !self.is_named(run) {
                counts.misnamed += 1;
                counts.complaints.push(format!("run {} is {:?}: {:?}", run.number, run.state, run.failure));
            }
        }
        counts.others_failed += u32::saturating_sub(failed, counts.killed);
        // Agents that had just ended, and those of one run, fail no run of their own; nor does a host that is lost between two.
        counts.late += u32::saturating_sub(counts.killed, failed);
        let numbers: BTreeSet<u32> = made().map(|run| run.number).collect();
        counts.runs_lost += self.saved.difference(&numbers).count() as u32;
        let is_host_lost = self.killed.iter().any(|victim| victim.takes_host());
        let is_complete = document.state == State::Complete;
        if is_complete && numbers.len() != self.planned || !is_complete && !is_host_lost {
            counts.runs_lost += self.planned.saturating_sub(numbers.len()) as u32;
            let runs = numbers.len();
            counts.complaints.push(format!("{runs} of {} runs: {:?}", self.planned, document.state));
        }
        self.judge_end(&mut counts, is_complete);
        counts
    }

    /// Compares the end of the command with the expected statuses.
    fn judge_end(&self, counts: &mut KillCounts, is_complete: bool) {
        let expected: &[i32] = if is_complete { &[0, 3] } else { &[3] };
        match self.status {
            None => counts.hangs += 1,
            Some(status) if status.code().is_some_and(|code| expected.contains(&code)) => {}
            Some(status) => {
                counts.complaints.push(format!("ddsmark ended: {status}, not with {expected:?}"));
            }
        }
    }

    /// Returns whether a failure has a phase, an endpoint, a host, a next step, and one of the kills as its cause.
    fn is_named(&self, run: &Run) -> bool {
        run.failure.as_ref().is_some_and(|failure| {
            let explains = |victim: &Victim| {
                failure.error.contains(victim.cause(self.reach))
                    && failure.error.contains(" is lost: ") == victim.takes_host()
            };
            run.state == RunState::Failed
                && !failure.phase.is_empty()
                && failure.endpoint.is_some()
                && failure.hint.is_some()
                && failure.error.starts_with("host `h")
                && self.killed.iter().any(explains)
        })
    }
}

/// Returns the numbers of the runs in a directory.
pub fn saved_runs(result: &Path) -> Result<BTreeSet<u32>, Error> {
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

/// Counts the files that an experiment has left: those without an owner. Other experiments on this host have files, too,
/// while they run.
pub fn count_files(counts: &mut KillCounts, before: &BTreeSet<PathBuf>, after: &BTreeSet<PathBuf>) {
    for file in after.difference(before).filter(|file| is_ownerless(file)) {
        counts.files_left += 1;
        counts.complaints.push(format!("{} is left", file.display()));
    }
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
    use std::{os::unix::process::ExitStatusExt as _, process::Command};

    use results::{Directory, Failure};

    use super::*;
    use crate::tree::root;

    /// Returns a result, and the numbers of its runs.
    fn result() -> (ResultDocument, BTreeSet<u32>) {
        let document = Directory::load(&root().join("fuzz/corpus/result/complete")).expect("a result");
        let numbers = document.cells.iter().flat_map(|cell| &cell.runs).map(|run| run.number).collect();
        (document, numbers)
    }

    fn failure(error: &str) -> Failure {
        Failure {
            phase: "measure".to_owned(),
            endpoint: Some("echo".to_owned()),
            error: error.to_owned(),
            hint: Some("resume".to_owned()),
            last_log_lines: Vec::new(),
        }
    }

    /// Returns the judgement of a session from the first run on, after which the experiment is complete.
    fn judged(document: &ResultDocument, killed: &[Victim], reach: Reach) -> KillCounts {
        let (_, saved) = result();
        let (before, status) = (BTreeSet::new(), Some(ExitStatus::from_raw(3 << 8)));
        Session { reach, killed, before: &before, saved: &saved, status, planned: saved.len() }
            .judge(document)
    }

    #[test]
    fn failure_needs_a_kill_that_explains_it() {
        let judged = |error: &str, killed: &[Victim], reach| {
            let (mut document, _) = result();
            let run = &mut document.cells[0].runs[0];
            (run.state, run.failure) = (RunState::Failed, Some(failure(error)));
            let counts = judged(&document, killed, reach);
            (counts.misnamed, counts.others_failed, counts.late)
        };
        let killed = "host `h2`: the agent's process was killed by signal 9 (SIGKILL)";
        assert_eq!(judged(killed, &[Victim::Agent], Reach::Netns), (0, 0, 0));
        assert_eq!(judged(killed, &[Victim::Agent, Victim::Agent, Victim::Ssh], Reach::Ssh), (0, 0, 2));
        assert_eq!(judged(killed, &[], Reach::Netns), (1, 1, 0), "nothing was killed");
        assert_eq!(judged(killed, &[Victim::Steward], Reach::Netns), (1, 0, 0), "no agent was killed");
        assert_eq!(judged(&killed[11..], &[Victim::Agent], Reach::Netns), (1, 0, 0), "no host is named");
        assert_eq!(judged("no answer within 10 s", &[Victim::Agent], Reach::Netns), (1, 0, 0));
        let lost = |cause: &str| format!("host `h2` is lost: {cause}");
        for (cause, victim, reach) in [
            ("`ip` was killed by signal 9", Victim::Steward, Reach::Netns),
            ("`ssh` exited with status 255", Victim::Steward, Reach::Ssh),
            ("`ssh` was killed by signal 9", Victim::Ssh, Reach::Ssh),
            ("`ssh` exited with status 255", Victim::Sshd, Reach::Ssh),
            ("`srun` exited with status 137: srun: error: h2: task 0: Killed", Victim::Steward, Reach::Slurm),
            ("`srun` was killed by signal 9", Victim::Srun, Reach::Slurm),
        ] {
            assert_eq!(judged(&lost(cause), &[victim], reach), (0, 0, 0), "{victim} over {reach}");
            assert_eq!(judged(&lost(cause), &[Victim::Agent], reach), (1, 0, 0), "{victim} over {reach}");
            let silent = judged(&lost("no sign of life for 10 s"), &[victim], reach);
            assert_eq!(silent, (1, 0, 0), "{victim} over {reach}");
        }
        let other = judged(&lost("`ssh` was killed by signal 9"), &[Victim::Sshd], Reach::Ssh);
        assert_eq!(other, (1, 0, 0), "it was another process");
    }

    #[test]
    fn each_part_of_a_failure_is_needed() {
        type Change = fn(&mut Run, &mut Failure);
        let changes: [Change; 5] = [
            |_, _| {},
            |run, _| run.state = RunState::Invalid,
            |_, failure| failure.phase.clear(),
            |_, failure| failure.endpoint = None,
            |_, failure| failure.hint = None,
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let (mut document, _) = result();
            let run = &mut document.cells[0].runs[0];
            run.state = RunState::Failed;
            let mut failure = failure("host `h2` is lost: `ssh` was killed by signal 9");
            change(run, &mut failure);
            run.failure = Some(failure);
            let counts = judged(&document, &[Victim::Ssh], Reach::Ssh);
            assert_eq!(counts.misnamed, u32::from(index > 0), "{:?}", counts.complaints);
        }
    }

    #[test]
    fn saved_runs_and_early_ends_are_counted() {
        let (complete, saved) = result();
        let count = saved.len() as u32;
        assert_eq!(judged(&complete, &[], Reach::Ssh), KillCounts::default());
        let with = |document: &ResultDocument, killed: &[Victim], planned: u32, raw: Option<i32>| {
            let (before, status) = (BTreeSet::new(), raw.map(ExitStatus::from_raw));
            let planned = planned as usize;
            let session =
                Session { reach: Reach::Ssh, killed, before: &before, saved: &saved, status, planned };
            let counts = session.judge(document);
            (counts.runs_lost, counts.hangs, counts.complaints.len())
        };
        let (three, zero) = (Some(3 << 8), Some(0));
        let mut interrupted = complete.clone();
        interrupted.state = State::Interrupted;
        assert_eq!(with(&interrupted, &[Victim::Ssh], count + 4, three), (0, 0, 0));
        assert_eq!(with(&interrupted, &[Victim::Ssh], count + 4, zero), (0, 0, 1), "it says nothing");
        assert_eq!(with(&interrupted, &[Victim::Agent], count + 4, three), (4, 0, 1), "no host was lost");
        assert_eq!(with(&complete, &[], count + 4, zero), (4, 0, 1), "complete with runs missing");
        assert_eq!(with(&complete, &[], count, None), (0, 1, 0), "a hang");
        assert_eq!(with(&complete, &[], count, Some(9)), (0, 0, 1), "it was killed");
        let mut lost = interrupted.clone();
        lost.cells[0].runs.remove(0);
        assert_eq!(with(&lost, &[Victim::Ssh], count, three), (1, 0, 0), "a saved run is missing");
    }

    #[test]
    fn run_of_an_earlier_session_is_not_judged_again() {
        let (mut document, saved) = result();
        let run = &mut document.cells[0].runs[0];
        (run.state, run.failure) = (RunState::Failed, Some(failure("host `h2` is lost: x")));
        let before = BTreeSet::from([run.number]);
        let session = Session {
            reach: Reach::Ssh,
            killed: &[],
            before: &before,
            saved: &saved,
            status: Some(ExitStatus::from_raw(0)),
            planned: saved.len(),
        };
        assert_eq!(session.judge(&document), KillCounts::default());
    }

    #[test]
    fn file_is_left_once_its_owner_is_gone() {
        let own = std::process::id();
        let mut child = Command::new("true").spawn().expect("true");
        child.wait().expect("it ends");
        let files = [
            format!("/dev/shm/ddsmark-{own}-64144c6f-1.2.shared"),
            format!("/dev/shm/x-ddsmark-{}-64144c6f-1", child.id()),
            "/dev/shm/ddsmark-x".to_owned(),
        ]
        .map(PathBuf::from);
        let after: BTreeSet<PathBuf> = files.clone().into();
        let mut counts = KillCounts::default();
        count_files(&mut counts, &BTreeSet::new(), &after);
        assert_eq!((counts.files_left, counts.complaints.len()), (2, 2), "{:?}", counts.complaints);
        let mut counts = KillCounts::default();
        count_files(&mut counts, &BTreeSet::from([files[1].clone()]), &after);
        assert_eq!(counts.files_left, 1, "the other one was there before");
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
