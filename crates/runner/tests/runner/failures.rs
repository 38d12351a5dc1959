//! Failures of agents in each phase: each fails its run, is attributed, and leaves nothing behind.

use std::{fs, time::Duration};

use crate::rig::{Diary, Rig, SHORT_NS, children, limits, lives, local_site, run};
use control::PROTOCOL;
use experiment::{Limits, Workload};
use host::{Owner, Site as _};
use results::{Directory, Failure, RunState, State, WarningKind};

const PHASES: [&str; 8] = ["hello", "configure", "match", "warm_up", "measure", "drain", "report", "exit"];

/// Returns the failure of one throughput run. The run of the other driver must be measured and saved.
fn failure(script: &str, limits: Limits) -> Failure {
    let rig =
        Rig::new(&[("bad", script), ("good", "")]).of_workload(Workload::Throughput).with_limits(limits);
    let document = rig.execute();
    assert_eq!(document.state, State::Complete);
    assert_eq!(run(&document, "good/throughput").state, RunState::Valid, "{script}");
    let bad = run(&document, "bad/throughput");
    if let Some(failure) = &bad.exit_failure {
        assert_eq!(
            (bad.state, &bad.failure, failure.phase.as_str()),
            (RunState::Valid, &None, "exit"),
            "{script}"
        );
        return failure.clone();
    }
    assert_eq!(bad.state, RunState::Failed, "{script}");
    bad.failure.clone().unwrap()
}

/// Returns limits that are short for the given phase, and long for the others.
fn short(phase: &str) -> Limits {
    let mut limits = Rig::new(&[]).experiment.limits;
    let limit = match phase {
        "hello" => &mut limits.hello_ns,
        "configure" => &mut limits.configure_ns,
        "warm_up" | "measure" => &mut limits.grace_ns,
        "report" => &mut limits.report_ns,
        "exit" => &mut limits.exit_ns,
        _ => return crate::rig::limits(SHORT_NS),
    };
    *limit = SHORT_NS;
    limits
}

#[test]
fn an_agent_that_is_killed_in_any_phase_is_named() {
    for phase in PHASES {
        for role in ["writer", "reader"] {
            let whom = if phase == "hello" { "any" } else { role };
            let failure = failure(&format!("kill {whom} {phase}"), Rig::new(&[]).experiment.limits);
            assert_eq!(failure.phase, phase, "{failure:?}");
            assert!(phase == "hello" || failure.endpoint.as_deref() == Some(role), "{failure:?}");
            assert_eq!(failure.error, "the agent's process was killed by signal 9 (SIGKILL)", "{phase}");
        }
    }
    assert_eq!(children(), [""; 0]);
}

#[test]
fn an_agent_that_hangs_in_any_phase_is_named() {
    for phase in PHASES {
        let whom = if phase == "hello" { "any" } else { "reader" };
        let failure = failure(&format!("hang {whom} {phase}"), short(phase));
        assert_eq!(failure.phase, phase, "{failure:?}");
        assert!(phase == "hello" || failure.endpoint.as_deref() == Some("reader"), "{failure:?}");
        assert!(failure.error.starts_with("no answer within "), "{failure:?}");
        assert!(failure.hint.is_some());
    }
    assert_eq!(children(), [""; 0]);
}

#[test]
fn agent_that_ignores_its_exit_is_killed() {
    let mut limits = short("measure");
    limits.exit_ns = SHORT_NS;
    let failure = failure("deaf writer measure", limits);
    assert_eq!((failure.phase.as_str(), failure.endpoint.as_deref()), ("measure", Some("writer")));
    assert_eq!(children(), [""; 0]);
}

#[test]
fn exit_of_one_agent_ends_the_wait_for_the_other() {
    // The writer would measure for an hour.
    let mut rig = Rig::new(&[("bad", "kill reader measure")]).of_workload(Workload::Throughput);
    rig.experiment.design.measure_ns = 3_600_000_000_000;
    let document = rig.execute();
    let failure = run(&document, "bad/throughput").failure.clone().unwrap();
    assert_eq!((failure.phase.as_str(), failure.endpoint.as_deref()), ("measure", Some("reader")));
}

#[test]
fn failure_has_last_lines_of_agent_and_log_is_kept() {
    let rig = Rig::new(&[("bad", "exit writer match")]).of_workload(Workload::Throughput);
    let document = rig.execute();
    let failure = run(&document, "bad/throughput").failure.clone().unwrap();
    assert_eq!(failure.error, "the agent's process exited with status 3");
    assert_eq!(failure.last_log_lines, ["the driver has seen", "enough"]);
    let log = fs::read_to_string(rig.results().join("logs/0001-writer.log")).unwrap();
    assert_eq!(log, "the driver has seen\nenough\n");
    assert!(!rig.results().join("logs/0001-reader.log").exists());
}

#[test]
fn failure_text_of_an_agent_is_reported() {
    let failure = failure("fail reader match", Rig::new(&[]).experiment.limits);
    assert_eq!((failure.phase.as_str(), failure.endpoint.as_deref()), ("match", Some("reader")));
    assert_eq!((failure.error.as_str(), failure.hint.as_deref()), ("it does not work", Some("try harder")));
}

#[test]
fn garbage_and_unexpected_replies_fail_the_run() {
    for phase in PHASES {
        let whom = if phase == "hello" { "any" } else { "writer" };
        let garbage = failure(&format!("garbage {whom} {phase}"), Rig::new(&[]).experiment.limits);
        assert_eq!(garbage.phase, phase);
        assert!(garbage.error.contains("invalid control message"), "{garbage:?}");
        let wrong = failure(&format!("wrong {whom} {phase}"), Rig::new(&[]).experiment.limits);
        assert!(wrong.error.contains("unexpected reply"), "{wrong:?}");
    }
    let twice = failure("twice writer configure", Rig::new(&[]).experiment.limits);
    assert!(twice.error.contains("unexpected reply"), "{twice:?}");
    let other = format!("version {} of the control channel, not {PROTOCOL}", PROTOCOL + 1);
    let protocol = failure("protocol", Rig::new(&[]).experiment.limits);
    assert!(protocol.phase == "hello" && protocol.error.contains(&other), "{protocol:?}");
}

#[test]
fn run_whose_agents_fail_after_their_reports_is_valid_with_a_warning() {
    for (script, word) in [
        ("linger reader exit", "did not exit and was killed"),
        ("crash reader exit", "signal 9 (SIGKILL) after closing"),
        ("kill reader exit", "signal 9"),
        ("fail reader exit", "it does not work"),
    ] {
        let mut rig = Rig::new(&[("bad", script)]).of_workload(Workload::Throughput);
        rig.experiment.limits.exit_ns = SHORT_NS;
        let document = rig.execute();
        let bad = run(&document, "bad/throughput");
        let failure = bad.exit_failure.as_ref().unwrap();
        let named = (bad.state, failure.phase.as_str(), failure.endpoint.as_deref());
        assert_eq!(named, (RunState::Valid, "exit", Some("reader")), "{failure:?}");
        assert!(failure.error.contains(word), "{failure:?}");
        assert!(
            bad.throughput().is_some() && document.cells[0].throughput.is_some() && bad.failure.is_none()
        );
        let texts: Vec<&str> = document.cells[0]
            .warnings
            .iter()
            .filter(|warning| warning.kind == WarningKind::UncleanExit)
            .map(|warning| warning.text.as_str())
            .collect();
        assert!(
            texts[0].starts_with("reader: ") && texts[0].contains("the values are complete"),
            "{texts:?}"
        );
        assert!(rig.results().join("runs/0001.hlog").exists());
    }
}

#[test]
fn what_a_killed_run_leaves_behind_is_removed() {
    let rig = Rig::new(&[("bad", "shm writer\nchild writer\nkill writer measure")])
        .of_workload(Workload::Throughput);
    rig.execute();
    let left: Vec<_> = fs::read_dir("/dev/shm")
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(&format!("ddsmark-{}-", std::process::id())))
        .collect();
    assert_eq!(left, [""; 0]);
    let log = fs::read_to_string(rig.results().join("logs/0001-writer.log")).unwrap();
    let child: u32 = log.trim().strip_prefix("child ").unwrap().parse().unwrap();
    // Its grandparent killed it; init reaps it at some time.
    let limit = std::time::Instant::now() + Duration::from_secs(60);
    while lives(child) && std::time::Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!lives(child));
}

#[test]
fn what_a_killed_runner_left_behind_is_removed_by_the_next() {
    let mut runner = std::process::Command::new("true").spawn().unwrap();
    runner.wait().unwrap();
    let owner = Owner { pid: runner.id(), ..local_site().owner() };
    let left = format!("/dev/shm/{}-left", owner.run_name(7));
    fs::write(&left, "").unwrap();
    Rig::new(&[("good", "")]).of_workload(Workload::Throughput).execute();
    assert!(!fs::exists(&left).unwrap());
}

#[test]
fn driver_with_same_failure_in_first_runs_is_given_up() {
    let mut rig = Rig::new(&[("bad", "fail any configure"), ("good", "")]);
    rig.experiment.design.blocks = 3;
    let mut diary = Diary::default();
    let outcome = rig.execute_with(&mut diary);
    let document = outcome.document;
    assert_eq!(document.state, State::Complete);
    let failures: Vec<&Failure> =
        document.cells.iter().flat_map(|cell| &cell.runs).filter_map(|run| run.failure.as_ref()).collect();
    assert!(failures.iter().all(|failure| failure.phase == "configure"));
    let attempted = failures.iter().filter(|failure| failure.error == "it does not work").count();
    let skipped = failures.iter().filter(|failure| failure.error.starts_with("not attempted")).count();
    assert_eq!((attempted, skipped, failures.len()), (3, 3, 6));
    assert!(document.cells.iter().all(|cell| cell.runs.len() == 3));
    let given_up: Vec<_> = diary.0.iter().filter(|line| line.ends_with("bad: it does not work")).collect();
    assert_eq!(given_up.len(), 1, "{:#?}", diary.0);
    assert_eq!(diary.0.iter().filter(|line| line.ends_with("starts")).count(), 9);
    assert_eq!(diary.0.last().unwrap().split(' ').next().unwrap(), "12/12", "{:#?}", diary.0);
}

#[test]
fn driver_with_a_valid_run_is_not_abandoned() {
    // Only the latency runs fail.
    let mut rig = Rig::new(&[("bad", "fail pinger configure")]);
    rig.experiment.design.blocks = 8;
    let document = rig.execute();
    let failed = document.cells[0].runs.iter().map(|run| run.failure.as_ref().unwrap().phase.as_str());
    assert_eq!(failed.collect::<Vec<_>>(), ["configure"; 8]);
}

#[test]
fn stop_request_keeps_the_measurements() {
    struct StopAfter(u32, runner::StopToken);
    impl runner::Observer for StopAfter {
        fn run_started(&mut self, progress: &runner::Progress, _: &experiment::Cell) {
            if progress.finished == self.0 {
                let stop = self.1.clone();
                // The request arrives during the run.
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(50));
                    stop.request();
                });
            }
        }
    }
    let mut rig = Rig::new(&[("good", "")]);
    rig.experiment.design.blocks = 50;
    rig.experiment.design.measure_ns = 200_000_000;
    let outcome = rig.execute_with(&mut StopAfter(3, rig.stop.clone()));
    assert!(outcome.error.is_none());
    assert_eq!(outcome.document.state, State::Interrupted);
    let runs: Vec<_> = outcome.document.cells.iter().flat_map(|cell| &cell.runs).collect();
    assert!(runs.len() >= 3 && runs.len() < 100, "{}", runs.len());
    assert!(runs.iter().all(|run| run.state == RunState::Valid));
    assert_eq!(Directory::load(&rig.results()).unwrap(), outcome.document);
    assert_eq!(children(), [""; 0]);
}

#[test]
fn stop_ends_an_unlimited_wait() {
    let rig = Rig::new(&[("bad", "hang any match")]).with_limits(limits(600_000_000_000));
    let stop = rig.stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        stop.request();
    });
    let outcome = rig.execute_with(&mut ());
    assert_eq!(outcome.document.state, State::Interrupted);
    assert_eq!(outcome.document.cells.iter().map(|cell| cell.runs.len()).sum::<usize>(), 0);
}

#[test]
fn removed_directory_ends_experiment_and_outcome_has_the_measurements() {
    struct Vanish(std::path::PathBuf);
    impl runner::Observer for Vanish {
        fn run_finished(&mut self, progress: &runner::Progress, _: &results::Run, _: &experiment::Cell) {
            if progress.finished == 2 {
                fs::remove_dir_all(&self.0).unwrap();
            }
        }
    }
    let mut rig = Rig::new(&[("good", "")]);
    rig.experiment.design.blocks = 2;
    let outcome = rig.execute_with(&mut Vanish(rig.results()));
    assert!(outcome.error.is_some());
    let document = outcome.document;
    assert_eq!(document.state, State::Interrupted);
    assert!(
        document.cells.iter().flat_map(|cell| &cell.runs).filter(|run| run.state == RunState::Valid).count()
            >= 2
    );
}
