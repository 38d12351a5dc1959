//! Duets: two runs at the same time, each on half of the cores, and the effect of a failure on the partner.

use std::{collections::BTreeMap, fs, thread, time::Duration};

use crate::rig::{Diary, Rig, SHORT_NS, children};
use experiment::{Pin, Workload};
use results::{Directory, Pairing, ResultDocument, Run, RunState, State, VerdictKind};
use runner::StopToken;

/// Returns duets of a baseline and another cell, each with its own driver. The cores do not exist, which fake agents
/// ignore.
fn duets(blocks: u32, other: &str) -> Rig {
    let mut rig = Rig::new(&[("base", ""), ("other", other)]).of_workload(Workload::Latency);
    let design = &mut rig.experiment.design;
    design.blocks = blocks;
    design.duet = true;
    design.baseline = vec!["base/latency".to_owned()];
    design.pin = Pin::Cores(vec![3000, 3001], vec![3002, 3003]);
    design.measure_ns = 500_000_000;
    rig
}

fn runs(document: &ResultDocument) -> BTreeMap<u32, &Run> {
    document.cells.iter().flat_map(|cell| &cell.runs).map(|run| (run.number, run)).collect()
}

/// Executes an experiment until the runs of its duets measured at the same time, except those beside one that failed, at most ten
/// times: a busy host may delay one of two runs, or the answer of an agent beyond a short limit.
fn executed_side_by_side(rig: impl Fn(u64) -> Rig) -> (ResultDocument, Diary) {
    let attempt = |attempt| {
        let mut diary = Diary::default();
        let document = rig(SHORT_NS << (attempt / 2)).execute_with(&mut diary).document;
        let is_complete = {
            let runs = runs(&document);
            let is_made = |run: &&&Run| run.state == RunState::Valid || run.cell == "other/latency";
            let of_pair = |run: &&Run| runs[&run.duet.as_ref().expect("a duet").partner];
            let both_made = |run: &&Run| [*run, of_pair(run)].iter().all(|run| run.failure.is_none());
            let mut made = runs.values().filter(|run| both_made(run));
            runs.values().filter(|run| is_made(run)).count() == runs.len()
                && made.all(|run| run.is_side_by_side())
        };
        is_complete.then_some((document, diary))
    };
    (0..10).find_map(attempt).expect("one attempt in ten: the host is too busy, or duets are wrong")
}

fn side_by_side_pct(run: &Run) -> f64 {
    run.duet.as_ref().expect("a duet").side_by_side_pct
}

/// Returns the cores of both agents, those of the writer or pinger first.
fn cores(run: &Run) -> Vec<Vec<u32>> {
    run.endpoints.iter().map(|endpoint| endpoint.cpus.clone()).collect()
}

fn domain(run: &Run) -> &str {
    &run.endpoints[0].settings["participant"]["domain"]
}

#[test]
fn both_runs_are_made_at_the_same_time_on_cores_and_domains_of_their_own() {
    let (document, diary) = executed_side_by_side(|_| duets(2, ""));
    let runs = runs(&document);
    assert_eq!((runs.len(), document.state), (8, State::Complete));
    let halves = [vec![vec![3000], vec![3002]], vec![vec![3001], vec![3003]]];
    let mut first_of_other = Vec::new();
    for run in runs.values() {
        let partner = runs[&run.duet.as_ref().expect("a duet").partner];
        assert!(run.belongs_to(partner) && partner.belongs_to(run) && run.block == partner.block);
        assert_eq!((run.state, &run.failure), (RunState::Valid, &None));
        // Consecutive runs would have no overlap.
        assert!(
            side_by_side_pct(run) > 50.0 && side_by_side_pct(run) == side_by_side_pct(partner),
            "{run:?}"
        );
        assert_ne!(domain(run), domain(partner));
        let used = [cores(run), cores(partner)];
        assert!(used == halves || used == [halves[1].clone(), halves[0].clone()], "{used:?}");
        assert_ne!(run.environment_padding_bytes, partner.environment_padding_bytes);
        if run.cell == "other/latency" {
            first_of_other.push(cores(run));
        }
    }
    assert_eq!(first_of_other.len(), 2);
    assert_ne!(first_of_other[0], first_of_other[1], "halves are swapped");

    // Absolute values are labelled.
    assert!(document.cells.iter().all(|cell| cell.under_duet_interference));
    assert!(document.warnings.iter().any(|warning| warning.text.contains("under duet interference")));
    assert!(document.findings.is_empty());
    for verdict in &document.verdicts {
        assert_eq!(verdict.pairing, Pairing::Duets);
        assert!(verdict.baseline.under_duet_interference && verdict.treatment.under_duet_interference);
        assert_eq!((verdict.baseline.runs, verdict.treatment.runs), (2, 2), "{}", verdict.text);
    }
    assert_eq!(document.verdicts.len(), 4);

    // Both runs start before one ends.
    assert_eq!(diary.0.len(), 16);
    for duet in diary.0.chunks(4) {
        assert!(duet[..2].iter().all(|line| line.ends_with("starts")), "{duet:?}");
        assert!(duet[2..].iter().all(|line| line.ends_with("Valid")), "{duet:?}");
    }
}

#[test]
fn partner_of_a_failed_duet_run_is_kept_without_ratio() {
    for script in ["kill echo match", "fail pinger warm_up", "hang echo configure", "fail pinger measure"] {
        let (document, _) = executed_side_by_side(|limit_ns| {
            let mut rig = duets(1, script);
            rig.experiment.limits.configure_ns = limit_ns;
            rig
        });
        let runs = runs(&document);
        let failed = runs.values().find(|run| run.cell == "other/latency").expect("it was made");
        let partner = runs[&failed.duet.as_ref().expect("a duet").partner];
        assert_eq!((failed.state, partner.state), (RunState::Failed, RunState::Valid), "{script}");
        assert_eq!((partner.latency["rtt"].n, side_by_side_pct(partner)), (1000, 0.0), "{script}");
        for verdict in &document.verdicts {
            let answer = verdict.answer.as_ref().expect("an answer");
            let complete = verdict.kind == VerdictKind::NoiseFloor;
            assert_eq!(
                (answer.n, answer.incomplete),
                if complete { (1, 0) } else { (0, 1) },
                "{}",
                verdict.text
            );
        }
        assert_eq!(children(), [""; 0]);
    }
}

#[test]
fn duet_with_a_given_up_driver_is_not_attempted() {
    let mut diary = Diary::default();
    let mut rig = duets(5, "fail any configure");
    rig.experiment.design.measure_ns = 2_000_000;
    let document = rig.execute_with(&mut diary).document;
    let all = runs(&document);
    assert_eq!((all.len(), document.state), (20, State::Complete));
    let of = |cell: &str, words: &str| {
        let failed_so =
            |run: &&&Run| run.failure.as_ref().is_some_and(|failure| failure.error.contains(words));
        all.values().filter(|run| run.cell == cell).filter(failed_so).count()
    };
    assert_eq!((of("other/latency", "it does not work"), of("other/latency", "not attempted")), (3, 2));
    assert_eq!(
        of("base/latency", "not attempted: driver `other` of the other run of the duet was given up"),
        2
    );
    let valid = all.values().filter(|run| run.state == RunState::Valid).count();
    assert_eq!(valid, 13, "ten beside itself, three beside one that failed");
    assert_eq!(diary.0.last().expect("lines").split(' ').next(), Some("20/20"));
}

#[test]
fn stop_request_discards_both_runs_of_a_duet() {
    let mut rig = duets(2, "");
    // Without the stop request a run would measure for an hour.
    rig.experiment.design.measure_ns = 3_600_000_000_000;
    rig.experiment.limits.exit_ns = SHORT_NS;
    let stop = rig.stop.clone();
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(700));
        stop.request();
    });
    let document = rig.execute();
    stopper.join().expect("no panic");
    assert_eq!((runs(&document).len(), document.state), (0, State::Interrupted));
    assert_eq!(children(), [""; 0]);
}

#[test]
fn duet_with_one_saved_run_is_repeated() {
    let mut rig = duets(2, "");
    rig.experiment.design.measure_ns = 2_000_000;
    let whole = rig.execute();
    let numbers: Vec<u32> = runs(&whole).into_keys().collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    // State after a crash between the records of runs 5 and 6, in the second block.
    let record = |number: u32| rig.results().join(format!("runs/{number:04}.json"));
    for number in 6..=8 {
        fs::remove_file(record(number)).expect("a record");
    }
    fs::remove_file(rig.results().join("result.json")).expect("a result");
    let log = rig.results().join("log.json");
    let text = fs::read_to_string(&log).expect("a log");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value["allocation"]["stopped_by"] = serde_json::Value::Null;
    value["allocation"]["made"] = 1.into();
    value["blocks"][1]["complete"] = false.into();
    fs::write(&log, value.to_string()).expect("a log");

    // Until the experiment is resumed, the run is shown without a ratio.
    let half = Directory::load(&rig.results()).expect("a result");
    assert_eq!(runs(&half).into_keys().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let answers = verdicts::judge(&half).into_iter().filter_map(|verdict| verdict.answer);
    assert_eq!(answers.map(|answer| answer.n + answer.incomplete).max(), Some(1));

    let before: Vec<Vec<u8>> = (1..=5).map(|number| fs::read(record(number)).expect("a record")).collect();
    let resumed = rig.resume_with(&[], &StopToken::new(), &mut ()).document;
    assert_eq!(resumed.resumed[0].first_run, 5);
    let (made, planned) = (runs(&resumed), runs(&whole));
    let order = |runs: &BTreeMap<u32, &Run>| {
        runs.values().map(|run| (run.number, run.cell.clone(), run.twin, cores(run))).collect::<Vec<_>>()
    };
    assert_eq!(order(&made), order(&planned));
    let after: Vec<Vec<u8>> = (1..=5).map(|number| fs::read(record(number)).expect("a record")).collect();
    assert_eq!(before[..4], after[..4]);
    assert_ne!(before[4], after[4], "it was repeated");
    assert!(made[&5].belongs_to(made[&6]));
    assert_eq!(resumed.state, State::Complete);
}
