//! Tests that each count of a campaign can differ from 0.

use std::{collections::BTreeMap, fs, process::Command};

use results::{Directory, Failure, ResultDocument, RunState};

use super::{
    conclude,
    judge::{KillCounts, files_of, judge},
    left_processes,
    plan::{self, Kill},
};
use crate::tree::root;

const DRIVERS: [&str; 2] = ["one", "other"];

/// Returns a result with one run of each of two cells of `udp`.
fn document() -> ResultDocument {
    let mut document = Directory::load(&root().join("fuzz/corpus/result/complete")).expect("a result");
    for cell in &mut document.cells {
        cell.runs.truncate(1);
    }
    document
}

/// Returns a result with a correctly failed first run of the first cell, and the kill of that run.
fn killed() -> (ResultDocument, Kill, BTreeMap<String, String>) {
    let mut document = document();
    let cell = &mut document.cells[0];
    let driver = cell.factors.driver.clone();
    let workload = serde_json::to_value(cell.factors.workload).expect("text");
    let (workload, [role, _]) =
        plan::PAIRS.into_iter().find(|(name, _)| workload == *name).expect("a workload");
    let came = BTreeMap::from([(format!("{driver} {role} 0"), "hit".to_owned())]);
    let kill = Kill { driver, workload, run: 0, role, phase: "drain", delay_us: 0 };
    cell.runs[0].state = RunState::Failed;
    cell.runs[0].failure = Some(Failure {
        phase: "drain".to_owned(),
        endpoint: Some(role.to_owned()),
        error: "the agent's process was killed by signal 9 (SIGKILL)".to_owned(),
        hint: Some("someone".to_owned()),
        last_log_lines: Vec::new(),
    });
    (document, kill, came)
}

#[test]
fn planned_failure_is_not_a_fault() {
    let (document, kill, came) = killed();
    let counts = judge(&document, &[kill], 1, &came);
    assert_eq!(counts, KillCounts { killed: 1, ..KillCounts::default() });
}

#[test]
fn kill_after_the_reports_costs_no_values() {
    let (mut document, mut kill, came) = killed();
    let run = &mut document.cells[0].runs[0];
    kill.phase = "exit";
    run.exit_failure = run.failure.take().map(|failure| Failure { phase: "exit".to_owned(), ..failure });
    assert_eq!(judge(&document, std::slice::from_ref(&kill), 1, &came).misnamed, 1, "it failed");
    document.cells[0].runs[0].state = RunState::Valid;
    assert_eq!(judge(&document, &[kill], 1, &came), KillCounts { killed: 1, ..KillCounts::default() });
}

#[test]
fn each_fault_is_counted() {
    let (document, kill, came) = killed();
    let judged = |document: &ResultDocument, came: &BTreeMap<String, String>| {
        judge(document, std::slice::from_ref(&kill), 1, came)
    };
    assert_eq!(judged(&document, &BTreeMap::new()).misnamed, 1, "the kill never came");
    assert_eq!(judge(&document, &[], 1, &came).others_failed, 1, "no kill");
    assert_eq!(judge(&document, std::slice::from_ref(&kill), 2, &came).runs_lost, 2, "one a cell");
    type Change = fn(&mut Failure);
    let changes: [Change; 4] = [
        |failure| failure.phase = "report".to_owned(),
        |failure| failure.endpoint = None,
        |failure| failure.error = "no answer within 10 s".to_owned(),
        |failure| failure.hint = None,
    ];
    for change in changes {
        let mut document = document.clone();
        change(document.cells[0].runs[0].failure.as_mut().expect("it failed"));
        assert_eq!(judged(&document, &came).misnamed, 1, "{:?}", document.cells[0].runs[0].failure);
    }
}

#[test]
fn leftover_process_is_counted_and_killed() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
    let pid = child.id().cast_signed();
    assert_eq!(left_processes(|| Ok([pid])).expect("an answer"), 1);
    child.wait().expect("it ends");
    assert_eq!(left_processes(|| Ok([0; 0])).expect("an answer"), 0);
}

#[test]
fn leftover_file_is_found() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["x-ddsmark-12-3", "other"] {
        fs::write(directory.path().join(name), "").expect("a file");
    }
    let found = |begin: &str| files_of(directory.path(), begin).expect("a directory");
    assert_eq!(found("ddsmark-"), [directory.path().join("x-ddsmark-12-3")]);
    assert_eq!(found("ddsmark-12-").len(), 1);
    assert_eq!(found("ddsmark-1-").len(), 0);
    assert!(files_of(&directory.path().join("missing"), "ddsmark-").is_err());
}

#[test]
fn campaign_fails_with_any_fault() {
    let zero = KillCounts { killed: 3, late: 1, ..KillCounts::default() };
    assert!(conclude(&zero, "late").is_ok());
    type Change = fn(&mut KillCounts);
    let changes: [Change; 7] = [
        |counts| counts.misnamed = 1,
        |counts| counts.others_failed = 1,
        |counts| counts.runs_lost = 1,
        |counts| counts.hangs = 1,
        |counts| counts.orphans = 1,
        |counts| counts.files_left = 1,
        |counts| counts.complaints = vec!["it ended with 1".to_owned()],
    ];
    for change in changes {
        let mut counts = zero.clone();
        change(&mut counts);
        assert!(conclude(&counts, "late").is_err(), "{counts:?}");
    }
}

#[test]
fn every_phase_role_and_driver_is_killed_and_no_first_run() {
    let each = &plan::each(&DRIVERS)[0];
    assert_eq!(each.kills.len(), 64);
    let random = plan::random(&DRIVERS, 200, 1);
    let kills: Vec<&Kill> = random.iter().flat_map(|batch| &batch.kills).collect();
    assert_eq!(kills.len(), 200);
    assert!(kills.iter().all(|kill| kill.run > 0));
    assert_eq!(plan::random(&DRIVERS, 200, 1)[3].kills, random[3].kills);
    assert_ne!(plan::random(&DRIVERS, 200, 2)[3].kills, random[3].kills);
}
