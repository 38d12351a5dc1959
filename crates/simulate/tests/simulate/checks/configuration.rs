//! Effective configuration: QoS, multicast, socket buffers and batches.

use collector::{Mismatch, RunReports, mismatch};
use experiment::{Batching, Reliability, Workload};
use results::{RunState, WarningKind};

use super::{DRIVING, SERVING, Subject, warns};
use crate::rig::cell;

fn subject() -> Subject {
    Subject::new(cell(Workload::Throughput, true, 0, &[("service", "100us")]))
}

/// Sets a setting that the driver of an agent reports.
fn set(reports: &mut RunReports, agent: usize, entity: &str, name: &str, value: &str) {
    let settings = &mut reports.agents[agent].configured.settings;
    settings.entry(entity.to_owned()).or_default().insert(name.to_owned(), value.to_owned());
}

#[test]
fn effective_settings_that_contradict_requested_ones_fail_the_run() {
    let subject = subject();
    let found = |change: &dyn Fn(&mut RunReports)| {
        let mut reports = subject.reports.clone();
        change(&mut reports);
        let configured: Vec<_> = reports.agents.iter().map(|agent| agent.configured.clone()).collect();
        mismatch(&reports.topology(), &configured)
    };
    assert_eq!(found(&|_| {}), None);
    for (agent, entity) in [(DRIVING, "writer"), (SERVING, "reader")] {
        let other = found(&|reports| {
            let qos = reports.agents[agent].configured.effective_qos.get_mut(entity).expect("an entity");
            qos.reliability = Some(Reliability::BestEffort);
        });
        let Some(Mismatch { agent: found, error }) = other else { panic!("{entity}: none") };
        assert_eq!(found, agent);
        assert!(
            error.contains(entity) && error.contains("requested Reliable") && error.ends_with("BestEffort"),
            "{error}"
        );
    }
    let multicast = |value: &'static str| {
        found(&|reports| set(reports, SERVING, "reader", "multicast", value)).map(|wrong| wrong.error)
    };
    assert_eq!([multicast("off"), multicast("unknown")], [None, None]);
    assert!(multicast("on").expect("a mismatch").starts_with("multicast of the reader: requested off"));
}

#[test]
fn settings_that_cannot_be_read_back_are_listed() {
    let mut subject = subject();
    subject.warns(
        WarningKind::Incomplete,
        "the driver cannot read back reliability of the reader",
        |reports| {
            reports.agents[SERVING].configured.effective_qos.clear();
        },
    );
    subject.cell.factors.queues.send_buffer_bytes = Some(65_536);
    let unread = "the driver cannot read back send_buffer_bytes of the writer";
    assert!(warns(&subject.run(), WarningKind::Incomplete, unread));
    let shown = subject.with(|reports| set(reports, DRIVING, "writer", "send_buffer_bytes", "131072"));
    assert!(!warns(&shown, WarningKind::Incomplete, unread), "{:?}", shown.warnings);
    subject.warns(WarningKind::Buffers, "send_buffer_bytes of the writer: requested 65536", |reports| {
        set(reports, DRIVING, "writer", "send_buffer_bytes", "4608");
    });
}

#[test]
fn writer_must_batch_as_requested() {
    let batches = |reports: &mut RunReports, who: &str| set(reports, DRIVING, "writer", "batching", who);
    let mut subject = subject();
    let native = "batching of the writer: requested none";
    subject.warns(WarningKind::Batching, native, |reports| batches(reports, "native"));
    for as_requested in ["none", "unknown"] {
        let run = subject.with(|reports| batches(reports, as_requested));
        assert!(!warns(&run, WarningKind::Batching, ""), "{:?}", run.warnings);
    }
    subject.cell.factors.batching = Batching::TurboApplication;
    for (who, effective) in [("native", " effective native"), ("none", " effective none")] {
        subject.warns(WarningKind::Batching, effective, |reports| batches(reports, who));
    }
}

#[test]
fn samples_must_leave_by_multicast_if_requested() {
    for workload in [Workload::Latency, Workload::Throughput] {
        let mut cell = cell(workload, true, 0, &[("service", "100us")]);
        cell.factors.multicast = true;
        let subject = Subject::new(cell);
        let sent = |reports: &mut RunReports| {
            let sockets = reports.agents[DRIVING].report.sockets.as_mut().expect("counters");
            sockets.multicast.take().expect("counters")
        };
        subject.contradicts("multicast was asked for", |reports| {
            let mut sent = sent(reports);
            sent.bytes = reports.sent() * 800;
            reports.agents[DRIVING].report.sockets.as_mut().expect("counters").multicast = Some(sent);
        });
        subject.warns(WarningKind::Incomplete, "whether the samples did is unknown", |reports| {
            sent(reports);
        });
        // Unrequested multicast is not checked.
        let mut unrequested = subject;
        unrequested.cell.factors.multicast = false;
        let run = unrequested.with(|reports| {
            sent(reports);
        });
        assert_eq!(run.state, RunState::Valid);
    }
}
