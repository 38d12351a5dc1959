//! Preflight of the planned configurations with agents that succeed, reject, or fail.

use std::{thread, time::Duration};

use experiment::{Factors, Flow, Load, Rate, ReceiveMode, Workload};
use runner::RunnerError;

use crate::rig::{Rig, SHORT_NS, children};

#[test]
fn every_way_is_opened_and_nothing_is_left() {
    let rig = Rig::new(&[("good", ""), ("other", "")]);
    let mut progress = Vec::new();
    assert_eq!(rig.preflight(|done, all| progress.push((done, all))).unwrap(), [""; 0]);
    assert_eq!(progress, [(0, 4), (1, 4), (2, 4), (3, 4)]);
    assert_eq!(children(), [""; 0]);
    assert!(!rig.results().exists());
}

/// Returns the number of distinct configurations of a stream and its variants.
fn configurations(changes: &[fn(&mut Factors)]) -> usize {
    let mut rig = Rig::new(&[("good", "")]).of_workload(Workload::Throughput);
    let stream = rig.experiment.cells[0].clone();
    for change in changes {
        let mut cell = stream.clone();
        change(&mut cell.factors);
        rig.experiment.cells.push(cell);
    }
    let mut configurations = 0;
    assert_eq!(rig.preflight(|_, all| configurations = all).unwrap(), [""; 0]);
    configurations
}

fn flow(rate: Rate) -> Flow {
    Flow::new("data", 64, Load::Constant { rate })
}

#[test]
fn equal_configurations_are_opened_once() {
    let alike: &[fn(&mut Factors)] = &[
        |factors| factors.size_bytes = 1024,
        |factors| factors.qos.max_samples = Some(7),
        |factors| (factors.workload, factors.load) = (Workload::Paced, Some(Load::Max)),
        |factors| factors.workload = Workload::Search,
    ];
    assert_eq!(configurations(alike), 1);
    let other: &[fn(&mut Factors)] = &[
        |factors| factors.workload = Workload::Latency,
        |factors| factors.batch_bytes = 1024,
        |factors| factors.batch_bytes = 8192,
        |factors| factors.receive = ReceiveMode::Polling,
        |factors| factors.multicast = true,
        |factors| factors.vendor_defaults = true,
        |factors| factors.profile = Some("late".to_owned()),
        |factors| factors.queues.receive_buffer_bytes = Some(65_536),
        |factors| {
            factors.options.insert("depth".to_owned(), "1".to_owned());
        },
        |factors| {
            (factors.workload, factors.flows) = (Workload::Paced, vec![flow(Rate::per_second(10))]);
        },
        |factors| {
            (factors.workload, factors.flows) = (Workload::Paced, vec![flow(Rate::per_second(20))]);
        },
    ];
    assert_eq!(configurations(other), 10, "two of them differ from another one in sizes or rates alone");
}

#[test]
fn rejection_names_driver_cell_cause_and_next_step() {
    for role in ["writer", "reader"] {
        let script = format!("refuse {role} configure");
        let mut rig = Rig::new(&[("good", ""), ("bad", &script)]).of_workload(Workload::Throughput);
        let rejection = |rig: &Rig| {
            let error = rig.preflight(|_, _| ()).unwrap_err();
            assert!(matches!(error, RunnerError::Rejected { .. }), "{error:?}");
            assert_eq!(error.hint().as_deref(), Some("try harder"));
            assert_eq!(children(), [""; 0]);
            error.to_string()
        };
        assert_eq!(
            rejection(&rig),
            "driver `bad` rejects the configuration of cell `bad/throughput`: it does not work"
        );
        let mut larger = rig.experiment.cells[1].clone();
        larger.id = "bad/larger".to_owned();
        larger.factors.size_bytes *= 2;
        rig.experiment.cells.push(larger);
        assert_eq!(
            rejection(&rig),
            "driver `bad` rejects the configuration of cell `bad/larger` and of 1 other: it does not work"
        );
    }
}

#[test]
fn other_failures_are_left_to_the_runs() {
    for (script, words) in [
        ("fail any hello", "in phase `hello` of the preflight: it does not work"),
        ("fail any configure", "in phase `configure` of the preflight: it does not work"),
        (
            "kill any configure",
            "in phase `configure` of the preflight: the agent's process was killed by signal 9",
        ),
        ("hang any configure", "in phase `configure` of the preflight: no answer within 1.5 s"),
        ("fail any exit", "in phase `exit` of the preflight: it does not work"),
    ] {
        let mut rig = Rig::new(&[("bad", script), ("good", "")]);
        if script.starts_with("hang") {
            rig.experiment.limits.configure_ns = SHORT_NS;
        }
        let mut progress = Vec::new();
        let notes = rig.preflight(|done, all| progress.push((done, all))).unwrap();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("cell `bad/latency` failed ") && notes[0].contains(words), "{notes:?}");
        assert_eq!(progress, [(0, 4), (2, 4), (3, 4)], "{script}: no other run of that driver is tried");
        assert_eq!(children(), [""; 0]);
    }
}

#[test]
fn stop_request_ends_it() {
    let rig = Rig::new(&[("bad", "hang any configure")]);
    let wish = rig.stop.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        wish.request();
    });
    let ended = rig.preflight(|_, _| ());
    assert!(matches!(ended, Err(RunnerError::Stopped)), "{ended:?}");
    assert_eq!(children(), [""; 0]);
}
