//! Resumption of an interrupted experiment at any point.

use experiment::Workload;
use results::{ResultDocument, Run, RunState, State, StoppedBy, WarningKind};
use runner::StopToken;

use crate::rig::{Diary, Rig, StopAfter, children};

/// Returns an experiment with two cells, one of which is measured twice per block: six runs.
fn two_blocks(scripts: [&str; 2]) -> Rig {
    let mut rig = Rig::new(&[("a", scripts[0]), ("b", scripts[1])]).of_workload(Workload::Throughput);
    rig.experiment.design.blocks = 2;
    rig.experiment.design.baseline = vec!["a/throughput".to_owned()];
    rig
}

/// Returns all runs by number.
fn runs(document: &ResultDocument) -> Vec<&Run> {
    let mut runs: Vec<&Run> = document.cells.iter().flat_map(|cell| &cell.runs).collect();
    runs.sort_by_key(|run| run.number);
    runs
}

#[test]
fn resume_measures_each_run_once_in_planned_order() {
    for made in 1..=5 {
        let rig = two_blocks(["", ""]);
        let planned: Vec<(u32, u32, String, bool)> = rig
            .experiment
            .schedule()
            .iter()
            .map(|run| (run.number, run.block, rig.experiment.cells[run.cell].id.clone(), run.twin))
            .collect();
        let first = rig.execute_with(&mut StopAfter(made, rig.stop.clone())).document;
        assert_eq!((first.state, runs(&first).len()), (State::Interrupted, made as usize));

        let outcome = rig.resume_with(&[], &StopToken::new(), &mut ());
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let whole = outcome.document;
        assert_eq!(whole.state, State::Complete);
        let found: Vec<_> =
            runs(&whole).into_iter().map(|run| (run.number, run.block, run.cell.clone(), run.twin)).collect();
        assert_eq!(found, planned, "stopped after {made}");
        assert!(runs(&whole).iter().all(|run| run.state == RunState::Valid));
        // Runs measured before are unchanged.
        assert_eq!(runs(&whole)[..made as usize], runs(&first)[..]);
        assert_eq!(whole.resumed.iter().map(|resumed| resumed.first_run).collect::<Vec<_>>(), [made + 1]);
        assert!(whole.warnings.iter().all(|warning| warning.kind != WarningKind::Mixed));
        let allocation = whole.allocation.as_ref().expect("blocks are counted");
        assert_eq!((allocation.made, allocation.stopped_by), (2, Some(StoppedBy::Fixed)));
        // An interrupted block is complete, and its duration is unknown.
        assert!(whole.blocks.iter().all(|block| block.complete), "{:?}", whole.blocks);
        let cut = made % 3 != 0;
        let unknown = whole.blocks.iter().filter(|block| block.took_ns.is_none()).count();
        assert_eq!(unknown, usize::from(cut), "stopped after {made}");
        assert_eq!(children(), [""; 0]);
    }
}

#[test]
fn resumed_experiment_can_be_stopped_and_a_complete_one_not_resumed() {
    let rig = two_blocks(["", ""]);
    rig.execute_with(&mut StopAfter(1, rig.stop.clone()));
    let again = StopToken::new();
    let second = rig.resume_with(&[], &again, &mut StopAfter(4, again.clone())).document;
    assert_eq!((second.state, runs(&second).len()), (State::Interrupted, 4));
    let whole = rig.resume_with(&["host/kernel: `6.1`, now `6.2`"], &StopToken::new(), &mut ()).document;
    assert_eq!((whole.state, runs(&whole).len()), (State::Complete, 6));
    assert_eq!(whole.resumed.iter().map(|resumed| resumed.first_run).collect::<Vec<_>>(), [2, 5]);
    let mixed = whole.warnings.iter().find(|warning| warning.kind == WarningKind::Mixed).expect("a warning");
    let words = "from run 5 on it was measured in another environment: host/kernel: `6.1`, now `6.2`";
    assert_eq!(mixed.text, words);
    assert!(results::Directory::reopen(&rig.results()).is_err(), "nothing is left to do");
}

/// Before the stop, three runs of a driver failed in one phase; no other run of it is attempted after the resumption.
#[test]
fn abandoned_driver_stays_abandoned() {
    let rig = two_blocks(["kill any hello", ""]);
    let mine =
        |document: &ResultDocument| runs(document).iter().filter(|run| run.cell.starts_with('a')).count();
    // The third of them is the first or second run of the second block.
    let stop_at = rig
        .experiment
        .schedule()
        .iter()
        .filter(|run| rig.experiment.cells[run.cell].id.starts_with('a'))
        .nth(2)
        .expect("four runs")
        .number;
    let first = rig.execute_with(&mut StopAfter(stop_at, rig.stop.clone())).document;
    assert_eq!(mine(&first), 3);
    let mut diary = Diary::default();
    let whole = rig.resume_with(&[], &StopToken::new(), &mut diary).document;
    assert_eq!((whole.state, mine(&whole)), (State::Complete, 4));
    let last = runs(&whole).into_iter().rfind(|run| run.cell.starts_with('a')).expect("four runs").clone();
    let failure = last.failure.expect("it was not attempted");
    assert_ne!(failure.error, "the agent's process was killed by signal 9 (SIGKILL)", "{failure:?}");
    assert!(!diary.0.iter().any(|line| line.contains(" a/throughput starts")), "{:?}", diary.0);
}
