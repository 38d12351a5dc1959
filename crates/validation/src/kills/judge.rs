//! Evaluation of an experiment with killed agents.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use results::{Failure, ResultDocument, Run, RunState, State};

use super::plan::Kill;
use crate::Error;

/// Counts of a campaign. All but the first two must be 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KillCounts {
    /// Number of killed agents.
    pub killed: u32,
    /// Number of agents that had already ended when they were to be killed.
    pub late: u32,
    /// Number of failures without phase, role or cause, and of kills that did not happen.
    pub misnamed: u32,
    /// Number of runs without a kill that are not valid.
    pub others_failed: u32,
    /// Number of scheduled runs without a record.
    pub runs_lost: u32,
    pub hangs: u32,
    pub orphans: u32,
    pub files_left: u32,
    /// Descriptions of the errors.
    pub complaints: Vec<String>,
}

impl KillCounts {
    pub fn add(&mut self, other: Self) {
        self.killed += other.killed;
        self.late += other.late;
        self.misnamed += other.misnamed;
        self.others_failed += other.others_failed;
        self.runs_lost += other.runs_lost;
        self.hangs += other.hangs;
        self.orphans += other.orphans;
        self.files_left += other.files_left;
        self.complaints.extend(other.complaints);
    }

    /// Returns the counts that must be 0.
    pub fn faults(&self) -> [(&'static str, u32); 6] {
        [
            ("hangs", self.hangs),
            ("orphans", self.orphans),
            ("saved runs lost", self.runs_lost),
            ("files left in /dev/shm", self.files_left),
            ("failures that do not name phase, role and cause", self.misnamed),
            ("other runs that are not valid", self.others_failed),
        ]
    }
}

/// Compares a result with the planned kills. `came` has the outcome of each kill by `DRIVER ROLE NUMBER`.
pub fn judge(
    document: &ResultDocument,
    kills: &[Kill],
    runs: u32,
    came: &BTreeMap<String, String>,
) -> KillCounts {
    let mut counts = KillCounts::default();
    if document.state != State::Complete {
        counts.complaints.push(format!("the experiment is {:?}", document.state));
        counts.runs_lost += 1;
    }
    for cell in &document.cells {
        counts.runs_lost += runs.saturating_sub(cell.runs.len() as u32);
        let mut in_order: Vec<&Run> = cell.runs.iter().collect();
        in_order.sort_by_key(|run| run.number);
        let workload = serde_json::to_value(cell.factors.workload).unwrap_or_default();
        for (number, run) in (0..).zip(in_order) {
            let mut planned = kills.iter();
            let kill = planned.find(|kill| {
                kill.driver == cell.factors.driver && workload == kill.workload && kill.run == number
            });
            match kill {
                Some(kill) => of_killed(&mut counts, run, kill, came),
                None if run.state == RunState::Valid => {}
                None => {
                    counts.others_failed += 1;
                    let Run { number, cell, state, failure, warnings, .. } = run;
                    counts
                        .complaints
                        .push(format!("run {number} of {cell} is {state:?}: {failure:?} {warnings:?}"));
                }
            }
        }
    }
    counts
}

fn of_killed(counts: &mut KillCounts, run: &Run, kill: &Kill, came: &BTreeMap<String, String>) {
    let name = format!("{} {} {}", kill.driver, kill.role, kill.run);
    let cause = match came.get(&name).map(String::as_str) {
        Some("hit") => {
            counts.killed += 1;
            "was killed by signal 9 (SIGKILL)"
        }
        // its last reply was withheld, so that the runner sees an agent that ends without one
        Some("late") if kill.phase == "exit" => {
            counts.late += 1;
            "exited with status 0"
        }
        other => {
            counts.misnamed += 1;
            counts
                .complaints
                .push(format!("the kill {kill:?} came to nothing: {other:?}, {:?}", run.failure));
            return;
        }
    };
    // After the reports, a kill costs nothing.
    let (failure, state) = match kill.phase {
        "exit" => (&run.exit_failure, RunState::Valid),
        _ => (&run.failure, RunState::Failed),
    };
    let named = failure.as_ref().is_some_and(|failure: &Failure| {
        failure.phase == kill.phase
            && failure.endpoint.as_deref() == Some(kill.role)
            && failure.error == format!("the agent's process {cause}")
            && failure.hint.is_some()
    });
    if run.state != state || !named {
        counts.misnamed += 1;
        counts.complaints.push(format!("{kill:?}: run {} is {:?}: {:?}", run.number, run.state, run.failure));
    }
}

/// Returns the files in a directory whose names contain this part, with which names of runs start.
pub fn files_of(directory: &Path, begin: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains(begin) {
            found.push(entry.path());
        }
    }
    Ok(found)
}
